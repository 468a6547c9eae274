// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run's events amount to. Whether a candidate is kept is decided here, from its evaluation alone, so that
// no log can disagree with its own view.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hone/tuner/strategy.h"
#include "tuner/store/gain.h"
#include "tuner/store/run_options.h"

namespace hone {
namespace {

using Json = nlohmann::json;

std::string OutcomeText(const RunNode& node) {
  if (node.state == NodeState::kUnusable) return node.problem;
  if (!node.evaluation) return "not yet judged";
  if (node.evaluation->verdict != Verdict::kOk) return std::string(VerdictName(node.evaluation->verdict));
  if (!node.gain) return "ok, not timed";
  const char* modelled = node.evaluation->modelled ? ", modelled" : "";
  return fmt::format("{:.3f}x of the best before it{}, {}", node.gain->median, modelled,
                     node.kept ? "kept" : "not kept");
}

Result<Evaluation> ReadEvaluation(const Event& event) {
  if (event.evaluation.empty()) {
    return Status::Internal(
        fmt::format("event {} ({}) carries no evaluation", event.sequence, EventKindName(event.kind)));
  }
  Result<Evaluation> evaluation = EvaluationFromJson(event.evaluation);
  if (!evaluation.ok()) return evaluation.status().WithContext(fmt::format("evaluation of event {}", event.sequence));
  return evaluation;
}

Binding ReadBinding(const Json& json) {
  Binding binding;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) binding[name] = value.get<int64_t>();
  }
  return binding;
}

// The steps below may throw nlohmann's exceptions for a damaged payload; Apply turns them into a Status.
Status ApplyStarted(RunView& view, const Json& payload) {
  HONE_ASSIGN_OR_RETURN(view.options, RunOptionsFromJson(payload.at("options")));
  view.task_toml_hash = payload.at("task_toml");
  view.oracle_hash = payload.at("oracle");
  view.seed_hash = payload.at("seed");
  RunNode seed;
  seed.origin = "seed";
  seed.idea = "the seed";
  seed.source_hash = view.seed_hash;
  seed.bindings = payload.value("bindings", int64_t{1});
  view.nodes.push_back(std::move(seed));
  return Status::Ok();
}

void ApplyRequest(RunView& view, const Json& payload) {
  const int64_t number = payload.at("number");
  auto found = std::find_if(view.pending.begin(), view.pending.end(),
                            [&](const PendingRequest& p) { return p.number == number; });
  if (found != view.pending.end()) {
    ++found->attempts;
    ++view.asked_again;
    return;
  }
  PendingRequest pending;
  pending.number = number;
  pending.parent = payload.at("parent");
  view.pending.push_back(pending);
  view.requests = std::max(view.requests, number + 1);
}

Status ApplyReply(RunView& view, const Event& event, const Json& payload) {
  const int64_t number = payload.at("number");
  auto found = std::find_if(view.pending.begin(), view.pending.end(),
                            [&](const PendingRequest& p) { return p.number == number; });
  if (found == view.pending.end()) {
    return Status::Internal(fmt::format("event {} answers request {}, which was never asked", event.sequence, number));
  }
  if (payload.contains("error")) {
    // The request stays pending: a later sitting may ask again.
    view.provider_failure = payload.at("error").at("message");
    return Status::Ok();
  }
  view.provider_failure.clear();
  ModelReply reply;
  reply.finish = FinishReasonFromName(payload.value("finish", "stop")).value_or(FinishReason::kStop);
  reply.usage.input = payload.value("input_tokens", int64_t{0});
  reply.usage.output = payload.value("output_tokens", int64_t{0});
  reply.usage.estimated = payload.value("estimated", false);
  reply.cost_usd = payload.value("cost_usd", 0.0);
  reply.provider = payload.value("provider", "");
  reply.model = payload.value("model", "");
  reply.seconds = payload.value("seconds", 0.0);
  reply.text = payload.at("text");  // the hash: whoever parses it reads the text from the store
  view.usage.input += reply.usage.input;
  view.usage.output += reply.usage.output;
  view.usage.estimated = view.usage.estimated || reply.usage.estimated;
  view.cost_usd += reply.cost_usd;
  view.unparsed_reply = number;
  view.unparsed_parent = found->parent;
  view.unparsed_text = std::move(reply);
  view.pending.erase(found);
  return Status::Ok();
}

Status ApplyProposal(RunView& view, const Event& event, const Json& payload) {
  RunNode node;
  node.id = event.node;
  if (node.id != static_cast<int64_t>(view.nodes.size()) && !payload.value("exhausted", false)) {
    return Status::Internal(
        fmt::format("event {} proposes node {} where {} was due", event.sequence, node.id, view.nodes.size()));
  }
  node.request = payload.value("request", int64_t{-1});
  if (view.unparsed_reply && *view.unparsed_reply == node.request) {
    view.unparsed_reply.reset();
    view.unparsed_parent = -1;
    view.unparsed_text = {};
  }
  if (payload.value("exhausted", false)) {
    view.provider_exhausted = true;
    return Status::Ok();
  }
  node.parent = payload.at("parent");
  node.origin = payload.value("origin", "reply");
  node.idea = payload.value("idea", "");
  node.reasoning = payload.value("reasoning", "");
  node.bindings = payload.value("bindings", int64_t{1});
  node.seconds = view.seconds;
  if (payload.contains("problem")) {
    node.state = NodeState::kUnusable;
    node.problem = payload.at("problem");
    node.detail = payload.value("detail", "");
  } else {
    node.source_hash = payload.at("source");
  }
  if (node.origin == "sweep") {
    view.swept.push_back(node.parent);
    // A sweep's product needs no sweep of its own.
    view.swept.push_back(node.id);
  } else {
    ++view.attempts;
  }
  LedgerEntry entry;
  entry.key = payload.value("idea_key", "");
  entry.idea = node.idea;
  entry.node = node.id;
  entry.outcome = OutcomeText(node);
  view.ledger.push_back(std::move(entry));
  view.nodes.push_back(std::move(node));
  return Status::Ok();
}

Status ApplyEvaluation(RunView& view, const Event& event, const Json& payload) {
  if (event.node < 0 || event.node >= static_cast<int64_t>(view.nodes.size())) {
    return Status::Internal(fmt::format("event {} evaluates node {}, which is not there", event.sequence, event.node));
  }
  RunNode& node = view.nodes[static_cast<size_t>(event.node)];
  HONE_ASSIGN_OR_RETURN(node.evaluation, ReadEvaluation(event));
  node.state = NodeState::kEvaluated;
  node.incumbent = payload.at("incumbent");
  node.seconds = view.seconds;
  ++view.evaluations;
  if (node.id == 0) {
    view.seed_broken = node.evaluation->verdict != Verdict::kOk;
    if (!view.seed_broken) node.speedup = 1.0;
    return Status::Ok();
  }
  if (node.evaluation->verdict == Verdict::kOk) {
    node.gain = GeomeanGain(node.evaluation->cases);
    const RunNode& incumbent = view.node(std::max<int64_t>(node.incumbent, 0));
    if (node.gain && incumbent.speedup) node.speedup = *incumbent.speedup * node.gain->median;
    if (node.gain && node.incumbent == view.best && node.gain->low > 1.0 + view.options.keep_above) {
      node.kept = true;
      view.best = node.id;
    }
  }
  for (LedgerEntry& entry : view.ledger) {
    if (entry.node == node.id) entry.outcome = OutcomeText(node);
  }
  return Status::Ok();
}

}  // namespace

Status RunFold::Apply(const Event& event) {
  if (event.sequence != view_.events) {
    return Status::Internal(
        fmt::format("run {}: event {} where {} was due", view_.info.id, event.sequence, view_.events));
  }
  if (event.sequence == 0 && event.kind != EventKind::kStarted) {
    return Status::Internal(fmt::format("run {} does not begin with 'started'", view_.info.id));
  }
  const Json payload = Json::parse(event.payload, nullptr, false);
  if (!payload.is_object()) {
    return Status::Internal(
        fmt::format("run {}: payload of event {} is no JSON object", view_.info.id, event.sequence));
  }
  if (event.kind == EventKind::kStarted || event.kind == EventKind::kResumed) {
    seconds_before_ = view_.seconds;
    sitting_start_ = event.time;
  }
  view_.seconds = seconds_before_ + std::max(0.0, event.time - sitting_start_);
  ++view_.events;
  view_.info.events = view_.events;

  Status status;
  try {
    switch (event.kind) {
      case EventKind::kStarted:
        status = ApplyStarted(view_, payload);
        break;
      case EventKind::kRequest:
        ApplyRequest(view_, payload);
        break;
      case EventKind::kReply:
        status = ApplyReply(view_, event, payload);
        break;
      case EventKind::kProposal:
        status = ApplyProposal(view_, event, payload);
        break;
      case EventKind::kEvaluation:
        status = ApplyEvaluation(view_, event, payload);
        break;
      case EventKind::kSweepPoint: {
        Result<Evaluation> evaluation = ReadEvaluation(event);
        if (!evaluation.ok()) {
          status = evaluation.status();
          break;
        }
        view_.sweep.push_back({event.node, ReadBinding(payload.at("binding")), std::move(*evaluation)});
        ++view_.evaluations;
        break;
      }
      case EventKind::kFinal: {
        Result<Evaluation> evaluation = ReadEvaluation(event);
        if (!evaluation.ok()) {
          status = evaluation.status();
          break;
        }
        view_.final_result = FinalResult{event.node, std::move(*evaluation)};
        ++view_.evaluations;
        break;
      }
      case EventKind::kResumed:
        ++view_.sittings;
        view_.ended.clear();
        view_.provider_failure.clear();
        break;
      case EventKind::kEnded:
        view_.ended = payload.value("reason", "ended");
        break;
      case EventKind::kChoice:
      case EventKind::kNote:
        break;
    }
  } catch (const Json::exception& error) {
    status = Status::Internal(error.what());
  }
  return status.WithContext(
      fmt::format("run {}, event {} ({})", view_.info.id, event.sequence, EventKindName(event.kind)));
}

Result<RunView> LoadRun(RunStore& store, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, store.FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(info.id));
  RunFold fold(info);
  for (const Event& event : events) HONE_RETURN_IF_ERROR(fold.Apply(event));
  RunView view = fold.view();
  view.info.state = info.state;
  return view;
}

}  // namespace hone
