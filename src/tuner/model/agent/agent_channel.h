// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Connects the tool server that a coding agent starts (`hone mcp --agent SOCKET`) to the run that the agent works for,
// by a Unix socket. Each connection carries one question and its answer, each a line of JSON.
//
// The socket is in a folder of its own with mode 0700, so that only this user's processes reach it. Both are removed at
// the end.
// Malformed input gets an answer that says what is wrong, and a silent connection is closed after two seconds; neither
// changes the run.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hone/base/status.h"

namespace hone {

class AgentChannel {
 public:
  // Called for one question at a time, on the channel's own thread; must not block. `question` is always an object.
  using Handler = std::function<nlohmann::json(const nlohmann::json& question)>;
  // Makes the socket and starts the thread that answers.
  static Result<std::unique_ptr<AgentChannel>> Open(Handler handler);
  // Ends the thread and removes the socket.
  virtual ~AgentChannel() = default;
  virtual const std::string& path() const = 0;
};

// Asks the run one question at the socket `path` and returns its answer. kUnavailable: nothing listens there (the run
// is over, was stopped, or is on another machine). kTimedOut. kInvalidArgument: the run refuses the question; the
// message is the "error" of its answer.
Result<nlohmann::json> AskAgentChannel(const std::string& path, const nlohmann::json& question,
                                       double limit_seconds = 30);

}  // namespace hone
