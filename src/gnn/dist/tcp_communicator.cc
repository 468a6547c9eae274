// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One Exchange moves all its messages at once: every connection is written and read as it becomes ready, so two ranks
// that send to each other never wait for each other's reads. A message begins with a header that identifies the
// operation. Ranks that are in different operations therefore report an error instead of adding up the wrong numbers.
#include "gnn/dist/tcp_communicator.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/clock.h"

namespace hone::gnn {
namespace {

constexpr uint32_t kMagic = 0x31584e48;  // "HNX1"

struct Header {
  uint32_t magic = kMagic;
  uint32_t operation = 0;  // hash of the operation's name
  uint64_t sequence = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 24);

// Returns the FNV-1a hash of `text`, which only has to distinguish names.
uint32_t HashOf(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

// The progress of the messages to and from one peer.
struct Transfer {
  Header sending, receiving;
  size_t sent = 0, received = 0;  // bytes so far, headers included
  std::span<const std::byte> out;
  std::span<std::byte> in;
  bool sending_done() const { return sent == sizeof(Header) + out.size(); }
  bool receiving_done() const { return received == sizeof(Header) + in.size(); }
};

class TcpCommunicator final : public Communicator {
 public:
  explicit TcpCommunicator(TcpCommunicatorOptions options)
      : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int rank() const override { return options_.rank; }
  int size() const override { return static_cast<int>(options_.names.size()); }
  std::string Name(int rank) const override { return options_.names[static_cast<size_t>(rank)]; }

  Status Exchange(std::string_view what, std::span<const std::span<const std::byte>> to,
                  std::span<const std::span<std::byte>> from) override {
    HONE_CHECK(to.size() == options_.names.size() && from.size() == to.size(), "one message to and from each rank");
    const auto own_rank = static_cast<size_t>(rank());
    HONE_CHECK(to[own_rank].size() == from[own_rank].size(), "a rank sends itself what it expects");
    if (!to[own_rank].empty()) std::memcpy(from[own_rank].data(), to[own_rank].data(), to[own_rank].size());
    HONE_RETURN_IF_ERROR(aborted());
    const Status status = Move(what, to, from);
    if (!status.ok()) Abort(status);  // after an error the ranks are in different operations
    return status;
  }

  void Abort(const Status& why) override {
    {
      const std::lock_guard lock(mutex_);
      if (!abort_reason_.ok()) return;
      abort_reason_ = why;
    }
    const uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof(one));
  }

 private:
  Status aborted() {
    const std::lock_guard lock(mutex_);
    return abort_reason_;
  }

  // Transfers all messages of one operation.
  Status Move(std::string_view what, std::span<const std::span<const std::byte>> to,
              std::span<const std::span<std::byte>> from) {
    ++sequence_;
    const size_t size = to.size();
    transfers_.assign(size, {});
    size_t open = 0;
    for (size_t r = 0; r < size; ++r) {
      Transfer& t = transfers_[r];
      if (static_cast<int>(r) == rank()) continue;
      t.sending = {kMagic, HashOf(what), sequence_, to[r].size()};
      t.out = to[r];
      t.in = from[r];
      ++open;
    }
    const double deadline = SteadySeconds() + options_.timeout_seconds;
    for (;;) {
      open = 0;
      polled_.clear();
      peers_.clear();
      polled_.push_back({wake_.get(), POLLIN, 0});
      peers_.push_back(size);
      for (size_t r = 0; r < size; ++r) {
        if (static_cast<int>(r) == rank()) continue;
        Transfer& t = transfers_[r];
        HONE_RETURN_IF_ERROR(Send(r, t));
        HONE_RETURN_IF_ERROR(Receive(what, r, t));
        if (t.sending_done() && t.receiving_done()) continue;
        ++open;
        const auto events = static_cast<short>((t.sending_done() ? 0 : POLLOUT) | (t.receiving_done() ? 0 : POLLIN));
        polled_.push_back({options_.links[r].get(), events, 0});
        peers_.push_back(r);
      }
      if (open == 0) return Status::Ok();
      const double seconds_left = deadline - SteadySeconds();
      if (seconds_left <= 0) {
        return Status::TimedOut(fmt::format("{} waited {:.0f} s for {}", what, options_.timeout_seconds,
                                            Name(static_cast<int>(peers_[1]))));
      }
      const int n =
          poll(polled_.data(), polled_.size(), static_cast<int>(std::min(std::ceil(seconds_left * 1e3), 1e6)));
      if (n < 0 && errno != EINTR) {
        return Status::Io("poll failed: " + std::generic_category().message(errno));
      }
      HONE_RETURN_IF_ERROR(aborted());
    }
  }

  // Sends as much of a peer's message as its socket takes.
  Status Send(size_t peer, Transfer& t) {
    while (!t.sending_done()) {
      iovec parts[2];
      msghdr message{};
      message.msg_iov = parts;
      if (t.sent < sizeof(Header)) {
        parts[message.msg_iovlen++] = {reinterpret_cast<char*>(&t.sending) + t.sent, sizeof(Header) - t.sent};
      }
      const size_t at = t.sent < sizeof(Header) ? 0 : t.sent - sizeof(Header);
      if (at < t.out.size()) {
        parts[message.msg_iovlen++] = {const_cast<std::byte*>(t.out.data()) + at, t.out.size() - at};
      }
      const ssize_t n = sendmsg(options_.links[peer].get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n >= 0) {
        t.sent += static_cast<size_t>(n);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      } else if (errno != EINTR) {
        return BrokenConnection(peer, errno);
      }
    }
    return Status::Ok();
  }

  // Receives as much of a peer's message as has arrived.
  Status Receive(std::string_view what, size_t peer, Transfer& t) {
    while (!t.receiving_done()) {
      const bool heading = t.received < sizeof(Header);
      void* target = heading ? reinterpret_cast<char*>(&t.receiving) + t.received
                             : reinterpret_cast<char*>(t.in.data()) + (t.received - sizeof(Header));
      const size_t missing_bytes = heading ? sizeof(Header) - t.received : t.in.size() - (t.received - sizeof(Header));
      const ssize_t n = recv(options_.links[peer].get(), target, missing_bytes, MSG_DONTWAIT);
      if (n > 0) {
        t.received += static_cast<size_t>(n);
        if (heading && t.received == sizeof(Header)) HONE_RETURN_IF_ERROR(CheckHeader(what, peer, t));
      } else if (n == 0) {
        return BrokenConnection(peer, 0);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      } else if (errno != EINTR) {
        return BrokenConnection(peer, errno);
      }
    }
    return Status::Ok();
  }

  // Checks that a peer's message belongs to this operation and has the expected size.
  Status CheckHeader(std::string_view what, size_t peer, const Transfer& t) const {
    const Header& h = t.receiving;
    if (h.magic == kMagic && h.operation == t.sending.operation && h.sequence == sequence_ && h.bytes == t.in.size()) {
      return Status::Ok();
    }
    return Status::Internal(
        fmt::format("{} is out of step at {}: it sends {} bytes in its exchange {}{}, {} were "
                    "expected in exchange {}",
                    Name(static_cast<int>(peer)), what, h.bytes, h.sequence,
                    h.operation == t.sending.operation ? "" : " of another kind", t.in.size(), sequence_));
  }

  // Returns the error for a broken connection, or the reason that the ranks' monitor knows.
  Status BrokenConnection(size_t peer, int error) {
    const Status transport_error = Status::Unavailable(fmt::format(
        "{} was lost: its connection {}", Name(static_cast<int>(peer)),
        error == 0 || error == ECONNRESET || error == EPIPE ? std::string("closed")
                                                            : "failed: " + std::generic_category().message(error)));
    const Status abort_status = aborted();
    if (!abort_status.ok()) return abort_status;
    return options_.reason ? options_.reason(transport_error) : transport_error;
  }

  const TcpCommunicatorOptions options_;
  const UniqueFd wake_;
  std::mutex mutex_;
  Status abort_reason_;
  uint64_t sequence_ = 0;
  std::vector<Transfer> transfers_;
  std::vector<pollfd> polled_;
  std::vector<size_t> peers_;
};

}  // namespace

std::unique_ptr<Communicator> MakeTcpCommunicator(TcpCommunicatorOptions options) {
  return std::make_unique<TcpCommunicator>(std::move(options));
}

}  // namespace hone::gnn
