// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the server of tools that a coding agent starts (`hone mcp --agent SOCKET`) reaches the run that the agent works
// for: a socket of this machine, one question and one answer a connection, each a line of JSON.
//
// The socket lies in a folder of mode 0700 of its own, so that only this user's processes reach it, and goes with it.
// A stranger's bytes get an answer that says what is wrong with them, and a connection that says nothing is closed
// after two seconds; neither changes the run.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hone/base/status.h"

namespace hone {

class AgentChannel {
 public:
  // Called for one question at a time, in the channel's own thread; never blocks. An object always comes in.
  using Handler = std::function<nlohmann::json(const nlohmann::json& question)>;
  static Result<std::unique_ptr<AgentChannel>> Open(Handler handler);
  // Ends the thread and removes the socket.
  virtual ~AgentChannel() = default;
  virtual const std::string& path() const = 0;
};

// One question. kUnavailable: nobody listens there (the run is over, was stopped, or is on another machine); kTimedOut;
// kInvalidArgument carries the run's own refusal, an answer with a string "error".
Result<nlohmann::json> AskAgentChannel(const std::string& path, const nlohmann::json& question,
                                       double limit_seconds = 30);

}  // namespace hone
