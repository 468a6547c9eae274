// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/clock.h"

namespace hone::gnn {
namespace {

constexpr size_t kMaxMessageBytes = 1 << 20;
constexpr uint32_t kMaxStrings = 1 << 16;

std::string ErrorText(int error) { return std::generic_category().message(error); }

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Returns the addresses of a host; an empty host means this machine's interfaces (with AI_PASSIVE, all of them).
Result<Addresses> Resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return Status::Unavailable(fmt::format("host '{}' was not found: {}", host, gai_strerror(error)));
  }
  return Addresses(list, freeaddrinfo);
}

// Returns the address as digits; empty if it has no such form.
std::string NumericAddress(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST];
  if (getnameinfo(address, size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text;
}

// Connects the socket once. Returns 0, or an errno.
int ConnectOnce(int fd, const addrinfo& to, double deadline) {
  if (connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  for (;;) {
    const double seconds_left = deadline - SteadySeconds();
    if (seconds_left <= 0) return ETIMEDOUT;
    pollfd item{fd, POLLOUT, 0};
    const int n = poll(&item, 1, static_cast<int>(std::min(std::ceil(seconds_left * 1e3), 1e6)));
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) break;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

void AppendNumber(std::string& bytes, uint32_t number) { bytes.append(reinterpret_cast<const char*>(&number), 4); }

// Returns the little-endian number in four bytes from `at` on.
uint32_t NumberAt(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, 4);
  return number;
}

}  // namespace

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == 0) return "unknown";
  return name;
}

std::vector<std::string> InterfaceAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0 || (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const int family = i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const std::string text =
        NumericAddress(i->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    // A link-local address has no meaning on other machines.
    if (!text.empty() && text.find('%') == std::string::npos) addresses.push_back(text);
  }
  freeifaddrs(list);
  return addresses;
}

void PrepareSocket(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int enabled = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof(enabled));
}

Result<UniqueFd> ListenOn(const std::string& address, int port) {
  const std::string place = fmt::format("port {} of {}", port, address.empty() ? HostName() : address);
  HONE_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(address, port, AI_PASSIVE | AI_NUMERICSERV));
  int error = 0;
  // IPv6 comes first, because an IPv6 socket on every interface also serves IPv4.
  for (const bool ipv6 : {true, false}) {
    for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
      if ((a->ai_family == AF_INET6) != ipv6) continue;
      UniqueFd fd(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!fd.valid()) {
        error = error == 0 ? errno : error;
        continue;
      }
      const int enabled = 1, disabled = 0;
      setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof(enabled));
      if (ipv6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &disabled, sizeof(disabled));
      if (bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && listen(fd.get(), SOMAXCONN) == 0) return fd;
      if (error == 0 || errno == EADDRINUSE) error = errno;
    }
  }
  return Status::Unavailable(fmt::format(
      "cannot listen on {}: {}{}", place, ErrorText(error),
      error == EADDRINUSE ? "; another program (perhaps another run) has it: choose another with MASTER_PORT" : ""));
}

int BoundPort(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
}

std::string OwnAddress(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return NumericAddress(reinterpret_cast<sockaddr*>(&address), size);
}

Result<UniqueFd> ConnectTo(const std::string& host, int port, double timeout_seconds) {
  const double deadline = SteadySeconds() + timeout_seconds;
  HONE_ASSIGN_OR_RETURN(const Addresses addresses, Resolve(host, port, AI_NUMERICSERV));
  int error = 0;
  for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    UniqueFd fd(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) {
      error = errno;
      continue;
    }
    error = ConnectOnce(fd.get(), *a, deadline);
    if (error == 0) {
      PrepareSocket(fd.get());
      return fd;
    }
  }
  const std::string message = fmt::format("cannot connect to {} port {}: {}", host, port, ErrorText(error));
  return error == ETIMEDOUT ? Status::TimedOut(message) : Status::Unavailable(message);
}

namespace {

// Transfers `size` bytes. `move(done)` calls send or recv from byte `done` on.
template <typename Move>
Status MoveAll(int fd, short events, size_t size, double deadline, const Move& move) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = move(done);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    if (n == 0) return Status::Unavailable("the connection was closed");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Status::Unavailable(ErrorText(errno));
    const double seconds_left = deadline - SteadySeconds();
    if (seconds_left <= 0) return Status::TimedOut("no answer in time");
    pollfd item{fd, events, 0};
    poll(&item, 1, static_cast<int>(std::min(std::ceil(seconds_left * 1e3), 1e6)));
  }
  return Status::Ok();
}

}  // namespace

Status SendAll(int fd, const void* bytes, size_t size, double deadline) {
  return MoveAll(fd, POLLOUT, size, deadline, [&](size_t done) {
    return send(fd, static_cast<const char*>(bytes) + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

Status ReceiveAll(int fd, void* bytes, size_t size, double deadline) {
  return MoveAll(fd, POLLIN, size, deadline,
                 [&](size_t done) { return recv(fd, static_cast<char*>(bytes) + done, size - done, MSG_DONTWAIT); });
}

bool MessageStream::Receive() {
  char buffer[16384];
  while (!broken_) {
    const ssize_t n = recv(fd_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n > 0) {
      incoming_.append(buffer, static_cast<size_t>(n));
      if (incoming_.size() > 2 * kMaxMessageBytes) broken_ = true;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    return false;
  }
  return false;
}

std::optional<Message> MessageStream::Pop() {
  if (broken_ || incoming_.size() < 4) return std::nullopt;
  const uint32_t bytes = NumberAt(incoming_, 0);
  if (bytes > kMaxMessageBytes) {
    broken_ = true;
    return std::nullopt;
  }
  const size_t end = size_t{4} + bytes;
  if (incoming_.size() < end) return std::nullopt;
  Message message;
  for (size_t at = 4; at < end;) {
    if (end - at < 4 || end - at - 4 < NumberAt(incoming_, at) || message.size() >= kMaxStrings) {
      broken_ = true;
      return std::nullopt;
    }
    const uint32_t length = NumberAt(incoming_, at);
    message.push_back(incoming_.substr(at + 4, length));
    at += 4 + length;
  }
  incoming_.erase(0, end);
  if (message.empty()) {
    broken_ = true;
    return std::nullopt;
  }
  return message;
}

void MessageStream::Queue(const Message& message) {
  std::string body;
  for (const std::string& part : message) {
    AppendNumber(body, static_cast<uint32_t>(part.size()));
    body += part;
  }
  AppendNumber(outgoing_, static_cast<uint32_t>(body.size()));
  outgoing_ += body;
}

bool MessageStream::Flush() {
  while (!outgoing_.empty() && !broken_) {
    const ssize_t n = send(fd_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      outgoing_.erase(0, static_cast<size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  return !broken_;
}

}  // namespace hone::gnn
