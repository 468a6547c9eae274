// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the coding agent of one run: keeps its folder and its process, and takes the versions that it hands in.
//
// A request of the run contains the verdict on the agent's previous version; the reply is its next version. Thus the
// run judges and logs the agent's versions like the replies of any model. The agent may end, crash or be killed at any
// time: its folder stays, and it is started there again when the run asks for another version.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/process/subprocess.h"
#include "hone/tuner/model_provider.h"
#include "tuner/model/agent/agent_channel.h"
#include "tuner/model/redact.h"
#include "tuner/model/retry.h"

namespace hone {

struct AgentOptions {
  std::string command;                   // the agent, a command for /bin/sh -c
  std::string folder;                    // folder of this run's agent; made if it does not exist
  std::string program;                   // path of `hone`
  std::vector<std::string> environment;  // "NAME=value", of the agent's process
  int max_retries = 6;                   // restarts after failures while one version is awaited
  double grace_seconds = 20;             // time in which the agent may end by itself once the run is over
  BackoffOptions backoff;                // delays before restarts
  uint64_t seed = 0;                     // for the delays' jitter
};

// Await and Leave are called by one thread at a time.
class AgentSession {
 public:
  explicit AgentSession(AgentOptions options);
  ~AgentSession();  // kills the agent

  // Gives the agent the request's last message and waits for its next version; starts the agent if it does not run. A
  // reply with FinishReason::kExhausted: the agent ended by itself and has no more versions. Errors: kUnavailable when
  // it failed more often than allowed; kTimedOut when it handed in no version within the request's limit, and was
  // killed.
  Result<ModelReply> Await(const ModelRequest& request, const ModelProgressSink& progress, std::stop_token stop);
  // Ends the session. A non-empty `last_word` is given to the agent, which may then end by itself within
  // `grace_seconds`; otherwise it is killed at once.
  void Leave(const std::string& last_word);

 private:
  struct Version {
    std::string idea, source;  // what the agent changed, in its words; text of the version
  };
  // Writes the agent's files to its folder, each atomically.
  Status Prepare(const ModelRequest& request);
  // Starts the agent's command, with README.md as its standard input and agent.log for its output.
  Status StartAgent();
  // Returns the agent's command, shortened and redacted, for messages.
  std::string AgentForMessages() const;
  // Returns the end of the agent's output since its start.
  std::string LogTail() const;
  // Answers a question that the agent's tools send through the socket.
  nlohmann::json Handle(const nlohmann::json& question);
  nlohmann::json StateJson() const;  // with mutex_ held

  const AgentOptions options_;
  const Redactor redactor_;
  Rng rng_;
  std::optional<ChildProcess> child_;  // the agent's process; empty: it does not run
  int64_t log_begins_ = 0;  // size of the log when the child was started

  mutable std::mutex mutex_;  // guards the following members
  std::string introduction_, told_;     // the request's first message, and its last
  int64_t attempt_ = 0, attempts_ = 0;  // number of this attempt, and of all the run's attempts
  int64_t handed_in_ = 0;               // versions since the agent was last started
  bool asked_ = false;     // a version may be handed in
  bool repair_ = false;    // the last version was unusable: this request asks for it again
  bool over_ = false;      // the run has ended
  std::optional<Version> version_;  // handed in; Await has not taken it yet

  std::unique_ptr<AgentChannel> channel_;  // declared last, so that it is destroyed first: its thread calls Handle
};

}  // namespace hone
