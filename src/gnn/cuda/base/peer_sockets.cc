// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/base/peer_sockets.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/numbers/random.h"
#include "base/process/frames.h"
#include "gnn/dist/agreement.h"
#include "gnn/dist/socket.h"

namespace hone::gnn::cuda {
namespace {

constexpr double kSeconds = 60;         // timeout for a message that the other side has begun to send
constexpr int64_t kMostBytes = 4096;    // longest message text
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";  // the same in all containers of a machine

sockaddr_un AddressOf(const std::string& name, socklen_t* bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading zero byte: the abstract namespace
  *bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Result<UniqueFd> UnixSocket() {
  UniqueFd unix_socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!unix_socket.valid()) return Status::Io(ErrnoMessage("open", "a Unix socket", errno));
  return unix_socket;
}

Result<UniqueFd> ListenAt(const std::string& name, int backlog) {
  HONE_ASSIGN_OR_RETURN(UniqueFd listener, UnixSocket());
  socklen_t bytes = 0;
  const sockaddr_un address = AddressOf(name, &bytes);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(listener.get(), backlog) != 0) {
    return Status::Io(ErrnoMessage("listen at", "a Unix socket", errno));
  }
  return listener;
}

Result<UniqueFd> DialSocket(const std::string& name) {
  HONE_ASSIGN_OR_RETURN(UniqueFd unix_socket, UnixSocket());
  socklen_t bytes = 0;
  const sockaddr_un address = AddressOf(name, &bytes);
  int failed = 0;
  do {
    failed = connect(unix_socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes);
  } while (failed != 0 && errno == EINTR);
  if (failed == 0) return unix_socket;
  // Containers of one machine may have separate network namespaces.
  return Status::Io(fmt::format("{}: the ranks must be able to reach one another by Unix sockets of this host (in "
                                "containers: one network namespace)",
                                ErrnoMessage("connect to", "a Unix socket", errno)));
}

bool IsThisUser(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

size_t MostAtOnce(int ranks) {
  rlimit open_files{};
  if (getrlimit(RLIMIT_NOFILE, &open_files) != 0 || open_files.rlim_cur == RLIM_INFINITY) return kMaxFrameFds;
  const auto pairs = static_cast<rlim_t>(ranks) * static_cast<rlim_t>(std::max(ranks - 1, 1));
  return static_cast<size_t>(std::clamp<rlim_t>(open_files.rlim_cur / 2 / pairs, 1, kMaxFrameFds));
}

}  // namespace

Status CheckOneHost(Communicator& ranks) {
  const Result<std::string> boot = ReadFile(kBootId, kMostBytes);
  const std::string host = boot.ok() && !boot->empty() ? *boot : "called " + HostName();
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> hosts, ranks.AllGather("which host the ranks are on", host));
  for (size_t r = 1; r < hosts.size(); ++r) {
    if (hosts[r] == hosts[0]) continue;
    return Status::InvalidArgument(
        fmt::format("features shared by GPUs need all ranks on one host; {} and {} are not: let each keep its features "
                    "itself (--features device or host), or start the ranks of one host alone",
                    ranks.Name(0), ranks.Name(static_cast<int>(r))));
  }
  return Status::Ok();
}

Result<PeerSockets> PeerSockets::Connect(Communicator& ranks) {
  HONE_RETURN_IF_ERROR(CheckOneHost(ranks));
  PeerSockets sockets(ranks);
  const std::string name = fmt::format("hone-{:016x}{:016x}", SystemSeed(), SystemSeed());
  const Result<UniqueFd> listener = ListenAt(name, std::max(ranks.size(), 8));
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "sockets between the ranks", listener.status()));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ranks.AllGather("sockets between the ranks", name));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> most,
                        ranks.AllGather("descriptors at once", std::to_string(MostAtOnce(ranks.size()))));
  sockets.most_ = kMaxFrameFds;
  for (const std::string& of_rank : most) sockets.most_ = std::min<size_t>(sockets.most_, std::stoul(of_rank));
  // Connects without waiting for Accept: the connection and its greeting wait in the listener's queue. After the next
  // exchange, therefore, all connections are in the queues.
  Status status = Status::Ok();
  for (int r = 0; r < ranks.rank() && status.ok(); ++r) {
    Result<UniqueFd> link = DialSocket(names[static_cast<size_t>(r)]);
    status = link.status();
    if (!status.ok()) break;
    status = SendFrame(link->get(), std::to_string(ranks.rank()), {}, {}, kSeconds);
    sockets.links_[static_cast<size_t>(r)] = std::move(*link);
  }
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "connections between the ranks", status));
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "connections between the ranks", sockets.Link(listener->get(), names)));
  return sockets;
}

// Accepts the connections of all later ranks from the queue.
Status PeerSockets::Link(int listener, const std::vector<std::string>& names) {
  size_t missing = names.size() - 1 - static_cast<size_t>(ranks_->rank());
  while (missing > 0) {
    HONE_ASSIGN_OR_RETURN(const bool ready, WaitReadable(listener, kSeconds));
    if (!ready) return Status::TimedOut("a rank did not connect to this one's Unix socket");
    UniqueFd link(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!link.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return Status::Io(ErrnoMessage("accept at", "a Unix socket", errno));
    }
    if (!IsThisUser(link.get())) continue;
    HONE_ASSIGN_OR_RETURN(const Frame hello, ReceiveFrame(link.get(), kSeconds, kMostBytes));
    size_t rank = names.size();
    for (size_t r = static_cast<size_t>(ranks_->rank()) + 1; r < names.size(); ++r) {
      if (hello.header == std::to_string(r)) rank = r;
    }
    if (rank == names.size() || links_[rank].valid()) return Status::Internal("a rank greeted with a wrong number");
    links_[rank] = std::move(link);
    --missing;
  }
  return Status::Ok();
}

Result<std::vector<std::vector<UniqueFd>>> PeerSockets::Exchange(std::span<const int> own_descriptors) {
  std::vector<std::vector<UniqueFd>> descriptors_by_rank(links_.size());
  const auto exchange = [&]() -> Status {
    if (own_descriptors.size() > most_)
      return Status::Internal(fmt::format("{} descriptors at once", own_descriptors.size()));
    const std::vector<int> descriptors(own_descriptors.begin(), own_descriptors.end());
    for (const UniqueFd& link : links_) {  // the message fits a socket's buffer, so no rank waits for a reader
      if (link.valid()) HONE_RETURN_IF_ERROR(SendFrame(link.get(), "memory", {}, descriptors, kSeconds));
    }
    return Status::Ok();
  };
  const auto receive = [&]() -> Status {
    for (size_t r = 0; r < links_.size(); ++r) {
      if (!links_[r].valid()) continue;
      HONE_ASSIGN_OR_RETURN(Frame frame, ReceiveFrame(links_[r].get(), kSeconds, kMostBytes));
      descriptors_by_rank[r] = std::move(frame.fds);
    }
    return Status::Ok();
  };
  // All ranks agree on the status before any waits, so that every rank reports the failed rank's reason.
  HONE_RETURN_IF_ERROR(AgreeOnStatus(*ranks_, "memory of the ranks", exchange()));
  HONE_RETURN_IF_ERROR(AgreeOnStatus(*ranks_, "memory of the ranks", receive()));
  return descriptors_by_rank;
}

}  // namespace hone::gnn::cuda
