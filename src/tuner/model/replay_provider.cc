// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/replay_provider.h"

#include <fmt/format.h>

#include <map>

#include "tuner/run/log/events.h"

namespace hone {
namespace {

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
    Result<RunEvent> decoded = DecodeEvent(event);
    if (!decoded.ok()) {
      return Status::InvalidArgument(
          fmt::format("run {}, event {}: {}", info.id, event.sequence, decoded.status().message()));
    }
    const auto* arrived = std::get_if<ReplyArrived>(&*decoded);
    if (arrived == nullptr) continue;  // the request got no reply
    ModelReply reply;
    HONE_ASSIGN_OR_RETURN(reply.text, store.Source(arrived->reply.text));
    reply.finish = arrived->reply.finish;
    // A replay costs nothing and takes no time; tokens are kept, because they describe the reply.
    reply.usage = arrived->reply.usage;
    reply.provider = arrived->reply.provider;
    reply.model = arrived->reply.model;
    replies[arrived->reply.number] = std::move(reply);
  }
  if (replies.empty()) return Status::InvalidArgument(fmt::format("run {} holds no replies to replay", info.id));
  return std::unique_ptr<ModelProvider>(std::make_unique<ReplayProvider>(info.id, std::move(replies)));
}

}  // namespace hone
