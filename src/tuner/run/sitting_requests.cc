// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Conducts the conversations of a sitting's attempts with models: sends requests, records replies and reads them.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/agents/prompt.h"
#include "tuner/run/read_reply.h"
#include "tuner/run/sitting.h"
#include "tuner/strategies/limits.h"

namespace hone {

// Reads the stored replies of attempt `id` and sends its next request, if one is due.
Status Sitting::Converse(int64_t id) {
  while (true) {
    const auto progress = view().open.find(id);
    if (progress == view().open.end()) return Status::Ok();
    if (id > 0 && view().node(id).turns.empty()) return ProposeBrokenStart(id);
    if (!progress->second.reply) return SendRequest(id, progress->second.turn, progress->second.repair);
    HONE_ASSIGN_OR_RETURN(std::string text, d_.store->Source(progress->second.reply->text));
    HONE_ASSIGN_OR_RETURN(std::string parent, SourceOf(std::max<int64_t>(view().node(id).parent, 0)));
    ReplyReading reading = ReadReply(view(), *d_.task, id, text, parent);
    HONE_RETURN_IF_ERROR(Append(reading.event, std::move(reading.sources)));
  }
}

// Records the version that the user gave as the run's start as the attempt's result. No model is asked, and the version
// is judged unchecked.
Status Sitting::ProposeBrokenStart(int64_t id) {
  HONE_ASSIGN_OR_RETURN(const std::string source, d_.store->Source(view().broken_start));
  NodeProposed start;
  start.node = id;
  start.idea = "the version that the run begins with";
  start.form = "file";
  start.source = view().broken_start;
  const Result<Candidate> candidate = ParseCandidate(source, fmt::format("node-{}.cu", id), *d_.task);
  if (candidate.ok()) start.bindings = static_cast<int64_t>(AllBindings(candidate->plan).size());
  return Append(start);
}

// Sends the request of a turn, or first profiles the version that it shows. Does nothing if the request is in flight or
// waits for its answer, or if the provider has failed.
Status Sitting::SendRequest(int64_t id, int turn, bool repair) {
  const int64_t number = RequestNumber(id, turn, repair);
  const std::string key = fmt::format("request {}", number);
  if (work_.IsRunning(key) || waiting_requests_.contains(number) || !view().provider_failure.empty())
    return Status::Ok();
  const PendingRequest* pending = nullptr;  // not null: the request was recorded before, and has no reply yet
  for (const PendingRequest& p : view().pending) {
    if (p.number == number) pending = &p;
  }
  // Budgets are hard limits: an unfinished conversation ends when the budget is spent.
  if (pending == nullptr && id > 0) {
    if (const std::string spent = BudgetSpent(view()); !spent.empty()) {
      NodeProposed closed;
      closed.node = id;
      closed.idea = "(not asked)";
      closed.problem = "not_asked";
      closed.detail = fmt::format("the budget was spent before this request ({})", spent);
      return Append(closed);
    }
  }
  PromptInputs inputs{d_.task, &d_.evaluator->facts(), &view(), &prompts_,
                      [this](int64_t node) { return SourceOf(node); }};
  if (pending == nullptr && view().options.profile) {
    HONE_ASSIGN_OR_RETURN(const int64_t due, ProfileDue(inputs, id, turn));
    if (due >= 0) return StartProfile(due);
  }
  Result<ModelRequest> request = Status::Internal("not made");
  std::optional<GivenHint> hint;
  if (repair) {
    // The repair request quotes the unusable reply.
    std::string unusable_reply;
    for (const Memo& memo : view().memos) {
      if (memo.node == id && memo.turn == turn && memo.kind == "problem") {
        HONE_ASSIGN_OR_RETURN(unusable_reply, d_.store->Source(memo.reply));
      }
    }
    request = MakeRepairRequest(inputs, id, turn, unusable_reply);
  } else {
    request = MakeRequest(inputs, id, turn, &hint);
  }
  HONE_RETURN_IF_ERROR(request.status());
  if (pending != nullptr) {
    // The request was sent before: its messages are repeated exactly.
    request->messages.clear();
    for (const StoredMessage& message : pending->messages) {
      HONE_ASSIGN_OR_RETURN(std::string text, d_.store->Source(message.text));
      request->messages.push_back({message.role, std::move(text)});
    }
  }
  const Turn& spec = view().node(id).turns[static_cast<size_t>(turn)];
  // Record the request before it is sent. A suspended one still lies where the provider put it, and is no new attempt.
  if (pending == nullptr || !pending->suspended) {
    RequestAsked event;
    event.number = number;
    event.attempt = pending == nullptr ? 1 : pending->attempts + 1;
    event.node = id;
    event.turn = turn;
    event.repair = repair;
    event.parent = std::max<int64_t>(view().node(id).parent, 0);
    event.role = request->role;
    event.prompt = spec.prompt;
    if (const auto used = view().prompts.find(spec.prompt); used != view().prompts.end())
      event.prompt_text = used->second;
    event.temperature = request->temperature;
    event.max_tokens = request->max_tokens;
    event.provider = d_.provider->Name();
    event.hint = std::move(hint);
    std::vector<std::string> texts;
    for (const ModelMessage& m : request->messages) {
      event.messages.push_back({m.role, SourceHash::Of(m.text)});
      texts.push_back(m.text);
    }
    HONE_RETURN_IF_ERROR(Append(event, std::move(texts)));
  }
  request->suspends = d_.suspend;
  ReportActivity(fmt::format("asking {} to write node {}", d_.provider->Name(), id));
  work_.Start(key, [this, number, request = std::move(*request)]() -> BackgroundWork::Step {
    Result<ModelReply> reply = d_.provider->Complete(
        request,
        [this](const ModelProgress& p) { ReportActivity(fmt::format("{} ({:.0f} s)", p.message, p.waited_seconds)); },
        cancel_.get_token());
    return [this, number, reply = std::move(reply)] { return HandleReply(number, reply); };
  });
  return Status::Ok();
}

// Records the reply to a request, or why there is none.
Status Sitting::HandleReply(int64_t number, const Result<ModelReply>& reply) {
  if (!reply.ok()) {
    const StatusCode code = reply.status().code();
    // The run is being stopped: the request stays open, without a reply in the log.
    if (code == StatusCode::kCancelled) return Status::Ok();
    if (code == StatusCode::kPending) {
      waiting_requests_.insert(number);
      return Status::Ok();
    }
    return Append(RequestFailed{number, std::string(StatusCodeName(code)), reply.status().message()});
  }
  // Failed attempts at this request are recorded before its reply, in their order.
  for (const std::string& note : reply->notes) {
    HONE_RETURN_IF_ERROR(Append(NoteTaken{{number / (2 * kMaxTurns), number, note}}));
  }
  StoredReply stored;
  stored.number = number;
  stored.text = SourceHash::Of(reply->text);
  stored.finish = reply->finish;
  stored.usage = reply->usage;
  stored.cost_usd = reply->cost_usd;
  stored.cost_known = reply->cost_known;
  stored.provider = reply->provider;
  stored.model = reply->model;
  stored.seconds = reply->seconds;
  return Append(ReplyArrived{std::move(stored)}, {reply->text});
}

}  // namespace hone
