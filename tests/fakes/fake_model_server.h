// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Imitates a chat service on the loopback interface. It sends exactly the bytes that a test gives it, and fails exactly
// where the test says: in the middle of a line, of a character, of a connection. It is a plain socket server, because
// an HTTP library would refuse to send invalid answers.
//
// Each connection uses the next script and serves one request. Thread-safe.
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

// One step of what the server does after it has read a request. After the last one it closes the connection.
struct ServerStep {
  enum class Kind {
    kSend,   // sends `bytes`
    kHang,   // sends nothing more until the client goes away
    kReset,  // resets the connection (RST)
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
  // Adds the script of the next connection that has none. A connection without a script is answered with status 418.
  void Answer(ServerScript script);
  std::vector<ReceivedRequest> Requests() const;
  // Waits until `count` requests have been read; false after a hundred seconds.
  bool WaitForRequests(size_t count) const;
  // Stops listening, so that connections are refused. This object keeps the port, so that no other server can take it
  // and answer.
  void GoDown();

 private:
  void Serve(int connection);

  int port_holder_ = -1;  // bound, but never listens: keeps the port
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

// Returns a whole answer with a Content-Length.
ServerScript Plain(int status, const std::string& body, const Headers& headers = {},
                   const std::string& type = "application/json");
// Returns the head of a stream, and the body in chunks of `piece` bytes (0: one chunk), so that a client's reads end
// inside a line or a character. The final chunk is sent if `finished`; otherwise the stream is cut off before it.
ServerScript Stream(const std::string& body, size_t piece = 0, bool finished = true,
                    const std::string& type = "text/event-stream");
ServerScript ThenHang(ServerScript script);
ServerScript ThenReset(ServerScript script);

// Returns an event stream of these (event, data) pairs; an empty event has no "event:" line.
std::string Events(const std::vector<std::pair<std::string, std::string>>& events, const std::string& eol = "\n");

// Return streams as the services write them, with `words` one after the other. `words` must need no JSON escapes.
std::string OpenAiSays(const std::vector<std::string>& words, const std::string& finish = "stop",
                       const std::string& eol = "\n");
std::string AnthropicSays(const std::vector<std::string>& words, const std::string& stop_reason = "end_turn",
                          const std::string& eol = "\n");

}  // namespace hone
