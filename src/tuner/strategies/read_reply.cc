// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/read_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "tuner/agents/regions.h"
#include "tuner/agents/reply.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

struct Fault {
  std::string problem, detail;
};

// An idea that was tried and came out right is settled. One that never ran may be tried again.
Fault CheckIdea(const RunView& view, const RunNode& node, const std::string& key) {
  if (key.empty() || node.purpose == "debug") return {};
  for (const LedgerEntry& entry : view.ledger) {
    if (entry.node >= node.known || entry.key != key) continue;
    const RunNode& earlier = view.node(entry.node);
    // From another version it may well pay; from the same one it would be the same again.
    if (!earlier.evaluation || earlier.evaluation->verdict != Verdict::kOk) continue;
    return {"repeated_idea", fmt::format("node {} tried this idea: {}; choose another", earlier.id, entry.outcome)};
  }
  return {};
}

// What can be said against a candidate before anything is compiled.
Fault CheckSource(const RunView& view, const RunNode& node, const Task& task, const std::string& source,
                  int64_t& bindings) {
  const std::string hash = Sha256Hex(source);
  for (int64_t id = 0; id < std::max<int64_t>(node.known, 1); ++id) {
    const RunNode& other = view.node(id);
    if (other.source_hash != hash) continue;
    return {"repeated_source", fmt::format("this is node {} ({}) again, to the letter", other.id, other.idea)};
  }
  Result<Candidate> candidate = ParseCandidate(source, fmt::format("node-{}.cu", node.id), task);
  if (!candidate.ok()) return {"plan_rejected", candidate.status().message()};
  if (StructureFault fault = CheckStructure(source, candidate->plan); !fault.problem.empty()) {
    return {fault.problem, fault.detail};
  }
  bindings = static_cast<int64_t>(AllBindings(candidate->plan).size());
  return {};
}

}  // namespace

EventDraft ReadReply(const RunView& view, const Task& task, int64_t id, const std::string& text,
                     const std::string& parent_source) {
  const RunNode& node = view.node(id);
  const Progress& progress = view.open.at(id);
  const Turn& turn = node.turns.at(static_cast<size_t>(progress.turn));
  ModelReply reply = progress.reply_head;
  reply.text = text;
  const int64_t number = *progress.reply;

  const auto memo = [&](Json payload) {
    payload["turn"] = progress.turn;
    payload["request"] = number;
    payload["reply"] = progress.reply_head.text;
    return EventDraft{EventKind::kMemo, 0, id, Dump(payload), "", {}};
  };
  const auto proposal = [&](Json payload) {
    payload["request"] = number;
    return EventDraft{EventKind::kProposal, 0, id, Dump(payload), "", {}};
  };
  // A problem's first time is a memo, after which the model may repair; its second time closes the attempt.
  const auto fault = [&](const std::string& problem, const std::string& detail, Json about) {
    if (!progress.repair) return memo({{"kind", "problem"}, {"problem", problem}, {"detail", detail}});
    if (id == 0) {
      return memo({{"kind", "cases"}, {"cases", Json::array()}, {"problem", problem}, {"detail", detail}});
    }
    about["problem"] = problem;
    about["detail"] = detail;
    return proposal(std::move(about));
  };

  if (reply.finish == FinishReason::kExhausted) {
    const std::string detail = ClipText(text, 4000);
    if (id == 0) return memo({{"kind", "cases"}, {"cases", Json::array()}, {"detail", detail}});
    return proposal({{"exhausted", true}, {"detail", detail}});
  }
  const Json unnamed = {{"idea", "(none named)"}};
  if (turn.role == "tester") {
    const CasesReply cases =
        ParseCasesReply(reply, task, static_cast<size_t>(WholeSettingOf(view.options, "team.cases")));
    if (!cases.problem.empty()) return fault(cases.problem, cases.detail, unnamed);
    Json list = Json::array();
    for (const auto& [dims, reason] : cases.cases) list.push_back({{"dims", dims}, {"reason", reason}});
    return memo({{"kind", "cases"}, {"text", cases.text}, {"cases", list}});
  }
  const bool last = progress.turn + 1 == static_cast<int>(node.turns.size());
  if (!last && turn.role == "planner") {
    const PlanReply plan = ParsePlanReply(reply, parent_source);
    const Json about = {{"idea", plan.idea}, {"idea_key", plan.idea_key}};
    if (!plan.problem.empty()) return fault(plan.problem, plan.detail, about);
    if (Fault idea = CheckIdea(view, node, plan.idea_key); !idea.problem.empty()) {
      return fault(idea.problem, idea.detail, about);
    }
    return memo({{"kind", "plan"},
                 {"idea", plan.idea},
                 {"text", plan.text},
                 {"regions", plan.regions}});
  }
  if (!last) {
    const TextReply read = ParseTextReply(reply);
    if (!read.problem.empty()) return fault(read.problem, read.detail, unnamed);
    return memo({{"kind", turn.role == "debugger" ? "diagnosis" : "findings"}, {"text", read.text}});
  }

  Proposal made = ParseReply(reply, parent_source);
  if (const Memo* plan = view.FindMemo(id, "plan")) {
    // The idea is the planner's; the coder may have put it in other words.
    made.idea = plan->idea;
    made.idea_key = IdeaKey(plan->idea);
    made.reasoning = plan->text;
  }
  if (node.purpose == "debug") {
    made.idea = fmt::format("repair of node {}: {}", node.parent, made.idea);
    made.idea_key.clear();
  }
  Json about = {{"idea", made.idea}, {"idea_key", made.idea_key}, {"reasoning", made.reasoning}};
  if (!made.form.empty()) about["form"] = made.form;
  if (made.problem.empty()) {
    Fault found = CheckIdea(view, node, made.idea_key);
    int64_t bindings = 1;
    if (found.problem.empty()) found = CheckSource(view, node, task, made.source, bindings);
    if (found.problem.empty()) {
      about["source"] = Sha256Hex(made.source);
      about["bindings"] = bindings;
      EventDraft draft = proposal(std::move(about));
      draft.sources.push_back(std::move(made.source));
      return draft;
    }
    made.problem = found.problem;
    made.detail = found.detail;
  }
  return fault(made.problem, made.detail, std::move(about));
}

}  // namespace hone
