// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/run_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "tuner/agents/prompt.h"
#include "tuner/agents/reply.h"
#include "tuner/store/device_facts.h"
#include "tuner/store/run_options.h"
#include "tuner/strategies/tune.h"

namespace hone {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json BindingJson(const Binding& binding) {
  Json json = Json::object();
  for (const auto& [name, value] : binding) json[name] = value;
  return json;
}

Json ActionJson(const Action& action) {
  struct Visitor {
    Json operator()(const AskAction& a) const {
      return {{"action", "ask"}, {"parent", a.parent}, {"role", a.role}, {"temperature", a.temperature}};
    }
    Json operator()(const EvaluateAction& a) const {
      return {{"action", "evaluate"}, {"node", a.node}, {"incumbent", a.incumbent}};
    }
    Json operator()(const SweepAction& a) const { return {{"action", "sweep"}, {"node", a.node}}; }
    Json operator()(const FinalAction& a) const { return {{"action", "final"}, {"node", a.node}}; }
    Json operator()(const FinishAction& a) const { return {{"action", "finish"}, {"reason", a.reason}}; }
  };
  return std::visit(Visitor{}, action);
}

// One sitting of one run.
class Sitting {
 public:
  Sitting(const RunDependencies& d, RunInfo info) : d_(d), id_(info.id), fold_(std::move(info)) {}

  Status Load() {
    HONE_ASSIGN_OR_RETURN(std::vector<Event> events, d_.store->Events(id_));
    for (const Event& event : events) HONE_RETURN_IF_ERROR(fold_.Apply(event));
    if (events.empty()) return Status::Internal(fmt::format("run {} has no first event", id_));
    if (events.size() > 1) {
      Json numbers = Json::array();
      for (const PendingRequest& p : view().pending) numbers.push_back(p.number);
      HONE_RETURN_IF_ERROR(Append({EventKind::kResumed, 0, -1, Dump({{"in_flight", numbers}}), "", {}}));
    }
    return Status::Ok();
  }

  Status Run() {
    while (view().ended.empty()) {
      if (d_.stop.stop_requested()) return End("interrupted");
      if (view().unparsed_reply) {
        HONE_RETURN_IF_ERROR(Propose());
        continue;
      }
      const std::vector<Action> actions = d_.strategy->Next(view(), 1);
      HONE_CHECK(!actions.empty(), "a strategy with nothing in flight has nothing to do");
      const Action& action = actions.front();
      HONE_RETURN_IF_ERROR(Append({EventKind::kChoice, 0, -1, Dump(ActionJson(action)), "", {}}));
      const Status status = std::visit([this](const auto& a) { return Do(a); }, action);
      // A stop in the middle of a step leaves the step undone; the log says so by what is missing.
      if (status.code() == StatusCode::kCancelled && d_.stop.stop_requested()) return End("interrupted");
      HONE_RETURN_IF_ERROR(status);
    }
    return Status::Ok();
  }

  const RunView& view() const { return fold_.view(); }

 private:
  Status Append(EventDraft draft) {
    draft.time = d_.now();
    HONE_ASSIGN_OR_RETURN(int64_t sequence, d_.store->Append(id_, draft));
    Event event{sequence, draft.time, draft.kind, draft.node, draft.payload, draft.evaluation};
    HONE_RETURN_IF_ERROR(fold_.Apply(event));
    if (d_.observer != nullptr) d_.observer->OnEvent(event, view());
    return Status::Ok();
  }

  Status End(const std::string& reason) {
    return Append({EventKind::kEnded, 0, -1, Dump({{"reason", reason}}), "", {}});
  }

  void Activity(const std::string& what) {
    if (d_.observer != nullptr) d_.observer->OnActivity(what);
  }

  Result<std::string> SourceOf(int64_t node) { return d_.store->Source(view().node(node).source_hash); }

  static std::string NodeName(int64_t node) { return node == 0 ? "seed.cu" : fmt::format("node-{}.cu", node); }

  // --- the actions ---

  Status Do(const FinishAction& a) { return End(a.reason); }

  Status Do(const AskAction& a) {
    HONE_ASSIGN_OR_RETURN(std::string parent, SourceOf(a.parent));
    // A request that is still open is asked again under its own number.
    int64_t number = view().requests, attempt = 1;
    for (const PendingRequest& p : view().pending) {
      if (p.parent == a.parent) {
        number = p.number;
        attempt = p.attempts + 1;
        break;
      }
    }
    HONE_ASSIGN_OR_RETURN(ModelRequest request,
                          MakeRequest({d_.task, &d_.evaluator->facts(), &view(), a.parent, parent}, a, number));
    EventDraft asked{EventKind::kRequest, 0, -1, "", "", {}};
    Json messages = Json::array();
    for (const ModelMessage& m : request.messages) {
      messages.push_back({{"role", m.role}, {"text", Sha256Hex(m.text)}});
      asked.sources.push_back(m.text);
    }
    asked.payload = Dump({{"number", number},
                          {"attempt", attempt},
                          {"parent", a.parent},
                          {"role", a.role},
                          {"temperature", request.temperature},
                          {"max_tokens", request.max_tokens},
                          {"provider", d_.provider->Name()},
                          {"messages", messages}});
    HONE_RETURN_IF_ERROR(Append(std::move(asked)));

    Activity(fmt::format("asking {}", d_.provider->Name()));
    Result<ModelReply> reply = d_.provider->Complete(
        request,
        [this](const ModelProgress& p) { Activity(fmt::format("{} ({:.0f} s)", p.message, p.waited_seconds)); },
        d_.stop);
    if (!reply.ok()) {
      if (reply.status().code() == StatusCode::kCancelled) return reply.status();
      return Append(
          {EventKind::kReply,
           0,
           -1,
           Dump({{"number", number},
                 {"error", {{"code", StatusCodeName(reply.status().code())}, {"message", reply.status().message()}}}}),
           "",
           {}});
    }
    EventDraft answered{EventKind::kReply, 0, -1, "", "", {reply->text}};
    answered.payload = Dump({{"number", number},
                             {"text", Sha256Hex(reply->text)},
                             {"finish", FinishReasonName(reply->finish)},
                             {"input_tokens", reply->usage.input},
                             {"output_tokens", reply->usage.output},
                             {"estimated", reply->usage.estimated},
                             {"cost_usd", reply->cost_usd},
                             {"provider", reply->provider},
                             {"model", reply->model},
                             {"seconds", reply->seconds}});
    return Append(std::move(answered));
  }

  // Turns the durable reply into a node.
  Status Propose() {
    const int64_t number = *view().unparsed_reply, parent = view().unparsed_parent;
    ModelReply reply = view().unparsed_text;
    HONE_ASSIGN_OR_RETURN(reply.text, d_.store->Source(reply.text));
    const auto next = static_cast<int64_t>(view().nodes.size());
    if (reply.finish == FinishReason::kExhausted) {
      return Append({EventKind::kProposal,
                     0,
                     next,
                     Dump({{"request", number}, {"exhausted", true}, {"detail", reply.text.substr(0, 4000)}}),
                     "",
                     {}});
    }
    HONE_ASSIGN_OR_RETURN(std::string parent_source, SourceOf(parent));
    Proposal proposal = ParseReply(reply, parent_source);
    int64_t bindings = 1;
    if (proposal.problem.empty()) Judge(proposal, bindings);
    Json payload = {{"request", number},
                    {"parent", parent},
                    {"origin", "reply"},
                    {"idea", proposal.idea},
                    {"idea_key", proposal.idea_key},
                    {"reasoning", proposal.reasoning}};
    EventDraft draft{EventKind::kProposal, 0, next, "", "", {}};
    if (proposal.problem.empty()) {
      payload["source"] = Sha256Hex(proposal.source);
      payload["bindings"] = bindings;
      draft.sources.push_back(proposal.source);
    } else {
      payload["problem"] = proposal.problem;
      payload["detail"] = proposal.detail;
    }
    draft.payload = Dump(payload);
    return Append(std::move(draft));
  }

  // What can be said against a proposal before anything is compiled.
  void Judge(Proposal& proposal, int64_t& bindings) {
    const std::string hash = Sha256Hex(proposal.source);
    for (const RunNode& node : view().nodes) {
      if (node.source_hash == hash) {
        proposal.problem = "repeated_source";
        proposal.detail = fmt::format("this is node {} ({}) again, to the letter", node.id, node.idea);
        return;
      }
    }
    for (const LedgerEntry& entry : view().ledger) {
      const RunNode& node = view().node(entry.node);
      if (entry.key != proposal.idea_key || entry.key.empty()) continue;
      // An idea that never ran (a compile error, a misplaced edit) may be tried again.
      if (!node.evaluation || node.evaluation->verdict != Verdict::kOk) continue;
      proposal.problem = "repeated_idea";
      proposal.detail = fmt::format("node {} tried this idea: {}", node.id, entry.outcome);
      return;
    }
    Result<Candidate> candidate =
        ParseCandidate(proposal.source, NodeName(static_cast<int64_t>(view().nodes.size())), *d_.task);
    if (!candidate.ok()) {
      proposal.problem = "plan_rejected";
      proposal.detail = candidate.status().message();
      return;
    }
    bindings = static_cast<int64_t>(AllBindings(candidate->plan).size());
  }

  Result<Evaluation> Evaluate(int64_t node, int64_t incumbent, bool final) {
    EvaluationRequest request;
    HONE_ASSIGN_OR_RETURN(request.source, SourceOf(node));
    request.name = NodeName(node);
    HONE_ASSIGN_OR_RETURN(request.incumbent_source, SourceOf(std::max<int64_t>(incumbent, 0)));
    request.incumbent_name = NodeName(std::max<int64_t>(incumbent, 0));
    if (!final) {
      request.correctness_trials = view().options.correctness_trials;
      request.warm = false;
    }
    Result<Evaluation> evaluation =
        d_.evaluator->Evaluate(*d_.task, request, [this](const std::string& phase, const std::string& detail) {
          Activity(detail.empty() ? phase : phase + " " + detail);
        });
    if (evaluation.ok() && evaluation->verdict == Verdict::kDeviceLost) {
      return Status::Unavailable("the device was lost: " + evaluation->detail);
    }
    if (evaluation.ok() && evaluation->verdict == Verdict::kInvalidTask) {
      return Status::InvalidArgument("the task cannot be judged: " + evaluation->detail);
    }
    return evaluation;
  }

  Status Do(const EvaluateAction& a) {
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation, Evaluate(a.node, a.incumbent, false));
    return Append(
        {EventKind::kEvaluation, 0, a.node, Dump({{"incumbent", a.incumbent}}), EvaluationToJson(evaluation, -1), {}});
  }

  Status Do(const FinalAction& a) {
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation, Evaluate(a.node, 0, true));
    return Append({EventKind::kFinal, 0, a.node, "{}", EvaluationToJson(evaluation, -1), {}});
  }

  Status Do(const SweepAction& a) {
    HONE_ASSIGN_OR_RETURN(std::string source, SourceOf(a.node));
    HONE_ASSIGN_OR_RETURN(Candidate candidate, ParseCandidate(source, NodeName(a.node), *d_.task));
    TuneOptions options;
    HONE_ASSIGN_OR_RETURN(options.incumbent_source, SourceOf(view().best));
    options.incumbent_name = NodeName(view().best);
    options.max_points = view().options.max_sweep_points;
    options.parallel = d_.parallel_evaluations;
    options.stop = d_.stop;
    // The first choices were judged when the node was, if that was against the same rival.
    if (const RunNode& node = view().node(a.node); node.evaluation && node.incumbent == view().best) {
      options.known[BindingKey(DefaultBinding(candidate.plan))] = *node.evaluation;
    }
    for (const SweepPoint& point : view().sweep) {
      if (point.node == a.node) options.known[BindingKey(point.binding)] = point.evaluation;
    }
    options.on_point = [&](const Binding& binding, const Evaluation& evaluation) {
      Activity(fmt::format("sweeping {}", BindingKey(binding)));
      return Append({EventKind::kSweepPoint,
                     0,
                     a.node,
                     Dump({{"binding", BindingJson(binding)}}),
                     EvaluationToJson(evaluation, -1),
                     {}});
    };
    HONE_ASSIGN_OR_RETURN(TuneResult result, TuneCandidate(*d_.evaluator, *d_.task, candidate, options));
    if (d_.stop.stop_requested()) return Status::Cancelled("stopped during a sweep");
    Json payload = {{"parent", a.node},
                    {"origin", "sweep"},
                    {"idea", fmt::format("sweep of {}'s tunables", NodeName(a.node))},
                    {"idea_key", fmt::format("sweep-{}", a.node)},
                    {"reasoning", result.summary}};
    EventDraft draft{EventKind::kProposal, 0, static_cast<int64_t>(view().nodes.size()), "", "", {}};
    const std::string hash = Sha256Hex(result.source);
    const bool known =
        std::any_of(view().nodes.begin(), view().nodes.end(), [&](const RunNode& n) { return n.source_hash == hash; });
    if (result.source.empty() || known) {
      payload["problem"] = "nothing_better";
      payload["detail"] = result.summary;
    } else {
      payload["source"] = hash;
      payload["bindings"] = AllBindings(candidate.plan).size();
      draft.sources.push_back(result.source);
    }
    draft.payload = Dump(payload);
    return Append(std::move(draft));
  }

  const RunDependencies& d_;
  const std::string id_;
  RunFold fold_;
};

}  // namespace

Result<std::string> StartRun(RunStore& store, const Task& task, const DeviceFacts& facts, const RunOptions& options,
                             const std::string& id, double now) {
  if (task.seed_source.empty()) {
    return Status::InvalidArgument(fmt::format("task {} has no seed.cu to start from", task.name));
  }
  HONE_ASSIGN_OR_RETURN(Candidate seed, ParseCandidate(task.seed_source, "seed.cu", task));
  RunInfo info;
  info.id = id;
  info.task = task.name;
  info.device = facts.id;
  info.modelled = facts.modelled;
  info.strategy = options.strategy;
  info.model = options.model;
  info.started = now;
  HONE_RETURN_IF_ERROR(store.CreateRun(info));
  EventDraft started{EventKind::kStarted, now, 0, "", "", {task.toml, task.oracle_source, task.seed_source}};
  started.payload = Dump({{"version", 1},
                          {"options", RunOptionsToJson(options)},
                          {"task", task.name},
                          {"task_toml", Sha256Hex(task.toml)},
                          {"oracle", Sha256Hex(task.oracle_source)},
                          {"seed", Sha256Hex(task.seed_source)},
                          {"device", facts.id},
                          {"device_name", facts.name},
                          {"modelled", facts.modelled},
                          {"bindings", AllBindings(seed.plan).size()},
                          {"facts", DeviceFactsToJson(facts)}});
  HONE_RETURN_IF_ERROR(store.Append(id, started).status());
  return id;
}

Result<RunView> ContinueRun(const RunDependencies& dependencies, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, dependencies.store->FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunClaim> claim, dependencies.store->Claim(info.id));
  Sitting sitting(dependencies, info);
  HONE_RETURN_IF_ERROR(sitting.Load());
  HONE_RETURN_IF_ERROR(sitting.Run());
  return sitting.view();
}

Result<Task> LoadRunTask(RunStore& store, const RunView& view) {
  HONE_ASSIGN_OR_RETURN(std::string toml, store.Source(view.task_toml_hash));
  HONE_ASSIGN_OR_RETURN(Task task, ParseTask(toml, "task.toml"));
  HONE_ASSIGN_OR_RETURN(task.oracle_source, store.Source(view.oracle_hash));
  HONE_ASSIGN_OR_RETURN(task.seed_source, store.Source(view.seed_hash));
  return task;
}

}  // namespace hone
