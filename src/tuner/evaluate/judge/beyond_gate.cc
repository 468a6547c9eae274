// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/beyond_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/checked_launch.h"
#include "tuner/evaluate/judge/check_gates.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/serve.h"
#include "tuner/evaluate/judge/stress_choices.h"
#include "tuner/evaluate/shapes/aimed_shapes.h"
#include "tuner/evaluate/shapes/fair_shapes.h"
#include "tuner/evaluate/timing/quad_order.h"

namespace hone {
namespace {

// Draws the shapes beyond the hidden ranges, within the limits for this device.
AimedShapes DrawShapes(Judgement& judgement, const EntriesTaken& entries_taken) {
  // A block that loops over slices takes several only if there are more slices than blocks that the device holds at
  // once.
  BeyondOptions options{.limits = policy::kBeyondLimits,
                        .neighbors = policy::kOddNeighbors,
                        .aimed = policy::kMostAimedBeyond,
                        .edges = policy::kMostEdges,
                        .launches = policy::kMostBeyondLaunches,
                        .timed = judgement.request.options.time,
                        .many_slices = policy::kManySlices * std::max(1, judgement.facts().sm_count)};
  if (judgement.facts().modelled) {
    options.limits = judgement.request.options.time ? policy::kSimulatedBeyondLimits : policy::kBesideAGpuLimits;
    options.neighbors = policy::kSimulatedNeighbors;
    options.aimed = policy::kMostAimedSimulated;
    options.edges = policy::kMostEdgesSimulated;
    options.launches = policy::kMostSimulatedLaunches;
  }
  options.limits.bytes = std::min(options.limits.bytes, judgement.facts().memory_bytes / policy::kBeyondMemoryShare);
  return ShapesBeyond(judgement.task, judgement.request.candidate->candidate.plan, judgement.request.candidate->binding,
                      judgement.facts(), judgement.tested, entries_taken, options, judgement.secrets.Next());
}

// Checks shapes beyond the hidden ranges, in this order.
Result<Gate> CheckShapes(Judgement& judgement, const std::vector<Case>& cases, const EntriesTaken& entries_taken) {
  for (size_t i = 0; i < cases.size(); ++i) {
    // A shape that is the first to take some alternative is also tried with a stress distribution.
    std::vector<StressChoice> choices = StressChoices(/*all=*/false, i);
    const std::optional<std::vector<size_t>> taken = entries_taken(cases[i].dims);
    const bool takes_checked_entries = taken && std::all_of(taken->begin(), taken->end(), [&](size_t entry) {
                                         return judgement.tested.contains(entry);
                                       });
    if (takes_checked_entries) choices.resize(1);
    HONE_ASSIGN_OR_RETURN(const Gate gate, CheckCase(judgement, cases[i], choices, /*plant=*/false));
    if (gate == Gate::kPassed) continue;
    // Hone chose these shapes, so the kernel is not to blame if one takes the simulator too long, or takes an
    // alternative that the simulator cannot run (clusters, say).
    const Verdict verdict = judgement.evaluation.verdict;
    if (!judgement.facts().modelled || (verdict != Verdict::kTimedOut && verdict != Verdict::kUnsupported)) return gate;
    judgement.evaluation.verdict = Verdict::kOk;
    judgement.evaluation.detail.clear();
    if (verdict == Verdict::kTimedOut) return Gate::kPassed;
  }
  return Gate::kPassed;
}

}  // namespace

Result<Gate> CheckBeyond(Judgement& judgement) {
  const double started = SteadySeconds();
  const Secrets resume =
      std::exchange(judgement.secrets, Secrets(Keyed(judgement.request.options.seed, policy::kBeyondStream, 0)));
  const EntriesTaken entries_taken =
      [&, base_align = PromisedAlignment(judgement.task)](const Dims& dims) -> std::optional<std::vector<size_t>> {
    Result<ResolvedPlan> resolved = ResolveCandidate(judgement, dims, base_align);
    if (resolved.ok()) return std::move(resolved->chosen);
    if (resolved.status().code() == StatusCode::kNotFound && judgement.request.fallback != nullptr) return std::nullopt;
    return std::vector<size_t>();
  };
  AimedShapes shapes = DrawShapes(judgement, entries_taken);
  judgement.unreachable = std::move(shapes.unreachable);
  SortSmallestFirst(judgement.task, shapes.cases);
  HONE_ASSIGN_OR_RETURN(const Gate gate, CheckShapes(judgement, shapes.cases, entries_taken));
  judgement.secrets = resume;
  judgement.EndStage("check_beyond", started);
  return gate;
}

Result<Gate> CheckVastWhole(Judgement& judgement) {
  const Task& task = judgement.task;
  if (task.slice.empty()) return Gate::kPassed;
  const double started = SteadySeconds();
  judgement.secrets = Secrets(Keyed(judgement.request.options.seed, policy::kVastStream, 0));
  const int64_t room = judgement.session.FreeBytes() / policy::kVastMemoryShare;
  const FairShapes fair(task, {.bytes = room, .flops = policy::kVastFlops});
  const auto serves = [&](const Dims& dims) { return ResolveCandidate(judgement, dims, AnyAlignment()).ok(); };
  const std::optional<Case> vast = VastShape(task, fair, judgement.request.vast_elements, serves, judgement.secrets.Next());
  if (!vast) return Gate::kPassed;
  HONE_ASSIGN_OR_RETURN(const std::optional<ServedProgram> served, Serve(judgement, vast->dims, AnyAlignment()));
  if (!served) return Gate::kStopped;
  HONE_ASSIGN_OR_RETURN(int64_t bytes, CaseBuffers::SetBytes(task, vast->dims));
  for (const ResolvedWorkspace& workspace : served->plan.workspaces) bytes += workspace.bytes;
  if (served->fallback || bytes > room) return Gate::kPassed;
  Result<std::unique_ptr<CaseBuffers>> buffers =
      judgement.MakeBuffers(vast->dims, {&served->plan}, /*sets=*/1, /*exact_align=*/false);
  // An allocation can fail although memory was free: another process may have taken it since.
  if (!buffers.ok()) return judgement.session.lost() ? Result<Gate>(buffers.status()) : Gate::kPassed;

  const int64_t slices = (*buffers)->slices();
  int64_t longest = 1;
  for (const TensorSpec& tensor : task.tensors) {
    if (IsOutput(tensor)) longest = std::max(longest, (*buffers)->shape(tensor.name).elements / std::max<int64_t>(slices, 1));
  }
  if (longest > policy::kVastComparedElements) return Gate::kPassed;
  const int64_t compared = std::min<int64_t>(policy::kVastComparedElements / longest, policy::kVastSlices);
  // A vast shape has at least 1.05 times 2^31 elements, so the last twentieth of its slices lies beyond 2^31.
  const int64_t tail = std::max<int64_t>(1, slices / 20);
  std::vector<int64_t> judged = SecretSubset(slices, std::min(slices, (compared + 1) / 2), judgement.secrets.Next());
  for (const int64_t at : SecretSubset(tail, std::min(tail, (compared + 1) / 2), judgement.secrets.Next())) judged.push_back(slices - tail + at);
  std::sort(judged.begin(), judged.end());
  judged.erase(std::unique(judged.begin(), judged.end()), judged.end());

  judgement.Announce("check", DimsText(vast->dims), judgement.request.launch_limit_seconds + policy::kCheckSeconds);
  OracleChecker checker = judgement.MakeChecker();
  const InputSet inputs{.key = judgement.secrets.NextOdd()};
  HONE_ASSIGN_OR_RETURN(const Gate gate, LaunchChecked(judgement, **buffers, *served, inputs, checker, {.slices = &judged}, nullptr));
  judgement.EndStage("check_vast", started);
  judgement.evaluation.metrics["vast_slices"] = static_cast<double>(judged.size());
  if (gate == Gate::kPassed) return gate;
  const Verdict verdict = judgement.evaluation.verdict;
  if (verdict == Verdict::kWrongOutput || verdict == Verdict::kCrashed || verdict == Verdict::kRuleViolation) return StoppedBy(judgement, *served);
  judgement.evaluation.verdict = Verdict::kOk;
  judgement.evaluation.detail.clear();
  return judgement.session.lost() ? gate : Gate::kPassed;
}

void NoteUntested(Judgement& judgement) {
  const Candidate& candidate = judgement.request.candidate->candidate;
  for (size_t i = 0; i < candidate.plan.entries.size(); ++i) {
    const PlanEntry& entry = candidate.plan.entries[i];
    if (judgement.tested.contains(i) || candidate.plan.host_mode) continue;
    judgement.AddFinding(
        {"untested_alternative",
         fmt::format("no {} takes the alternative of step {} {}",
                     judgement.unreachable.contains(i) ? "shape" : "checked case", entry.step,
                     entry.when ? fmt::format("with when = \"{}\"", entry.when->text()) : "without `when`"),
         fmt::format("{}:{}", candidate.name, entry.line)});
  }
}

}  // namespace hone
