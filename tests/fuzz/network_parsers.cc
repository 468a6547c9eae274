// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes go through real sockets on this machine, because the libraries below us (libevent, hiredis) read them
// there. Each connection has a loopback address of its own: of one pair of addresses the system runs out of ports after
// some ten thousand connections a minute.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/files/file.h"
#include "fuzz/exchange_parsers.h"
#include "fuzz/parser_seeds.h"
#include "gnn/dist/socket.h"
#include "gnn/dist/store_server.h"
#include "tuner/queue/job_queue.h"
#include "tuner/queue/redis_connection.h"
#include "tuner/report/live/live_pages.h"
#include "tuner/report/live/page_server.h"
#include "tuner/report/synthetic_run.h"

namespace hone {
namespace {

// Returns the next of 127.0.1.1, …, 127.254.254.254, in the system's order of bytes.
in_addr NextAddress() {
  static uint32_t number = static_cast<uint32_t>(getpid()) * 7919;
  ++number;
  const uint32_t low = 1 + number % 254, middle = 1 + number / 254 % 254, high = number / (254 * 254) % 254;
  return {htonl(127u << 24 | high << 16 | middle << 8 | low)};
}

sockaddr_in SocketAddress(in_addr address, int port) {
  sockaddr_in full{};
  full.sin_family = AF_INET;
  full.sin_port = htons(static_cast<uint16_t>(port));
  full.sin_addr = address;
  return full;
}

// Sends as much as the other side takes within a second.
void SendWhole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void ReadToTheEnd(int fd) {
  char part[16384];
  while (recv(fd, part, sizeof part, 0) > 0) {
  }
}

void LimitToASecond(int fd) {
  const timeval second{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

// Sends `bytes` to `port` of this machine, and reads until the server closes the connection.
void Exchange(int port, std::string_view bytes) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  LimitToASecond(fd.get());
  const sockaddr_in own = SocketAddress(NextAddress(), 0), server = SocketAddress({htonl(INADDR_LOOPBACK)}, port);
  (void)!bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) return;
  SendWhole(fd.get(), bytes);
  shutdown(fd.get(), SHUT_WR);
  ReadToTheEnd(fd.get());
}

std::string Replaced(std::string text, std::string_view what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

// ---- HTTP requests to the pages of a run

class Pages {
 public:
  Pages() {
    std::unique_ptr<RunStore> store = MakeMemoryRunStore();
    const SyntheticRun run{.nodes = 3};
    if (!WriteSyntheticRun(*store, run, FileText("tasks/rmsnorm/task.toml"), FileText("tasks/rmsnorm/seed.cu")).ok())
      std::abort();
    pages_ = std::make_unique<LivePages>(std::move(store), run.id);
    server_ = PageServer::Listen(0, [this](const std::string& path, const std::map<std::string, std::string>& query) {
                return pages_->Get(path, query);
              }).value();
    const std::string url = server_->url();
    token_ = url.substr(url.find("token=") + 6);
    thread_ = std::jthread([this](std::stop_token stop) { (void)server_->Serve(std::move(stop)).ok(); });
  }
  // Puts this server's port and token in the place of PPPP and TTTT.
  std::string WithSecrets(std::string_view text) const {
    return Replaced(Replaced(std::string(text), "PPPP", std::to_string(server_->port())), "TTTT", token_);
  }
  int port() const { return server_->port(); }

 private:
  std::unique_ptr<LivePages> pages_;
  std::unique_ptr<PageServer> server_;
  std::string token_;
  std::jthread thread_;  // last member: destroyed before the server
};

void FeedRequest(std::string_view text) {
  static const Pages pages;
  Exchange(pages.port(), pages.WithSecrets(text));
}
std::vector<std::string> RequestSeeds() {
  const auto get = [](std::string_view target) {
    return fmt::format(
        "GET {} HTTP/1.1\r\nHost: 127.0.0.1:PPPP\r\nCookie: a=1; hone_report_PPPP=TTTT\r\nConnection: close\r\n\r\n",
        target);
  };
  return {get("/"),
          get("/node/2"),
          get("/compare?a=0&b=2&all=1"),
          get("/version") + get("/live.js"),
          "GET /?token=TTTT HTTP/1.1\r\nHost: localhost:PPPP\r\nOrigin: http://localhost:PPPP\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: localhost:PPPP\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"};
}

// ---- what a Redis server replies

// A server that sends the same bytes to each client that connects, as often as it is told to; later clients get
// nothing.
class Replies {
 public:
  Replies() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in any = SocketAddress({htonl(INADDR_ANY)}, 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
        listen(listener_.get(), 8) != 0 ||
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
      std::abort();
    }
    port_ = ntohs(bound.sin_port);
    thread_ = std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested()) {
        const UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client.valid()) continue;
        LimitToASecond(client.get());
        SendWhole(client.get(), Take());
        shutdown(client.get(), SHUT_WR);
        ReadToTheEnd(client.get());
      }
    });
  }
  ~Replies() {
    thread_.request_stop();
    shutdown(listener_.get(), SHUT_RDWR);  // ends accept
  }
  void Say(std::string_view bytes, int times) {
    const std::lock_guard lock(mutex_);
    bytes_ = bytes;
    times_ = times;
  }
  int port() const { return port_; }

 private:
  std::string Take() {
    const std::lock_guard lock(mutex_);
    return times_-- > 0 ? bytes_ : "";
  }

  UniqueFd listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::string bytes_;
  int times_ = 0;
  std::jthread thread_;  // last member: ends before the others
};

void FeedReplies(std::string_view text) {
  static Replies server;
  RedisAddress address;
  char host[INET_ADDRSTRLEN];
  const in_addr next = NextAddress();
  address.host = inet_ntop(AF_INET, &next, host, sizeof host);
  address.port = server.port();
  address.queue = "jobs";
  // Each use gets the same replies on a connection of its own, so that the first cannot take them all.
  const auto queue = [&] {
    server.Say(text, 1);
    return JobQueue::Open(address);
  };
  if (auto one = queue(); one.ok()) {
    const Result<std::optional<ClaimedJob>> job = (*one)->Claim("worker", 0);
    if (job.ok() && *job) (void)(*one)->Renew("worker", **job).ok();
  }
  if (auto one = queue(); one.ok()) {
    (void)(*one)->Counts().ok();
    (void)(*one)->Workers().ok();
  }
  if (auto one = queue(); one.ok()) {
    (void)(*one)->WaitForAnswer("id", 0).ok();
    (void)(*one)->Knows("id").ok();
    (void)(*one)->Facts().ok();
    (void)(*one)->Register("NVIDIA H200", "{}").ok();
  }
}
std::vector<std::string> ReplySeeds() {
  const std::string info = "maxmemory:9\r\nmaxmemory_policy:noeviction\r\n";
  const std::string policy = fmt::format("${}\r\n{}\r\n", info.size(), info);
  return {
      policy + "*0\r\n*0\r\n*5\r\n$16\r\nhone:{jobs}:jobs\r\n$3\r\n1-0\r\n$3\r\na:b\r\n$2\r\n{}\r\n$0\r\n\r\n:1\r\n",
      policy +
          ":7\r\n*4\r\n:2\r\n$1\r\n1\r\n$1\r\n2\r\n*0\r\n:1\r\n-NOGROUP no such "
          "key\r\n:3\r\n*4\r\n$8\r\nanswered\r\n$1\r\n5\r\n$4\r\ndied\r\n$1\r\n0\r\n"
          "*2\r\n$10\r\n1700000000\r\n$1\r\n5\r\n*2\r\n$1\r\nw\r\n$13\r\n1700000000 {}\r\n",
      policy + "$1\r\nx\r\n$2\r\n{}\r\n:1\r\n$-1\r\n$11\r\nNVIDIA H100\r\n",
      policy +
          "*-1\r\n*0\r\n$-1\r\n*1\r\n*2\r\n$16\r\nhone:{jobs}:jobs\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$2\r\nid\r\n$"
          "1\r\na\r\n-OOM command not allowed\r\n",
      "-NOAUTH Authentication required.\r\n",
      "-LOADING Redis is loading the dataset in memory\r\n"};
}

// ---- messages between the ranks of a distributed training

void FeedRankMessages(std::string_view text) {
  gnn::StoreServerOptions options;
  options.listener = gnn::ListenOn("127.0.0.1", 0).value();
  const int port = gnn::BoundPort(options.listener.get());
  options.job = "job";
  options.size = 2;
  const gnn::StoreServer server(std::move(options));
  Exchange(port, text);
}
std::vector<std::string> RankMessageSeeds() {
  const auto number = [](size_t value) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
  };
  const auto message = [&](const std::vector<std::string>& parts) {
    std::string body;
    for (const std::string& part : parts) body += number(part.size()) + part;
    return number(body.size()) + body;
  };
  const std::string join = message({"join", gnn::kStoreVersion, "job", "1", "2", "node7", "4711"});
  return {join + message({"set", "key", "value"}) + message({"get", "key"}) + message({"beat"}) + message({"leave"}),
          join + message({"get", "other"}) + message({"fail", "3", "no memory"}),
          message({"join", "other", "job", "0", "2", "h", "1"})};
}

constexpr TextParser kParsers[] = {
    {"page request", FeedRequest, RequestSeeds},
    {"redis replies", FeedReplies, ReplySeeds},
    {"rank messages", FeedRankMessages, RankMessageSeeds},
};

}  // namespace

std::span<const TextParser> NetworkParsers() { return kParsers; }

}  // namespace hone
