// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See frames.h. One deadline covers a whole frame, so that a peer that sends byte by byte cannot block this process.
#include "base/process/frames.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is written as it lies in memory");

constexpr uint32_t kMagic = 0x31464e48;  // "HNF1"
constexpr uint32_t kMaxBlobs = 4096;

struct Prefix {
  uint32_t magic = kMagic;
  uint32_t header_bytes = 0;
  uint32_t blobs = 0;
  uint32_t fds = 0;
};
static_assert(sizeof(Prefix) == 16);

std::string ErrorText(int error) { return std::generic_category().message(error); }

// A point in time, or never.
class Deadline {
 public:
  explicit Deadline(double seconds) {
    // Past about 30 years the conversion to a time point overflows, so longer times count as for ever.
    if (seconds >= 0 && seconds < 1e9) {
      at_ = std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    }
  }
  // Returns the time for poll(): -1 for ever, 0 when past; rounded up, so that a wait never spins.
  int PollMilliseconds() const {
    if (!at_) return -1;
    const double seconds_left = std::chrono::duration<double>(*at_ - std::chrono::steady_clock::now()).count();
    if (seconds_left <= 0) return 0;
    return static_cast<int>(std::min(std::ceil(seconds_left * 1e3), 1e9));
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> at_;  // when the time is up; nullopt: never
};

// Returns true when `events` (or a hang-up) came before the deadline.
Result<bool> Wait(int fd, short events, const Deadline& deadline) {
  for (;;) {
    pollfd item{fd, events, 0};
    const int wait_ms = deadline.PollMilliseconds();
    const int result = poll(&item, 1, wait_ms);
    if (result > 0) {
      if (item.revents & POLLNVAL) return Status::Internal("waiting on a closed descriptor");
      return true;
    }
    if (result == 0) {
      // PollMilliseconds shortened the wait to what an int holds, so the deadline is not yet reached.
      if (wait_ms == 1000000000) continue;
      return false;
    }
    if (errno != EINTR) return Status::Io("poll failed: " + ErrorText(errno));
  }
}

// Sends `bytes`, with `fds` attached to the first of them.
Status SendBytes(int fd, const char* bytes, size_t size, const std::vector<int>& fds, const Deadline& deadline) {
  bool attach = !fds.empty();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFrameFds)];
  while (size > 0) {
    iovec part{const_cast<char*>(bytes), size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (attach) {
      std::memset(control, 0, sizeof(control));
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* entry = CMSG_FIRSTHDR(&message);
      entry->cmsg_level = SOL_SOCKET;
      entry->cmsg_type = SCM_RIGHTS;
      entry->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      std::memcpy(CMSG_DATA(entry), fds.data(), sizeof(int) * fds.size());
    }
    const ssize_t result = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (result >= 0) {
      if (result > 0) attach = false;
      bytes += result;
      size -= static_cast<size_t>(result);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return Status::Unavailable("the other process has gone");
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Status::Io("send failed: " + ErrorText(errno));
    HONE_ASSIGN_OR_RETURN(const bool ready, Wait(fd, POLLOUT, deadline));
    if (!ready) return Status::TimedOut("the other process did not take a message in time");
  }
  return Status::Ok();
}

// Receives exactly `size` bytes, and adds descriptors to `fds`. `in_frame`: earlier bytes of the frame have been
// received.
Status ReceiveBytes(int fd, char* bytes, size_t size, bool in_frame, std::vector<UniqueFd>* fds,
                    const Deadline& deadline) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFrameFds)];
  while (size > 0) {
    iovec part{bytes, size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t result = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (result < 0) {
      if (errno == EINTR) continue;
      if (errno == ECONNRESET) return Status::Unavailable("the other process has gone");
      if (errno != EAGAIN && errno != EWOULDBLOCK) return Status::Io("receive failed: " + ErrorText(errno));
      HONE_ASSIGN_OR_RETURN(const bool ready, Wait(fd, POLLIN, deadline));
      if (!ready) {
        return Status::TimedOut(in_frame ? "a message stopped midway" : "no message came in time");
      }
      continue;
    }
    for (cmsghdr* entry = CMSG_FIRSTHDR(&message); entry != nullptr; entry = CMSG_NXTHDR(&message, entry)) {
      if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int received;
        std::memcpy(&received, CMSG_DATA(entry) + i * sizeof(int), sizeof(int));
        fds->emplace_back(received);  // owned at once, so closed on every path
      }
    }
    if (result == 0) {
      return Status::Unavailable(in_frame ? "the other process ended in the middle of a message"
                                          : "the other process has ended");
    }
    in_frame = true;
    bytes += result;
    size -= static_cast<size_t>(result);
  }
  return Status::Ok();
}

}  // namespace

Status SendFrame(int fd, const std::string& header, const std::vector<std::string>& blobs,
                 const std::vector<int>& fds, double timeout_seconds) {
  HONE_CHECK(fds.size() <= kMaxFrameFds, "a frame carries too many descriptors");
  HONE_CHECK(blobs.size() <= kMaxBlobs, "a frame carries too many blobs");
  HONE_CHECK(header.size() <= std::numeric_limits<uint32_t>::max(), "a frame's header is too long");
  const Deadline deadline(timeout_seconds);
  Prefix prefix;
  prefix.header_bytes = static_cast<uint32_t>(header.size());
  prefix.blobs = static_cast<uint32_t>(blobs.size());
  prefix.fds = static_cast<uint32_t>(fds.size());
  std::string first_bytes(reinterpret_cast<const char*>(&prefix), sizeof(prefix));
  for (const std::string& blob : blobs) {
    const uint64_t length = blob.size();
    first_bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  }
  first_bytes += header;
  HONE_RETURN_IF_ERROR(SendBytes(fd, first_bytes.data(), first_bytes.size(), fds, deadline));
  for (const std::string& blob : blobs) {
    HONE_RETURN_IF_ERROR(SendBytes(fd, blob.data(), blob.size(), {}, deadline));
  }
  return Status::Ok();
}

Result<Frame> ReceiveFrame(int fd, double timeout_seconds, int64_t max_bytes) {
  const Deadline deadline(timeout_seconds);
  Frame frame;
  Prefix prefix;
  HONE_RETURN_IF_ERROR(
      ReceiveBytes(fd, reinterpret_cast<char*>(&prefix), sizeof(prefix), /*inside=*/false, &frame.fds, deadline));
  if (prefix.magic != kMagic) return Status::Internal("received bytes that are no frame");
  if (prefix.blobs > kMaxBlobs || prefix.fds > kMaxFrameFds) {
    return Status::Internal("received a frame with too many parts");
  }
  std::vector<uint64_t> lengths(prefix.blobs);
  HONE_RETURN_IF_ERROR(ReceiveBytes(fd, reinterpret_cast<char*>(lengths.data()), lengths.size() * sizeof(uint64_t),
                                    /*inside=*/true, &frame.fds, deadline));
  // The check precedes each addition, so that huge lengths cannot wrap around.
  const uint64_t limit = static_cast<uint64_t>(max_bytes);
  uint64_t total = prefix.header_bytes;
  for (const uint64_t length : lengths) {
    if (total > limit) break;
    total = length > limit ? length : total + length;
  }
  if (total > limit) {
    return Status::Internal(fmt::format("received a frame of {} bytes; at most {} are accepted", total, max_bytes));
  }
  frame.header.resize(prefix.header_bytes);
  HONE_RETURN_IF_ERROR(
      ReceiveBytes(fd, frame.header.data(), frame.header.size(), /*inside=*/true, &frame.fds, deadline));
  for (const uint64_t length : lengths) {
    std::string blob(length, '\0');
    HONE_RETURN_IF_ERROR(ReceiveBytes(fd, blob.data(), blob.size(), /*inside=*/true, &frame.fds, deadline));
    frame.blobs.push_back(std::move(blob));
  }
  if (frame.fds.size() != prefix.fds) {
    return Status::Internal(
        fmt::format("a frame announced {} descriptors and brought {}", prefix.fds, frame.fds.size()));
  }
  return frame;
}

Result<bool> WaitReadable(int fd, double timeout_seconds) { return Wait(fd, POLLIN, Deadline(timeout_seconds)); }

Result<SocketPair> MakeSocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Status::Io("could not make a socket pair: " + ErrorText(errno));
  }
  SocketPair pair;
  pair.ours.Reset(ends[0]);
  pair.theirs.Reset(ends[1]);
  return pair;
}

}  // namespace hone
