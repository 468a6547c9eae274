// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_model_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace hone {
namespace {

// Returns false when the client has gone.
bool SendAll(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool ReadRequest(int connection, ReceivedRequest& request) {
  std::string text;
  size_t head = std::string::npos, length = 0;
  char buffer[65536];
  while (head == std::string::npos || text.size() < head + 4 + length) {
    const ssize_t n = recv(connection, buffer, sizeof(buffer), 0);
    if (n <= 0) return false;
    text.append(buffer, static_cast<size_t>(n));
    if (head != std::string::npos) continue;
    head = text.find("\r\n\r\n");
    if (head == std::string::npos) continue;
    request.method = text.substr(0, text.find(' '));
    const size_t path = request.method.size() + 1;
    request.path = text.substr(path, text.find(' ', path) - path);
    for (size_t at = text.find("\r\n"); at < head;) {
      const size_t end = text.find("\r\n", at + 2);
      const std::string line = text.substr(at + 2, end - at - 2);
      std::string name = line.substr(0, line.find(':'));
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      request.headers[name] = line.size() > name.size() + 2 ? line.substr(name.size() + 2) : "";
      at = end;
    }
    length = static_cast<size_t>(std::atoll(request.headers["content-length"].c_str()));
  }
  request.body = text.substr(head + 4, length);
  return true;
}

std::string HeadText(int status, const std::string& type, const Headers& headers) {
  std::string head = fmt::format("HTTP/1.1 {} Said\r\nContent-Type: {}\r\nConnection: close\r\n", status, type);
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  return head;
}

}  // namespace

FakeModelServer::FakeModelServer() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  // The listener binds to the port that the port holder got; both must allow the address's reuse.
  for (int* const fd : {&port_holder_, &listener_}) {
    const int yes = 1;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(*fd, reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
    getsockname(*fd, reinterpret_cast<sockaddr*>(&address), &size);
  }
  if (listen(listener_, 64) != 0) std::abort();
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] {
    while (true) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      std::lock_guard lock(mutex_);
      if (stopping_) {
        close(connection);
        return;
      }
      connections_.push_back(connection);
      threads_.emplace_back([this, connection] { Serve(connection); });
    }
  });
}

FakeModelServer::~FakeModelServer() {
  GoDown();
  close(port_holder_);
}

void FakeModelServer::GoDown() {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    for (const int connection : connections_) shutdown(connection, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

std::string FakeModelServer::Url() const { return fmt::format("http://127.0.0.1:{}", port_); }

void FakeModelServer::Answer(ServerScript script) {
  std::lock_guard lock(mutex_);
  scripts_.push_back(std::move(script));
}

std::vector<ReceivedRequest> FakeModelServer::Requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

bool FakeModelServer::WaitForRequests(size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(100), [&] { return requests_.size() >= count; });
}

void FakeModelServer::Serve(int connection) {
  const int one = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  ReceivedRequest request;
  ServerScript script;
  if (ReadRequest(connection, request)) {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    changed_.notify_all();
    script = scripts_.empty() ? Plain(418, R"({"error":{"message":"the test has no script for this request"}})")
                              : std::move(scripts_.front());
    if (!scripts_.empty()) scripts_.pop_front();
  }
  for (const ServerStep& step : script) {
    if (step.kind == ServerStep::Kind::kSend) {
      if (!SendAll(connection, step.bytes)) break;
    } else if (step.kind == ServerStep::Kind::kHang) {
      char byte;
      while (recv(connection, &byte, 1, 0) > 0) {
      }
    } else {
      const linger at_once{1, 0};
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
  }
  std::lock_guard lock(mutex_);
  connections_.erase(std::find(connections_.begin(), connections_.end(), connection));
  close(connection);
}

ServerScript Plain(int status, const std::string& body, const Headers& headers, const std::string& type) {
  return {{ServerStep::Kind::kSend,
           HeadText(status, type, headers) + fmt::format("Content-Length: {}\r\n\r\n", body.size()) + body}};
}

ServerScript Stream(const std::string& body, size_t piece, bool finished, const std::string& type) {
  std::string bytes = HeadText(200, type, {{"Transfer-Encoding", "chunked"}}) + "\r\n";
  const size_t step = piece == 0 ? std::max<size_t>(1, body.size()) : piece;
  for (size_t at = 0; at < body.size(); at += step) {
    const std::string part = body.substr(at, step);
    bytes += fmt::format("{:x}\r\n", part.size()) + part + "\r\n";
  }
  if (finished) bytes += "0\r\n\r\n";
  return {{ServerStep::Kind::kSend, std::move(bytes)}};
}

ServerScript ThenHang(ServerScript script) {
  script.push_back({ServerStep::Kind::kHang, ""});
  return script;
}

ServerScript ThenReset(ServerScript script) {
  script.push_back({ServerStep::Kind::kReset, ""});
  return script;
}

std::string Events(const std::vector<std::pair<std::string, std::string>>& events, const std::string& eol) {
  std::string text;
  for (const auto& [event, data] : events) {
    if (!event.empty()) text += "event: " + event + eol;
    text += "data: " + data + eol + eol;
  }
  return text;
}

std::string OpenAiSays(const std::vector<std::string>& words, const std::string& finish, const std::string& eol) {
  const std::string head = R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-test-1",)";
  std::vector<std::pair<std::string, std::string>> events;
  events.emplace_back(
      "", head + R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})");
  for (const std::string& word : words) {
    events.emplace_back(
        "", head + R"("choices":[{"index":0,"delta":{"content":")" + word + R"("},"finish_reason":null}]})");
  }
  events.emplace_back("", head + R"("choices":[{"index":0,"delta":{},"finish_reason":")" + finish + R"("}]})");
  events.emplace_back(
      "", head + R"("choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":200,"total_tokens":1200,)"
                 R"("prompt_tokens_details":{"cached_tokens":400}}})");
  events.emplace_back("", "[DONE]");
  return Events(events, eol);
}

std::string AnthropicSays(const std::vector<std::string>& words, const std::string& stop_reason,
                          const std::string& eol) {
  std::vector<std::pair<std::string, std::string>> events;
  events.emplace_back("message_start",
                      R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",)"
                      R"("model":"claude-test-1","content":[],"stop_reason":null,"usage":{"input_tokens":600,)"
                      R"("cache_creation_input_tokens":0,"cache_read_input_tokens":400,"output_tokens":1}}})");
  events.emplace_back("content_block_start",
                      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
  events.emplace_back("ping", R"({"type":"ping"})");
  for (const std::string& word : words) {
    events.emplace_back(
        "content_block_delta",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + word + R"("}})");
  }
  events.emplace_back("content_block_stop", R"({"type":"content_block_stop","index":0})");
  events.emplace_back("message_delta", R"({"type":"message_delta","delta":{"stop_reason":")" + stop_reason +
                                           R"(","stop_sequence":null},"usage":{"output_tokens":200}})");
  events.emplace_back("message_stop", R"({"type":"message_stop"})");
  return Events(events, eol);
}

}  // namespace hone
