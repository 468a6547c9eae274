// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/replay_provider.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

namespace hone {
namespace {

using Json = nlohmann::json;

class ReplayProvider : public ModelProvider {
 public:
  ReplayProvider(std::string run, std::map<int64_t, ModelReply> replies)
      : run_(std::move(run)), replies_(std::move(replies)) {}

  std::string Name() const override { return "replay"; }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink&, std::stop_token) override {
    const auto found = replies_.find(request.number);
    if (found != replies_.end()) return found->second;
    ModelReply end;
    end.text = fmt::format("run {} holds no reply to request {}", run_, request.number);
    end.finish = FinishReason::kExhausted;
    end.provider = "replay";
    return end;
  }

 private:
  const std::string run_;
  const std::map<int64_t, ModelReply> replies_;
};

}  // namespace

Result<std::unique_ptr<ModelProvider>> MakeReplayProvider(RunStore& store, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, store.FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(info.id));
  std::map<int64_t, ModelReply> replies;
  for (const Event& event : events) {
    if (event.kind != EventKind::kReply) continue;
    const Json payload = Json::parse(event.payload, nullptr, false);
    if (!payload.is_object() || payload.contains("error")) continue;
    ModelReply reply;
    try {
      HONE_ASSIGN_OR_RETURN(reply.text, store.Source(payload.at("text").get<std::string>()));
      reply.finish = FinishReasonFromName(payload.value("finish", "stop")).value_or(FinishReason::kStop);
      reply.usage.input = payload.value("input_tokens", int64_t{0});
      reply.usage.output = payload.value("output_tokens", int64_t{0});
      reply.usage.estimated = payload.value("estimated", false);
      reply.provider = payload.value("provider", "");
      reply.model = payload.value("model", "");
      // A replay costs nothing and takes no time; tokens are kept, for they describe the reply.
      replies[payload.at("number").get<int64_t>()] = std::move(reply);
    } catch (const Json::exception& error) {
      return Status::InvalidArgument(fmt::format("run {}, event {}: {}", info.id, event.sequence, error.what()));
    }
  }
  if (replies.empty()) return Status::InvalidArgument(fmt::format("run {} holds no replies to replay", info.id));
  return std::unique_ptr<ModelProvider>(std::make_unique<ReplayProvider>(info.id, std::move(replies)));
}

}  // namespace hone
