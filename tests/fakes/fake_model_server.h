// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A chat service on the loopback interface that says exactly the bytes a test gives it, and fails exactly as told:
// in the middle of a line, of a character, of a connection. A plain socket server, because an HTTP library would
// refuse to be that wrong.
//
// Each connection takes the next script; one request a connection. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hone {

// What the server does after it has read a request, step by step; at the end it closes the connection.
struct ServerStep {
  enum class Kind {
    kSend,   // these bytes
    kHang,   // nothing more, until the client goes away
    kReset,  // the connection is torn down (RST)
  };
  Kind kind = Kind::kSend;
  std::string bytes;
};
using ServerScript = std::vector<ServerStep>;

struct ReceivedRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

class FakeModelServer {
 public:
  FakeModelServer();
  ~FakeModelServer();

  std::string Url() const;  // "http://127.0.0.1:PORT"
  // For the next connection that has no script yet. A connection beyond the last script is answered with 418.
  void Answer(ServerScript script);
  std::vector<ReceivedRequest> Requests() const;
  // Waits until that many requests have been read; false after a hundred seconds.
  bool WaitForRequests(size_t count) const;
  // From here on nobody listens: connections are refused. The port stays this object's, so that nobody else's server
  // takes it and answers.
  void GoDown();

 private:
  void Serve(int connection);

  int port_holder_ = -1;  // bound, and never listens
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<ServerScript> scripts_;
  std::vector<ReceivedRequest> requests_;
  std::vector<int> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// A whole answer with a length.
ServerScript Plain(int status, const std::string& body, const Headers& headers = {},
                   const std::string& type = "application/json");
// The head of a stream, and the body in chunks of `piece` bytes (0: one), which is how a client's reads end inside a
// line or a character. The final chunk is sent when `finished`; else the stream is cut off there.
ServerScript Stream(const std::string& body, size_t piece = 0, bool finished = true,
                    const std::string& type = "text/event-stream");
ServerScript ThenHang(ServerScript script);
ServerScript ThenReset(ServerScript script);

// An event stream of these (event, data); an empty event gives no "event:" line.
std::string Events(const std::vector<std::pair<std::string, std::string>>& events, const std::string& eol = "\n");

// Streams as the services write them, of `words` said one after the other. `words` must need no JSON escapes.
std::string OpenAiSays(const std::vector<std::string>& words, const std::string& finish = "stop",
                       const std::string& eol = "\n");
std::string AnthropicSays(const std::vector<std::string>& words, const std::string& stop_reason = "end_turn",
                          const std::string& eol = "\n");

}  // namespace hone
