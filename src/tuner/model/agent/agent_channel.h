// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Connects the tool server that a coding agent starts (`hone mcp --agent SOCKET`) to the run that the agent works for:
// a socket of this machine, with one question and one answer per connection, each a line of JSON.
//
// The socket lies in its own folder of mode 0700, so that only this user's processes reach it, and is removed with it.
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
  static Result<std::unique_ptr<AgentChannel>> Open(Handler handler);
  // Ends the thread and removes the socket.
  virtual ~AgentChannel() = default;
  virtual const std::string& path() const = 0;
};

// Asks one question. kUnavailable: nothing listens there (the run is over, was stopped, or is on another machine);
// kTimedOut; kInvalidArgument carries the run's own refusal, an answer with a string "error".
Result<nlohmann::json> AskAgentChannel(const std::string& path, const nlohmann::json& question,
                                       double limit_seconds = 30);

}  // namespace hone
