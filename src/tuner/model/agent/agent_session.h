// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One run's coding agent: its folder, its process, and the versions that it hands in.
//
// A request of the run carries the verdict on the agent's previous version; the reply is its next version. So the run
// judges the agent's versions like those of every model, and its log holds them the same way. The agent may end, crash
// or be killed at any time: its folder stays, and it is started again there when the run asks for another version.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "hone/tuner/model_provider.h"
#include "tuner/model/agent/agent_channel.h"
#include "tuner/model/redact.h"
#include "tuner/model/retry.h"

namespace hone {

struct AgentOptions {
  std::string command;                   // for /bin/sh -c
  std::string folder;                    // folder of this run's agent; made if it does not exist
  std::string program;                   // path of `hone`
  std::vector<std::string> environment;  // "NAME=value"
  int max_retries = 6;                   // restarts after failures, counted anew from each version handed in
  double grace_seconds = 20;             // time for the agent to end by itself once the run is over
  BackoffOptions backoff;
  uint64_t seed = 0;  // for the backoff's jitter
};

// Await and Leave are called by one thread at a time.
class AgentSession {
 public:
  explicit AgentSession(AgentOptions options);
  ~AgentSession();  // kills the agent

  // Sends the agent the request's last message and waits for its next version; starts the agent if none runs.
  // kExhausted: the agent ended by itself and has nothing more to propose; kUnavailable: it failed more often than
  // allowed; kTimedOut: it handed nothing in within the request's limit, and was killed.
  Result<ModelReply> Await(const ModelRequest& request, const ModelProgressSink& progress, std::stop_token stop);
  // Ends the session. With a last word the agent may end by itself, for `grace_seconds`; without, it is killed.
  void Leave(const std::string& last_word);

 private:
  struct Version {
    std::string idea, source;
  };
  Status Prepare(const ModelRequest& request);
  Status StartAgent();
  std::string Shown() const;
  std::string LogTail() const;
  nlohmann::json Handle(const nlohmann::json& question);
  nlohmann::json Standing() const;  // with mutex_ held

  const AgentOptions options_;
  const Redactor redactor_;
  Rng rng_;
  std::optional<ChildProcess> child_;
  int64_t log_begins_ = 0;  // size of the log when the child was started

  mutable std::mutex mutex_;  // guards the following members
  std::condition_variable news_;
  std::string introduction_, told_;
  int64_t attempt_ = 0, attempts_ = 0;
  int64_t handed_in_ = 0;  // versions since the agent was last started
  bool asked_ = false;     // a version may be handed in
  bool repair_ = false;    // the last version could not be used, and cost no verdict
  bool over_ = false;
  std::optional<Version> version_;  // handed in and not taken yet

  std::unique_ptr<AgentChannel> channel_;  // last: its thread calls Handle
};

}  // namespace hone
