// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/recorded_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tuner/run/case_vetting.h"
#include "tuner/run/log/events.h"
#include "tuner/run/log/fold.h"
#include "tuner/run/run_task.h"

namespace hone {
namespace {

// Returns the key of an evaluation. Two attempts may have the same source: the candidate's name tells them apart.
std::string EvaluationKey(const std::string& name, const SourceHash& source, const Binding& binding,
                          const SourceHash& rival, bool is_final) {
  return fmt::format("{} {} {} {} {}", name, source.hex(), BindingKey(binding), rival.hex(), is_final);
}
// Returns the key of an evaluation that only profiles.
std::string ProfileKey(const std::string& name, const SourceHash& source) {
  return fmt::format("profile {} {}", name, source.hex());
}
// Returns the key of the evaluation that vets a proposed case, which is judged as a task of its own.
std::string VettingKey(const std::string& toml) { return "vetting " + SourceHash::Of(toml).hex(); }

class RecordedEvaluator : public Evaluator {
 public:
  RecordedEvaluator(std::string run, DeviceFacts facts, std::map<std::string, Evaluation> evaluations)
      : run_(std::move(run)), facts_(std::move(facts)), evaluations_(std::move(evaluations)) {}

  const DeviceFacts& facts() const override { return facts_; }

  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request, const EvaluationProgress&) override {
    const std::string& rival = request.incumbent_source.empty() ? task.seed_source : request.incumbent_source;
    // Only the final evaluation's request asks for warm times.
    // What a request is for follows from its fields: a profile, an evaluation with times, or the vetting of a case.
    const auto found = evaluations_.find(
        request.profile && !request.check_cases ? ProfileKey(request.name, SourceHash::Of(request.source))
        : request.time ? EvaluationKey(request.name, SourceHash::Of(request.source), request.binding,
                                       SourceHash::Of(rival), request.warm)
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
    // Returns the hash of a node's source; -1 stands for the seed.
    const auto hash = [&](int64_t node) { return view.node(std::max<int64_t>(node, 0)).source_hash; };
    switch (event.kind) {
      case EventKind::kStarted: {
        if (const auto started = DecodeAs<RunStarted>(event); started && started->facts) facts = *started->facts;
        break;
      }
      case EventKind::kEvaluation: {
        const RunNode& node = view.node(event.node);
        evaluations[EvaluationKey(NodeFileName(view, node.id), hash(node.id), {}, hash(node.incumbent),
                                  /*final=*/false)] = *node.evaluation;
        break;
      }
      case EventKind::kSweepPoint: {
        const SweepPoint& point = view.sweep.back();
        const int64_t rival = point.incumbent >= 0 ? point.incumbent : best_before;
        evaluations[EvaluationKey(NodeFileName(view, point.node), hash(point.node), point.binding, hash(rival),
                                  /*final=*/false)] = point.evaluation;
        break;
      }
      case EventKind::kProfile: {
        const std::string name = NodeFileName(view, event.node);
        HONE_ASSIGN_OR_RETURN(evaluations[ProfileKey(name, hash(event.node))], EvaluationFromJson(event.evaluation));
        break;
      }
      case EventKind::kFinal:
        evaluations[EvaluationKey(NodeFileName(view, view.final_result->node), hash(view.final_result->node), {},
                                  hash(0), true)] = view.final_result->evaluation;
        break;
      case EventKind::kVetting: {
        const auto vetting = DecodeAs<CaseVetted>(event);
        if (!vetting || !vetting->evaluation) break;  // the case was refused without an evaluation
        HONE_ASSIGN_OR_RETURN(Task task, LoadRunTask(store, view));
        HONE_ASSIGN_OR_RETURN(Task vetted, VettingTask(task, view.cases.at(vetting->index)));
        evaluations[VettingKey(vetted.toml)] = *vetting->evaluation;
        break;
      }
      default:
        break;
    }
  }
  if (evaluations.empty()) return Status::InvalidArgument(fmt::format("run {} holds no evaluations", info.id));
  return std::unique_ptr<Evaluator>(
      std::make_unique<RecordedEvaluator>(info.id, std::move(facts), std::move(evaluations)));
}

}  // namespace hone
