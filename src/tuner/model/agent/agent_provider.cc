// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/agent/agent_provider.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

namespace hone {
namespace {

class AgentProvider : public ModelProvider {
 public:
  explicit AgentProvider(AgentOptions options) : options_(std::move(options)) {}

  std::string Name() const override { return "agent"; }
  std::string CostCaveat() const override {
    return "what a coding agent spends is not known: only what it is told and what it hands in is counted";
  }
  bool PricesReplies() const override { return false; }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                              std::stop_token stop) override {
    if (request.role != "agent") {
      return Status::InvalidArgument(fmt::format(
          "a coding agent does not answer for the role '{}': agent:COMMAND goes with --strategy agent", request.role));
    }
    return SessionOf(request.run).Await(request, progress, std::move(stop));
  }

  void Leave(const std::string& run, const std::string& last_word) override {
    std::unique_ptr<AgentSession> session;
    {
      std::lock_guard lock(mutex_);
      const auto found = sessions_.find(run);
      if (found == sessions_.end()) return;
      session = std::move(found->second);
      sessions_.erase(found);
    }
    session->Leave(last_word);
  }

 private:
  // Returns the session of a run, made at its first request.
  AgentSession& SessionOf(const std::string& run) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<AgentSession>& session = sessions_[run];
    if (!session) {
      AgentOptions options = options_;
      options.folder += "/" + run;
      session = std::make_unique<AgentSession>(std::move(options));
    }
    return *session;
  }

  const AgentOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<AgentSession>> sessions_;
};

}  // namespace

std::unique_ptr<ModelProvider> MakeAgentProvider(AgentOptions options) {
  return std::make_unique<AgentProvider>(std::move(options));
}

}  // namespace hone
