// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/strategies/recorded_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "hone/tuner/strategy.h"
#include "tuner/store/device_facts.h"
#include "tuner/strategies/case_vetting.h"
#include "tuner/strategies/run_loop.h"

namespace hone {
namespace {

// The name tells apart two attempts that came to the same source.
std::string Key(const std::string& name, const std::string& source_hash, const Binding& binding,
                const std::string& rival_hash, bool final) {
  return fmt::format("{} {} {} {} {}", name, source_hash, BindingKey(binding), rival_hash, final);
}
std::string ProfileKey(const std::string& name, const std::string& source_hash) {
  return fmt::format("profile {} {}", name, source_hash);
}
// A case is vetted as a task of its own, without timing.
std::string VettingKey(const std::string& toml) { return "vetting " + Sha256Hex(toml); }

class RecordedEvaluator : public Evaluator {
 public:
  RecordedEvaluator(std::string run, DeviceFacts facts, std::map<std::string, Evaluation> evaluations)
      : run_(std::move(run)), facts_(std::move(facts)), evaluations_(std::move(evaluations)) {}

  const DeviceFacts& facts() const override { return facts_; }

  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request, const EvaluationProgress&) override {
    const std::string& rival = request.incumbent_source.empty() ? task.seed_source : request.incumbent_source;
    // The loop asks for warm times in the final pairing alone.
    const auto found = evaluations_.find(
        request.profile && !request.check_cases ? ProfileKey(request.name, Sha256Hex(request.source))
        : request.time                          ? Key(request.name, Sha256Hex(request.source), request.binding, Sha256Hex(rival), request.warm)
                                                : VettingKey(task.toml));
    if (found != evaluations_.end()) return found->second;
    return Status::NotFound(fmt::format("run {} holds no evaluation of {}{}{} against {}", run_, request.name,
                                        request.binding.empty() ? "" : " with ", BindingKey(request.binding),
                                        request.incumbent_name));
  }

 private:
  const std::string run_;
  const DeviceFacts facts_;
  const std::map<std::string, Evaluation> evaluations_;
};

}  // namespace

Result<std::unique_ptr<Evaluator>> MakeRecordedEvaluator(RunStore& store, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, store.FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(info.id));
  DeviceFacts facts;
  facts.id = info.device;
  facts.name = info.device;
  facts.modelled = info.modelled;
  std::map<std::string, Evaluation> evaluations;
  RunFold fold(info);
  for (const Event& event : events) {
    const int64_t best_before = fold.view().best;
    HONE_RETURN_IF_ERROR(fold.Apply(event));
    const RunView& view = fold.view();
    const auto hash = [&](int64_t node) { return view.node(std::max<int64_t>(node, 0)).source_hash; };
    switch (event.kind) {
      case EventKind::kStarted: {
        const nlohmann::json payload = nlohmann::json::parse(event.payload, nullptr, false);
        if (payload.contains("facts")) facts = DeviceFactsFromJson(payload["facts"], facts);
        break;
      }
      case EventKind::kEvaluation: {
        const RunNode& node = view.node(event.node);
        evaluations[Key(NodeFileName(view, node.id), hash(node.id), {}, hash(node.incumbent), false)] = *node.evaluation;
        break;
      }
      case EventKind::kSweepPoint: {
        const SweepPoint& point = view.sweep.back();
        const int64_t rival = point.incumbent >= 0 ? point.incumbent : best_before;
        evaluations[Key(NodeFileName(view, point.node), hash(point.node), point.binding, hash(rival), false)] = point.evaluation;
        break;
      }
      case EventKind::kProfile: {
        const std::string name = NodeFileName(view, event.node);
        HONE_ASSIGN_OR_RETURN(evaluations[ProfileKey(name, hash(event.node))], EvaluationFromJson(event.evaluation));
        break;
      }
      case EventKind::kFinal:
        evaluations[Key(NodeFileName(view, view.final_result->node), hash(view.final_result->node), {}, hash(0), true)] =
            view.final_result->evaluation;
        break;
      case EventKind::kVetting: {
        if (event.evaluation.empty()) break;  // refused before it was run
        const nlohmann::json payload = nlohmann::json::parse(event.payload, nullptr, false);
        HONE_ASSIGN_OR_RETURN(Task task, LoadRunTask(store, view));
        HONE_ASSIGN_OR_RETURN(Task vetted, VettingTask(task, view.cases.at(payload.value("case", size_t{0})).dims));
        HONE_ASSIGN_OR_RETURN(evaluations[VettingKey(vetted.toml)], EvaluationFromJson(event.evaluation));
        break;
      }
      default: break;
    }
  }
  if (evaluations.empty()) return Status::InvalidArgument(fmt::format("run {} holds no evaluations", info.id));
  return std::unique_ptr<Evaluator>(
      std::make_unique<RecordedEvaluator>(info.id, std::move(facts), std::move(evaluations)));
}

}  // namespace hone
