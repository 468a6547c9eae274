// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/read_reply.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "tuner/agents/prompt_text.h"
#include "tuner/agents/regions.h"
#include "tuner/agents/reply.h"
#include "tuner/agents/spans.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

// Says why a reply is no candidate (RunNode::problem and detail). `problem` is empty if there is no fault.
struct Fault {
  std::string problem, detail;
};

// Refuses an idea of which the run already has a correct version, as far as the decision that opened the attempt knew.
Fault CheckIdea(const RunView& view, const RunNode& node, const std::string& key) {
  // An agent may use one idea for several versions.
  if (key.empty() || node.purpose == "debug" || node.turns.front().role == "agent") return {};
  for (const LedgerEntry& entry : view.ledger) {
    if (entry.node >= node.known || entry.key != key) continue;
    const RunNode& earlier = view.node(entry.node);
    // A version that was not correct does not show what the idea is worth.
    if (!earlier.evaluation || earlier.evaluation->verdict != Verdict::kOk) continue;
    return {"repeated_idea", fmt::format("node {} tried this idea: {}; choose another", earlier.id, entry.outcome)};
  }
  return {};
}

// Checks a candidate before compiling, and sets `bindings` to the number of its bindings.
Fault CheckSource(const RunView& view, const RunNode& node, const Task& task, const std::string& source,
                  int64_t& bindings) {
  const SourceHash hash = SourceHash::Of(source);
  for (int64_t id = 0; id < std::max<int64_t>(node.known, 1); ++id) {
    const RunNode& other = view.node(id);
    if (other.source_hash != hash) continue;
    return {"repeated_source", fmt::format("this is node {} ({}) again, to the letter", other.id, other.idea)};
  }
  Result<Candidate> candidate = ParseCandidate(source, fmt::format("node-{}.cu", node.id), task);
  if (!candidate.ok()) return {"plan_rejected", candidate.status().message()};
  if (!candidate->plan.machine_code.empty()) {
    return {"plan_rejected", "a candidate of a run is source, which people read: leave `mode` out and write device code"};
  }
  if (const int line = LineOfCall(candidate->plan); line > 0 && !view.options.calls) {
    return {"wrong_target", fmt::format("line {}: this run is for kernels that are written out (--no-calls), and the plan calls a library: "
                                        "write a kernel in place of the [[call]]",
                                        line)};
  }
  const std::string target = TargetOf(view, node.id);
  if (const bool cute = UsesCute(*candidate); target == "cute" && !cute) {
    return {"wrong_target",
            "this run is for kernels in CuTe (--target cute), and the answer uses none: include <cute/tensor.hpp> and "
            "say the "
            "tensors, tiles and copies in cute:: layouts; plan and arguments stay as they are"};
  } else if (target == "cuda" && (cute || candidate->plan.include_set == "cute")) {
    return {"wrong_target",
            "this run is for plain CUDA (--target cuda, or CuTe is missing where it is judged): leave <cute/…>, <cutlass/…> and their names out"};
  }
  if (StructureFault fault = CheckStructure(source, candidate->plan); !fault.problem.empty()) {
    return {fault.problem, fault.detail};
  }
  bindings = static_cast<int64_t>(AllBindings(candidate->plan).size());
  return {};
}

// The largest number of additional regions that a coder may request: with more, its plan would be another.
constexpr size_t kMostWidened = 2;

// Checks that a coder changed only its plan's spans and the regions that it requested.
Fault CheckSpans(const std::vector<PlanSpan>& planned, const Proposal& answer, const std::string& parent, bool add_prelude) {
  if (answer.widen.size() > kMostWidened) {
    return {"too_wide",
            fmt::format("the answer takes in {} regions beside the plan's spans ({}): {} at most, so that the plan "
                        "remains the plan",
                        answer.widen.size(), fmt::join(answer.widen, ", "), kMostWidened)};
  }
  const std::string shown = WithoutLicence(parent);
  std::vector<PlanSpan> spans = planned;
  for (const std::string& name : answer.widen) {
    const std::optional<PlanSpan> span = RegionSpan(shown, name, add_prelude);
    if (!span) {
      return {"unknown_region", fmt::format("WIDEN names a region '{}' that does not exist; there are: {}", name,
                                            RegionList(SplitRegions(shown)))};
    }
    spans.push_back(*span);
  }
  const std::string outside = OutsideSpans(shown, JoinSpans(std::move(spans)), WithoutLicence(answer.source));
  if (outside.empty()) return {};
  return {"outside_plan", outside +
                              ". Change only what stands between the marks, or take the region in by a line "
                              "'WIDEN: region: why' if the code would be wrong without"};
}

}  // namespace

ReplyReading ReadReply(const RunView& view, const Task& task, int64_t id, const std::string& text,
                       const std::string& parent_source) {
  const RunNode& node = view.node(id);
  const Progress& progress = view.open.at(id);
  const Turn& turn = node.turns.at(static_cast<size_t>(progress.turn));
  const StoredReply& stored = *progress.reply;
  const bool add_prelude = view.version >= 7;  // the rule of ReplaceRegions changed with version 7
  ModelReply reply;
  reply.text = text;
  reply.finish = stored.finish;

  const auto memo = [&](const char* kind) {
    Memo new_memo;
    new_memo.node = id;
    new_memo.turn = progress.turn;
    new_memo.request = stored.number;
    new_memo.reply = stored.text;
    new_memo.kind = kind;
    return new_memo;
  };
  const auto proposal = [&](const std::string& idea = "(none named)") {
    NodeProposed proposed;
    proposed.node = id;
    proposed.request = stored.number;
    proposed.idea = idea;
    return proposed;
  };
  // The first unusable reply to a turn becomes a memo, and the model is asked for a repair. A second one ends the
  // attempt.
  const auto fault = [&](const std::string& problem, const std::string& detail, NodeProposed about) -> ReplyReading {
    if (!progress.repair || id == 0) {
      Memo problem_memo = memo(progress.repair ? "cases" : "problem");
      problem_memo.problem = problem;
      problem_memo.detail = detail;
      return {MemoMade{std::move(problem_memo), {}}, {}};
    }
    about.problem = problem;
    about.detail = detail;
    return {std::move(about), {}};
  };

  // The provider has nothing more to propose.
  if (reply.finish == FinishReason::kExhausted) {
    const std::string detail = ClipText(text, 4000);
    if (id == 0) {
      Memo none = memo("cases");
      none.detail = detail;
      return {MemoMade{std::move(none), {}}, {}};
    }
    NodeProposed none = proposal();
    none.idea.reset();
    none.exhausted = true;
    none.detail = detail;
    return {std::move(none), {}};
  }
  if (turn.role == "tester") {
    CasesReply cases = ParseCasesReply(reply, task, static_cast<size_t>(WholeSettingOf(view.options, "team.cases")));
    if (!cases.problem.empty()) return fault(cases.problem, cases.detail, proposal());
    MemoMade cases_memo{memo("cases"), {}};
    cases_memo.memo.text = std::move(cases.text);
    cases_memo.cases = std::move(cases.cases);
    return {std::move(cases_memo), {}};
  }
  const bool last = progress.turn + 1 == static_cast<int>(node.turns.size());
  if (!last && turn.role == "planner") {
    PlanReply plan = ParsePlanReply(reply, turn.bound ? WithoutLicence(parent_source) : parent_source, turn.bound, add_prelude);
    NodeProposed about = proposal(plan.idea);
    about.idea_key = plan.idea_key;
    if (!plan.problem.empty()) return fault(plan.problem, plan.detail, about);
    if (Fault idea = CheckIdea(view, node, plan.idea_key); !idea.problem.empty()) {
      return fault(idea.problem, idea.detail, about);
    }
    Memo plan_memo = memo("plan");
    plan_memo.idea = std::move(plan.idea);
    plan_memo.text = std::move(plan.text);
    plan_memo.regions = std::move(plan.regions);
    plan_memo.spans = std::move(plan.spans);
    return {MemoMade{std::move(plan_memo), {}}, {}};
  }
  // A turn before the last that is not the planner's gives a text for the turns after it.
  if (!last) {
    TextReply parsed = ParseTextReply(reply);
    if (!parsed.problem.empty()) return fault(parsed.problem, parsed.detail, proposal());
    Memo text_memo = memo(turn.role == "debugger" ? "diagnosis" : "findings");
    text_memo.text = std::move(parsed.text);
    return {MemoMade{std::move(text_memo), {}}, {}};
  }

  // The last turn gives the candidate.
  const Memo* plan = view.FindMemo(id, "plan");
  const bool bound = turn.bound && plan != nullptr && !plan->spans.empty();
  if (bound) reply.text = WithoutMarks(reply.text);
  Proposal answer = turn.role == "agent" ? ParseAgentReply(reply) : ParseReply(reply, parent_source, add_prelude);
  if (bound && answer.problem.empty()) {
    Fault outside = CheckSpans(plan->spans, answer, parent_source, add_prelude);
    answer.problem = std::move(outside.problem);
    answer.detail = std::move(outside.detail);
  }
  if (plan != nullptr) {
    // The attempt's idea is the planner's, since the coder may have worded it differently.
    answer.idea = plan->idea;
    answer.idea_key = IdeaKey(plan->idea);
    answer.reasoning = plan->text;
  }
  if (node.purpose == "debug") {
    answer.idea = fmt::format("repair of node {}: {}", node.parent, answer.idea);
    answer.idea_key.clear();
  }
  NodeProposed event = proposal(answer.idea);
  event.idea_key = answer.idea_key;
  event.reasoning = answer.reasoning;
  event.form = answer.form;
  event.predicted_us = answer.predicted_us;
  if (bound) event.widened = answer.widen;
  if (answer.problem.empty()) {
    Fault idea_fault = CheckIdea(view, node, answer.idea_key);
    if (idea_fault.problem.empty()) idea_fault = CheckSource(view, node, task, answer.source, event.bindings);
    if (idea_fault.problem.empty()) {
      event.source = SourceHash::Of(answer.source);
      return {std::move(event), {std::move(answer.source)}};
    }
    answer.problem = idea_fault.problem;
    answer.detail = idea_fault.detail;
  }
  return fault(answer.problem, answer.detail, std::move(event));
}

}  // namespace hone
