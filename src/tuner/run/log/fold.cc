// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "tuner/run/log/events.h"
#include "tuner/run/log/gain.h"
#include "tuner/run/log/winner.h"

namespace hone {
namespace {

// Returns the node's outcome as the ledger states it: "1.140x of the start, kept".
std::string OutcomeText(const RunView& view, const RunNode& node) {
  if (node.state == NodeState::kUnusable) return node.problem;
  if (!node.evaluation) return "not yet judged";
  if (node.evaluation->verdict != Verdict::kOk) return std::string(VerdictName(node.evaluation->verdict));
  if (!node.gain) return "ok, not timed";
  const char* modelled = node.evaluation->modelled ? ", modelled" : "";
  std::string fate = node.kept ? "kept" : "not kept";
  if (!node.kept && view.best != node.incumbent && node.gain->low > 1 + view.options.keep_above) {
    fate += fmt::format(": node {} is the better one", view.best);
  }
  return fmt::format("{:.3f}x of {}{}, {}", node.gain->median,
                     node.incumbent > 0 ? fmt::format("node {}", node.incumbent) : std::string("the start"), modelled,
                     fate);
}

// Settles finished nodes in the order of their numbers: decisions may then know them, and each may become the best.
void Settle(RunView& view) {
  while (view.settled < static_cast<int64_t>(view.nodes.size())) {
    RunNode& node = view.nodes[static_cast<size_t>(view.settled)];
    if (!node.done()) return;
    ++view.settled;
    node.settled = true;
    if (node.id == 0) {
      view.seed_broken = node.evaluation && node.evaluation->verdict != Verdict::kOk;
    } else {
      if (node.gain) {
        const RunNode& incumbent = view.node(std::max<int64_t>(node.incumbent, 0));
        if (incumbent.speedup) node.speedup = *incumbent.speedup * node.gain->median;
        if (TakesThePlace(view, node)) {
          node.kept = true;
          view.best = node.id;
        }
      }
      if (node.problem == "no_more_ideas") {
        view.provider_exhausted = true;
      } else {
        LedgerEntry entry;
        entry.idea = node.idea;
        entry.key = node.idea_key;
        entry.node = node.id;
        entry.outcome = OutcomeText(view, node);
        view.ledger.push_back(std::move(entry));
      }
    }
    node.best_after = view.best;
  }
}

// Returns whether there is a node of this number.
bool IsNode(const RunView& view, int64_t id) { return id >= 0 && id < static_cast<int64_t>(view.nodes.size()); }

Status ApplyTo(RunView& view, const Event&, RunStarted& e) {
  view.version = e.version;
  view.options = std::move(e.options);
  view.workload = std::move(e.workload);
  view.task_toml_hash = e.task_toml;
  view.oracle_hash = e.oracle;
  view.seed_hash = e.seed;
  view.baseline_hash = e.baseline;
  view.prompts = std::move(e.prompts);
  view.from_oracle = e.from_oracle;
  view.from_module = e.from_module;
  view.broken_start = e.broken_start;
  view.memory = std::move(e.memory);
  view.start_uses_cute = e.start_uses_cute;
  RunNode seed;
  seed.origin = "seed";
  seed.purpose = "seed";
  seed.idea = view.from_module ? "the module in PyTorch, eager" : view.from_oracle ? "the oracle, as a kernel" : "the seed";
  seed.source_hash = view.seed_hash;
  seed.bindings = e.bindings;
  seed.speedup = 1.0;
  view.nodes.push_back(std::move(seed));
  return Status::Ok();
}

// Adds `node`, which must have the next number, to the view as open.
Status Open(RunView& view, RunNode node) {
  if (node.id != static_cast<int64_t>(view.nodes.size())) {
    return Status::Internal(fmt::format("node {} is opened where {} was due", node.id, view.nodes.size()));
  }
  if (node.parent < 0 || node.parent >= node.id) {
    return Status::Internal(fmt::format("node {} has parent {}", node.id, node.parent));
  }
  node.state = NodeState::kOpen;
  view.nodes.push_back(std::move(node));
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, AttemptOpened& e) {
  RunNode node;
  node.id = e.node;
  node.parent = e.parent;
  node.incumbent = e.incumbent;
  node.known = e.known;
  node.origin = "reply";
  node.purpose = std::move(e.purpose);
  node.turns = std::move(e.turns);
  HONE_RETURN_IF_ERROR(Open(view, std::move(node)));
  view.open[e.node] = {};
  ++view.attempts;
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, SweepOpened& e) {
  RunNode node;
  node.id = e.node;
  node.parent = e.parent;
  node.incumbent = e.incumbent;
  node.known = e.known;
  node.origin = node.purpose = "sweep";
  node.idea = "sweep of tunables";
  HONE_RETURN_IF_ERROR(Open(view, std::move(node)));
  // Neither the swept version nor the sweep's result is to be swept again.
  view.swept.push_back(e.parent);
  view.swept.push_back(e.node);
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, CasesAsked& e) {
  view.cases_asked = true;
  view.nodes[0].turns = {std::move(e.turn)};
  view.open[0] = {};
  return Status::Ok();
}

Status ApplyTo(RunView&, const Event&, FinalBegun&) { return Status::Ok(); }
Status ApplyTo(RunView&, const Event&, OtherChoice&) { return Status::Ok(); }

Status ApplyTo(RunView& view, const Event&, RequestAsked& e) {
  auto found = std::find_if(view.pending.begin(), view.pending.end(),
                            [&](const PendingRequest& p) { return p.number == e.number; });
  if (found != view.pending.end()) {
    // The request was sent before the run was interrupted, and is sent again.
    ++found->attempts;
    found->suspended = false;
    ++view.asked_again;
    return Status::Ok();
  }
  PendingRequest pending;
  pending.number = e.number;
  pending.parent = e.parent;
  pending.node = e.node;
  pending.messages = std::move(e.messages);
  if (e.hint && IsNode(view, e.node)) view.nodes[static_cast<size_t>(e.node)].hint = std::move(e.hint);
  view.pending.push_back(std::move(pending));
  ++view.requests;
  return Status::Ok();
}

// Finds the pending request that the event answers; kInternal if there is none.
Result<std::vector<PendingRequest>::iterator> FindPendingRequest(RunView& view, const Event& event, int64_t number) {
  auto found = std::find_if(view.pending.begin(), view.pending.end(),
                            [&](const PendingRequest& p) { return p.number == number; });
  if (found != view.pending.end()) return found;
  return Status::Internal(fmt::format("event {} answers request {}, which was never asked", event.sequence, number));
}

Status ApplyTo(RunView& view, const Event& event, RequestFailed& e) {
  // The request stays pending, so that it is sent again when the run is resumed.
  HONE_RETURN_IF_ERROR(FindPendingRequest(view, event, e.number).status());
  view.provider_failure = std::move(e.message);
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event& event, ReplyArrived& e) {
  HONE_ASSIGN_OR_RETURN(const auto pending_request, FindPendingRequest(view, event, e.reply.number));
  const StoredReply& reply = e.reply;
  view.usage.input += reply.usage.input;
  view.usage.output += reply.usage.output;
  view.usage.estimated = view.usage.estimated || reply.usage.estimated;
  view.cost_usd += reply.cost_usd;
  ++view.replies;
  view.unpriced_replies += !reply.cost_known;
  if (pending_request->node >= 0) {
    const auto progress = view.open.find(pending_request->node);
    if (progress == view.open.end()) {
      return Status::Internal(fmt::format("event {} answers a request of node {}, which is not open", event.sequence,
                                          pending_request->node));
    }
    progress->second.reply = std::move(e.reply);
  }
  view.pending.erase(pending_request);
  return Status::Ok();
}

// Adds a memo, which was read from the reply to the current turn. The next turn is due now, or, after an unusable reply,
// a repair of this one.
Status ApplyTo(RunView& view, const Event& event, MemoMade& e) {
  const auto progress = view.open.find(event.node);
  if (progress == view.open.end()) {
    return Status::Internal(
        fmt::format("event {} reads a reply of node {}, which is not open", event.sequence, event.node));
  }
  progress->second.reply.reset();
  if (e.memo.kind == "problem") {
    progress->second.repair = true;
    view.nodes[static_cast<size_t>(event.node)].repaired = e.memo.problem;
  } else {
    ++progress->second.turn;
    progress->second.repair = false;
  }
  if (e.memo.kind == "cases") {
    view.cases_read = true;
    for (ProposedCase& proposed : e.cases) view.cases.push_back(std::move(proposed));
    view.open.erase(progress);
  }
  view.memos.push_back(std::move(e.memo));
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event& event, CaseVetted& e) {
  if (e.index >= view.cases.size()) {
    return Status::Internal(fmt::format("event {} vets case {}, which nobody proposed", event.sequence, e.index));
  }
  view.cases[e.index].state = e.accepted ? "accepted" : "refused";
  view.cases[e.index].detail = std::move(e.detail);
  ++view.evaluations;
  return Status::Ok();
}

// Opens the node of a proposal in a log of version 1. In later logs, the strategy's choices open the nodes.
void OpenByProposal(RunView& view, const NodeProposed& e) {
  RunNode node;
  node.id = static_cast<int64_t>(view.nodes.size());
  node.parent = e.parent;
  node.origin = e.origin;
  node.purpose = node.origin == "sweep" ? "sweep" : "optimise";
  if (node.origin == "sweep") {
    view.swept.push_back(node.parent);
    view.swept.push_back(node.id);
  } else {
    ++view.attempts;
  }
  node.state = NodeState::kOpen;
  view.nodes.push_back(std::move(node));
}

Status ApplyTo(RunView& view, const Event& event, NodeProposed& e) {
  if (view.version < 2) {
    if (e.exhausted) {
      view.provider_exhausted = true;
      return Status::Ok();
    }
    if (e.parent < 0) return Status::Internal(fmt::format("event {} proposes a node without a parent", event.sequence));
    OpenByProposal(view, e);
  }
  if (event.node < 1 || !IsNode(view, event.node) || view.node(event.node).state != NodeState::kOpen) {
    return Status::Internal(fmt::format("event {} proposes node {}, which was not opened", event.sequence, event.node));
  }
  RunNode& node = view.nodes[static_cast<size_t>(event.node)];
  view.open.erase(node.id);
  node.request = e.request;
  if (e.idea) node.idea = std::move(*e.idea);
  node.idea_key = std::move(e.idea_key);
  node.reasoning = std::move(e.reasoning);
  node.bindings = e.bindings;
  node.widened = std::move(e.widened);
  node.predicted_us = std::move(e.predicted_us);
  node.seconds = view.seconds;
  if (e.exhausted) {
    node.state = NodeState::kUnusable;
    node.problem = "no_more_ideas";
    node.idea = "(none left)";
    node.detail = std::move(e.detail);
    --view.attempts;  // an attempt for which there was no reply does not count
  } else if (!e.problem.empty()) {
    node.state = NodeState::kUnusable;
    node.problem = std::move(e.problem);
    node.detail = std::move(e.detail);
  } else {
    node.state = NodeState::kProposed;
    node.source_hash = std::move(e.source);
  }
  Settle(view);
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event& event, NodeJudged& e) {
  if (!IsNode(view, event.node)) {
    return Status::Internal(fmt::format("event {} evaluates node {}, which is not there", event.sequence, event.node));
  }
  RunNode& node = view.nodes[static_cast<size_t>(event.node)];
  node.evaluation = std::move(e.evaluation);
  node.state = NodeState::kEvaluated;
  node.incumbent = e.incumbent;
  node.seconds = view.seconds;
  ++view.evaluations;
  // When a run starts, it is not known whether the device behind a spool is simulated.
  view.info.modelled = view.info.modelled || node.evaluation->modelled;
  // A seed that is not right has no speed to compare with.
  if (node.id == 0 && node.evaluation->verdict != Verdict::kOk) node.speedup.reset();
  if (node.id != 0 && node.evaluation->verdict == Verdict::kOk) {
    node.gain = GeomeanGain(node.evaluation->cases);
    const RunNode& incumbent = view.node(std::max<int64_t>(node.incumbent, 0));
    if (node.gain && incumbent.speedup) node.speedup = *incumbent.speedup * node.gain->median;
  }
  Settle(view);
  return Status::Ok();
}

// Adds the profile's counts and findings to the node's evaluation. The node's times stay those by which it was judged.
Status ApplyTo(RunView& view, const Event& event, NodeProfiled& e) {
  if (!IsNode(view, event.node) || !view.node(event.node).evaluation) {
    return Status::Internal(
        fmt::format("event {} profiles node {}, which was not evaluated", event.sequence, event.node));
  }
  Evaluation& counted = e.evaluation;
  RunNode& node = view.nodes[static_cast<size_t>(event.node)];
  node.profiled = true;
  ++view.profiles;
  if (counted.verdict != Verdict::kOk || !counted.profile) {
    const std::string why = !counted.detail.empty() ? counted.detail
                            : counted.verdict == Verdict::kOk
                                ? "its judge took no profile (hone worker --profiles none or gains?)"
                                : std::string(VerdictName(counted.verdict));
    view.remarks.push_back({node.id, -1, fmt::format("node {} could not be profiled: {}", node.id, why)});
    return Status::Ok();
  }
  std::vector<Finding>& findings = node.evaluation->findings;
  // New findings replace those of the same kind at the same place.
  std::erase_if(findings, [&](const Finding& old) {
    return std::any_of(counted.findings.begin(), counted.findings.end(),
                       [&](const Finding& f) { return f.kind == old.kind && f.location == old.location; });
  });
  findings.insert(findings.begin(), counted.findings.begin(), counted.findings.end());
  node.evaluation->profile = std::move(counted.profile);
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event& event, FinalJudged& e) {
  if (!IsNode(view, event.node)) {
    return Status::Internal(fmt::format("event {} judges node {}, which is not there", event.sequence, event.node));
  }
  ++view.evaluations;
  if (e.evaluation.verdict != Verdict::kOk && event.node != 0) {
    // The final check found the best version wrong on fresh hidden cases.
    view.nodes[static_cast<size_t>(event.node)].rejected = true;
    view.best = BestOfTheOthers(view);
    view.nodes.back().best_after = view.best;
  }
  view.final_result = FinalResult{event.node, std::move(e.evaluation)};
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, SweepPointJudged& e) {
  view.sweep.push_back(std::move(e.point));
  ++view.evaluations;
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, RunResumed& e) {
  if (view.no_cute_from < 0) view.no_cute_from = e.no_cute_from;
  ++view.sittings;
  view.ended.clear();
  view.provider_failure.clear();
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, SittingEnded& e) {
  view.ended = std::move(e.reason);
  if (view.ended == "suspended") {
    for (PendingRequest& request : view.pending) request.suspended = true;
  }
  return Status::Ok();
}

Status ApplyTo(RunView& view, const Event&, NoteTaken& e) {
  view.remarks.push_back(std::move(e.remark));
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
  if (event.kind == EventKind::kStarted || event.kind == EventKind::kResumed) {
    seconds_before_ = view_.seconds;
    sitting_start_ = event.time;
  }
  // The time between sittings does not count, and a clock that was set back does not count negatively.
  view_.seconds = seconds_before_ + std::max(0.0, event.time - sitting_start_);
  ++view_.events;
  view_.info.events = view_.events;

  Result<RunEvent> decoded = DecodeEvent(event, view_.version);
  const Status status =
      decoded.ok() ? std::visit([&](auto& e) { return ApplyTo(view_, event, e); }, *decoded) : decoded.status();
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
