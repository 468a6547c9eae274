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
                     node.incumbent > 0 ? fmt::format("node {}", node.incumbent) : std::string("the start"), modelled, fate);
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

// ln of how much faster `node` is than `other`, at the lower end of its 95 % interval. Both hang on chains of pairings
// that meet, at the latest at the seed; what they share cancels.
std::optional<double> LowerLogGain(const RunView& view, const RunNode& node, const RunNode& other) {
  const auto chain = [&](const RunNode& from) {
    std::vector<int64_t> ids{from.id};
    while (ids.back() > 0) ids.push_back(std::max<int64_t>(view.node(ids.back()).incumbent, 0));
    return ids;
  };
  const std::vector<int64_t> mine = chain(node), theirs = chain(other);
  const auto met = std::find_first_of(mine.begin(), mine.end(), theirs.begin(), theirs.end());
  double middle = 0, square = 0;
  for (auto it = mine.begin(); it != met; ++it) {
    const std::optional<Interval>& gain = view.node(*it).gain;
    if (!gain) return std::nullopt;
    middle += std::log(gain->median);
    square += std::pow(std::log(gain->median) - std::log(gain->low), 2);
  }
  for (auto it = theirs.begin(); it != theirs.end() && *it != *met; ++it) {
    const std::optional<Interval>& gain = view.node(*it).gain;
    if (!gain) return std::nullopt;
    middle -= std::log(gain->median);
    square += std::pow(std::log(gain->high) - std::log(gain->median), 2);
  }
  return middle - std::sqrt(square);
}

// Whether `node` takes the place of the best. What is surely faster does. Of several that were timed against one and
// the same version and are surely faster than it, the fastest does: each is an improvement, and which of them happens to
// have the lowest number says nothing.
bool TakesThePlace(const RunView& view, const RunNode& node) {
  const double margin = std::log1p(view.options.keep_above);
  const RunNode& best = view.node(view.best);
  const std::optional<double> low = LowerLogGain(view, node, best);
  if (low && *low > margin) return true;
  return view.version >= 4 && best.id > 0 && best.gain && best.incumbent == node.incumbent && std::log(node.gain->low) > margin &&
         node.gain->median > best.gain->median;
}

// In the order of their numbers, nodes that are done become part of what decisions rest on.
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

Turn ReadTurn(const Json& json) {
  Turn turn;
  turn.role = json.at("role");
  turn.prompt = json.value("prompt", "");
  turn.temperature = json.value("temperature", 0.7);
  turn.profile = json.value("profile", true);
  turn.ledger = json.value("ledger", true);
  turn.shown = json.value("shown", std::vector<int64_t>{});
  return turn;
}

// The steps below may throw nlohmann's exceptions for a damaged payload; Apply turns them into a Status.
Status ApplyStarted(RunView& view, const Json& payload) {
  view.version = payload.value("version", 1);
  if (view.version > kRunVersion) {
    return Status::InvalidArgument(fmt::format(
        "the run was recorded by a newer Hone (log version {}, this one reads up to {})", view.version, kRunVersion));
  }
  HONE_ASSIGN_OR_RETURN(view.options, RunOptionsFromJson(payload.at("options")));
  view.workload = payload.value("class", "other");
  view.task_toml_hash = payload.at("task_toml");
  view.oracle_hash = payload.at("oracle");
  view.seed_hash = payload.at("seed");
  view.baseline_hash = payload.value("baseline", "");
  if (payload.contains("prompts")) payload.at("prompts").get_to(view.prompts);
  RunNode seed;
  seed.origin = "seed";
  seed.purpose = "seed";
  view.from_oracle = payload.value("start", "seed") == "oracle";
  seed.idea = view.from_oracle ? "the oracle, as a kernel" : "the seed";
  seed.source_hash = view.seed_hash;
  seed.bindings = payload.value("bindings", int64_t{1});
  seed.speedup = 1.0;
  view.nodes.push_back(std::move(seed));
  return Status::Ok();
}

Status ApplyChoice(RunView& view, const Event& event, const Json& payload) {
  if (view.version < 2) return Status::Ok();
  const std::string action = payload.value("action", "");
  if (action == "cases") {
    view.cases_asked = true;
    view.nodes[0].turns = {ReadTurn(payload.at("turn"))};
    view.open[0] = {};
    return Status::Ok();
  }
  if (action != "attempt" && action != "sweep") return Status::Ok();
  RunNode node;
  node.id = event.node;
  if (node.id != static_cast<int64_t>(view.nodes.size())) {
    return Status::Internal(fmt::format("node {} is opened where {} was due", node.id, view.nodes.size()));
  }
  node.state = NodeState::kOpen;
  node.parent = payload.at("parent");
  if (node.parent < 0 || node.parent >= node.id) {
    return Status::Internal(fmt::format("node {} has parent {}", node.id, node.parent));
  }
  node.incumbent = payload.at("incumbent");
  node.known = payload.value("known", int64_t{0});
  if (action == "sweep") {
    node.origin = node.purpose = "sweep";
    node.idea = "sweep of tunables";
    // A sweep's product needs no sweep of its own.
    view.swept.push_back(node.parent);
    view.swept.push_back(node.id);
  } else {
    node.origin = "reply";
    node.purpose = payload.value("purpose", "optimise");
    for (const Json& turn : payload.at("turns")) node.turns.push_back(ReadTurn(turn));
    view.open[node.id] = {};
    ++view.attempts;
  }
  view.nodes.push_back(std::move(node));
  return Status::Ok();
}

void ApplyRequest(RunView& view, const Json& payload) {
  const int64_t number = payload.at("number");
  auto found = std::find_if(view.pending.begin(), view.pending.end(),
                            [&](const PendingRequest& p) { return p.number == number; });
  if (found != view.pending.end()) {
    ++found->attempts;
    found->suspended = false;
    ++view.asked_again;
    return;
  }
  PendingRequest pending;
  pending.number = number;
  pending.parent = payload.at("parent");
  pending.node = payload.value("node", int64_t{-1});
  for (const Json& message : payload.at("messages")) {
    pending.messages.push_back({message.at("role"), message.at("text")});
  }
  view.pending.push_back(std::move(pending));
  ++view.requests;
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
  ModelReply reply;
  reply.finish = FinishReasonFromName(payload.value("finish", "stop")).value_or(FinishReason::kStop);
  reply.usage.input = payload.value("input_tokens", int64_t{0});
  reply.usage.output = payload.value("output_tokens", int64_t{0});
  reply.usage.estimated = payload.value("estimated", false);
  reply.cost_usd = payload.value("cost_usd", 0.0);
  reply.provider = payload.value("provider", "");
  // Logs from before this was recorded: nobody ever knew what an answer from a mailbox cost.
  reply.cost_known = payload.value("cost_known", reply.provider != "mailbox");
  reply.model = payload.value("model", "");
  reply.seconds = payload.value("seconds", 0.0);
  reply.text = payload.at("text");  // the hash: whoever parses it reads the text from the store
  view.usage.input += reply.usage.input;
  view.usage.output += reply.usage.output;
  view.usage.estimated = view.usage.estimated || reply.usage.estimated;
  view.cost_usd += reply.cost_usd;
  ++view.replies;
  view.unpriced_replies += !reply.cost_known;
  if (found->node >= 0) {
    const auto progress = view.open.find(found->node);
    if (progress == view.open.end()) {
      return Status::Internal(
          fmt::format("event {} answers a request of node {}, which is not open", event.sequence, found->node));
    }
    progress->second.reply = number;
    progress->second.reply_head = std::move(reply);
  }
  view.pending.erase(found);
  return Status::Ok();
}

// The lowest turn of a node's requests is read: the next one is due, or its repair.
Status ApplyMemo(RunView& view, const Event& event, const Json& payload) {
  const auto progress = view.open.find(event.node);
  if (progress == view.open.end()) {
    return Status::Internal(fmt::format("event {} reads a reply of node {}, which is not open", event.sequence,
                                        event.node));
  }
  Memo memo;
  memo.node = event.node;
  memo.turn = payload.value("turn", 0);
  memo.request = payload.at("request");
  memo.kind = payload.at("kind");
  memo.idea = payload.value("idea", "");
  memo.text = payload.value("text", "");
  memo.regions = payload.value("regions", std::vector<std::string>{});
  memo.problem = payload.value("problem", "");
  memo.detail = payload.value("detail", "");
  memo.reply = payload.value("reply", "");
  progress->second.reply.reset();
  progress->second.reply_head = {};
  if (memo.kind == "problem") {
    progress->second.repair = true;
    view.nodes[static_cast<size_t>(event.node)].repaired = memo.problem;
  } else {
    ++progress->second.turn;
    progress->second.repair = false;
  }
  if (memo.kind == "cases") {
    view.cases_read = true;
    for (const Json& c : payload.at("cases")) {
      ProposedCase proposed;
      c.at("dims").get_to(proposed.dims);
      proposed.reason = c.value("reason", "");
      view.cases.push_back(std::move(proposed));
    }
    view.open.erase(progress);
  }
  view.memos.push_back(std::move(memo));
  return Status::Ok();
}

Status ApplyVetting(RunView& view, const Event& event, const Json& payload) {
  const size_t index = payload.at("case");
  if (index >= view.cases.size()) {
    return Status::Internal(fmt::format("event {} vets case {}, which nobody proposed", event.sequence, index));
  }
  view.cases[index].state = payload.at("accepted").get<bool>() ? "accepted" : "refused";
  view.cases[index].detail = payload.value("detail", "");
  ++view.evaluations;
  return Status::Ok();
}

Status ApplyProposal(RunView& view, const Event& event, const Json& payload) {
  const bool exhausted = payload.value("exhausted", false);
  if (view.version < 2) {  // there, a proposal was what made a node
    if (exhausted) {
      view.provider_exhausted = true;
      return Status::Ok();
    }
    RunNode fresh;
    fresh.id = static_cast<int64_t>(view.nodes.size());
    fresh.parent = payload.at("parent");
    fresh.origin = payload.value("origin", "reply");
    fresh.purpose = fresh.origin == "sweep" ? "sweep" : "optimise";
    if (fresh.origin == "sweep") {
      view.swept.push_back(fresh.parent);
      view.swept.push_back(fresh.id);
    } else {
      ++view.attempts;
    }
    fresh.state = NodeState::kOpen;
    view.nodes.push_back(std::move(fresh));
  }
  if (event.node < 1 || event.node >= static_cast<int64_t>(view.nodes.size()) ||
      view.node(event.node).state != NodeState::kOpen) {
    return Status::Internal(
        fmt::format("event {} proposes node {}, which was not opened", event.sequence, event.node));
  }
  RunNode& node = view.nodes[static_cast<size_t>(event.node)];
  view.open.erase(node.id);
  node.request = payload.value("request", int64_t{-1});
  node.idea = payload.value("idea", node.idea);
  node.idea_key = payload.value("idea_key", "");
  node.reasoning = payload.value("reasoning", "");
  node.bindings = payload.value("bindings", int64_t{1});
  node.seconds = view.seconds;
  if (exhausted) {
    node.state = NodeState::kUnusable;
    node.problem = "no_more_ideas";
    node.idea = "(none left)";
    node.detail = payload.value("detail", "");
    --view.attempts;
  } else if (payload.contains("problem")) {
    node.state = NodeState::kUnusable;
    node.problem = payload.at("problem");
    node.detail = payload.value("detail", "");
  } else {
    node.state = NodeState::kProposed;
    node.source_hash = payload.at("source");
  }
  Settle(view);
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
  // A spool does not know at the start what kind of device will judge.
  view.info.modelled = view.info.modelled || node.evaluation->modelled;
  if (node.id == 0 && node.evaluation->verdict != Verdict::kOk) node.speedup.reset();
  if (node.id != 0 && node.evaluation->verdict == Verdict::kOk) {
    node.gain = GeomeanGain(node.evaluation->cases);
    const RunNode& incumbent = view.node(std::max<int64_t>(node.incumbent, 0));
    if (node.gain && incumbent.speedup) node.speedup = *incumbent.speedup * node.gain->median;
  }
  Settle(view);
  return Status::Ok();
}

// The times stay those of the pairing that decided about the node: profiling adds what was counted, and what follows.
Status ApplyProfile(RunView& view, const Event& event) {
  if (event.node < 0 || event.node >= static_cast<int64_t>(view.nodes.size()) || !view.node(event.node).evaluation) {
    return Status::Internal(fmt::format("event {} profiles node {}, which was not evaluated", event.sequence, event.node));
  }
  HONE_ASSIGN_OR_RETURN(Evaluation counted, ReadEvaluation(event));
  RunNode& node = view.nodes[static_cast<size_t>(event.node)];
  node.profiled = true;
  ++view.profiles;
  if (counted.verdict != Verdict::kOk || !counted.profile) {
    const std::string why = !counted.detail.empty()            ? counted.detail
                            : counted.verdict == Verdict::kOk ? "its judge took no profile (hone worker --profiles none or gains?)"
                                                              : std::string(VerdictName(counted.verdict));
    view.remarks.push_back({node.id, -1, fmt::format("node {} could not be profiled: {}", node.id, why)});
    return Status::Ok();
  }
  std::vector<Finding>& findings = node.evaluation->findings;
  std::erase_if(findings, [&](const Finding& old) {
    return std::any_of(counted.findings.begin(), counted.findings.end(),
                       [&](const Finding& f) { return f.kind == old.kind && f.location == old.location; });
  });
  findings.insert(findings.begin(), counted.findings.begin(), counted.findings.end());
  node.evaluation->profile = std::move(counted.profile);
  return Status::Ok();
}

Status ApplyFinal(RunView& view, const Event& event) {
  HONE_ASSIGN_OR_RETURN(Evaluation evaluation, ReadEvaluation(event));
  if (event.node < 0 || event.node >= static_cast<int64_t>(view.nodes.size())) {
    return Status::Internal(fmt::format("event {} judges node {}, which is not there", event.sequence, event.node));
  }
  ++view.evaluations;
  if (evaluation.verdict != Verdict::kOk && event.node != 0) {
    // Right on every case it had been judged with, wrong on fresh ones: the one before it is the best again.
    view.nodes[static_cast<size_t>(event.node)].rejected = true;
    view.best = 0;
    for (const RunNode& node : view.nodes) {
      if (node.kept && !node.rejected) view.best = node.id;
    }
    view.nodes.back().best_after = view.best;
  }
  view.final_result = FinalResult{event.node, std::move(evaluation)};
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
      case EventKind::kChoice:
        status = ApplyChoice(view_, event, payload);
        break;
      case EventKind::kRequest:
        ApplyRequest(view_, payload);
        break;
      case EventKind::kReply:
        status = ApplyReply(view_, event, payload);
        break;
      case EventKind::kMemo:
        status = ApplyMemo(view_, event, payload);
        break;
      case EventKind::kVetting:
        status = ApplyVetting(view_, event, payload);
        break;
      case EventKind::kProposal:
        status = ApplyProposal(view_, event, payload);
        break;
      case EventKind::kEvaluation:
        status = ApplyEvaluation(view_, event, payload);
        break;
      case EventKind::kProfile:
        status = ApplyProfile(view_, event);
        break;
      case EventKind::kSweepPoint: {
        Result<Evaluation> evaluation = ReadEvaluation(event);
        if (!evaluation.ok()) {
          status = evaluation.status();
          break;
        }
        view_.sweep.push_back({event.node, ReadBinding(payload.at("binding")), std::move(*evaluation),
                               payload.value("incumbent", int64_t{-1})});
        ++view_.evaluations;
        break;
      }
      case EventKind::kFinal:
        status = ApplyFinal(view_, event);
        break;
      case EventKind::kResumed:
        ++view_.sittings;
        view_.ended.clear();
        view_.provider_failure.clear();
        break;
      case EventKind::kEnded:
        view_.ended = payload.value("reason", "ended");
        if (view_.ended == "suspended") {
          for (PendingRequest& request : view_.pending) request.suspended = true;
        }
        break;
      case EventKind::kNote:
        view_.remarks.push_back({event.node, payload.value("number", int64_t{-1}), payload.value("text", "")});
        break;
    }
  } catch (const Json::exception& error) {
    status = Status::Internal(error.what());
  }
  return status.WithContext(
      fmt::format("run {}, event {} ({})", view_.info.id, event.sequence, EventKindName(event.kind)));
}

const Memo* RunView::FindMemo(int64_t node, std::string_view kind) const {
  for (auto it = memos.rbegin(); it != memos.rend(); ++it) {
    if (it->node == node && it->kind == kind) return &*it;
  }
  return nullptr;
}

bool RunView::CasesFrozen() const {
  return std::none_of(cases.begin(), cases.end(), [](const ProposedCase& c) { return c.state == "proposed"; });
}

int64_t KnownFor(const RunView& view) {
  const RunOptions& options = view.options;
  const int64_t parallel = std::max<int64_t>(options.parallel, 1);
  const int64_t first = options.blind_start ? 0 : 1;  // the seed
  const auto next = static_cast<int64_t>(view.nodes.size());
  if (!options.rounds) return std::max(next - parallel + 1, first);
  std::vector<int64_t> attempts;
  for (const RunNode& node : view.nodes) {
    if (node.origin == "reply") attempts.push_back(node.id);
  }
  const size_t whole = attempts.size() / static_cast<size_t>(parallel) * static_cast<size_t>(parallel);
  return whole == 0 ? first : attempts[whole - 1] + 1;
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
