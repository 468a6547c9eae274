// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/time_gates.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/judge/check_gates.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/measured_time.h"
#include "tuner/evaluate/judge/modelled_time.h"
#include "tuner/evaluate/judge/plausible.h"

namespace hone {
namespace {

// Stores the occupancy of each kernel at the first timed case that launches it, as KernelResources promises. A kernel
// whose occupancy cannot be found out is skipped.
void NoteOccupancy(Judgement& judgement, const ServedProgram& served) {
  std::vector<KernelResources>& resources = judgement.evaluation.resources;
  const DeviceFacts& facts = judgement.facts();
  if (served.fallback || facts.max_threads_per_sm <= 0) return;
  for (const ResolvedStep& step : served.plan.steps) {
    const auto known = std::find_if(resources.begin(), resources.end(), [&](const KernelResources& r) {
      return r.kernel == step.kernel && r.occupancy == 0;
    });
    if (!step.is_launch() || known == resources.end() || known->registers < 0) continue;
    const int64_t threads = step.block[0] * step.block[1] * step.block[2];
    const Result<int64_t> blocks = served.program->Occupancy(step.kernel, step.binding_key, threads, step.shared_bytes);
    if (!blocks.ok()) continue;
    known->dynamic_shared_bytes = step.shared_bytes;
    known->occupancy = std::min(1.0, static_cast<double>(*blocks * threads) / facts.max_threads_per_sm);
  }
}

// Returns the case's floor in us, from the cache or measured.
Result<double> MeasureFloor(Judgement& judgement, const Dims& dims, int sets) {
  const CacheState cache = CacheState::kCold;
  HONE_ASSIGN_OR_RETURN(Traffic traffic, CompulsoryTraffic(judgement.task, dims));
  const auto key = std::make_tuple(traffic.read_bytes, traffic.written_bytes, sets, static_cast<int>(cache));
  FloorCache* floors = judgement.request.floors;
  if (floors != nullptr) {
    if (auto known = floors->find(key); known != floors->end()) return known->second;
  }
  judgement.Announce("floor", DimsText(dims), policy::kFloorSeconds);
  HONE_ASSIGN_OR_RETURN(double floor_us, judgement.session.TimeFloor(traffic, sets, cache));
  if (floors != nullptr) (*floors)[key] = floor_us;
  return floor_us;
}

// Times the requested timed cases, and appends their results to `timed`.
Result<Gate> TimeEach(Judgement& judgement, std::vector<CaseResult>& timed) {
  const std::vector<size_t>& only = judgement.request.options.only_time_cases;
  size_t index = 0;
  for (const Case& c : judgement.task.cases) {
    if (c.role != CaseRole::kTime) continue;
    const size_t at = index++;
    if (!only.empty() && std::find(only.begin(), only.end(), at) == only.end()) continue;
    CaseResult result{.dims = c.dims, .role = CaseRole::kTime};
    if (judgement.facts().modelled) {
      HONE_RETURN_UNLESS_PASSED(TimeModelled(judgement, c, result));
      if (BeyondPeak(judgement, c.dims, result)) HONE_RETURN_UNLESS_PASSED(CheckLargestAgain(judgement));
    } else {
      HONE_RETURN_UNLESS_PASSED(TimeMeasured(judgement, c, result));
    }
    timed.push_back(std::move(result));
  }
  const bool candidate_timed = std::any_of(timed.begin(), timed.end(), [](const CaseResult& c) { return !c.fallback; });
  if (candidate_timed) judgement.DropUntimedAdvice();
  return Gate::kPassed;
}

}  // namespace

std::vector<const ResolvedPlan*> TimedPrograms::plans() const {
  std::vector<const ResolvedPlan*> plans{&candidate.plan};
  if (incumbent) plans.push_back(&incumbent->plan);
  return plans;
}

Result<std::optional<TimedPrograms>> ServeTimed(Judgement& judgement, const Dims& dims, bool sampled,
                                                CaseResult& result) {
  HONE_ASSIGN_OR_RETURN(std::optional<ServedProgram> served, Serve(judgement, dims, {}, /*timed=*/true));
  if (!served) return std::optional<TimedPrograms>();
  NoteOccupancy(judgement, *served);
  result.fallback = served->fallback;
  if (FitsMemory(judgement, served->plan, dims, sampled) == Gate::kStopped) return std::optional<TimedPrograms>();
  TimedPrograms timed{std::move(*served), std::nullopt};
  if (judgement.programs.incumbent) {
    HONE_ASSIGN_OR_RETURN(timed.incumbent, ServeIncumbent(judgement, dims));
    if (!timed.incumbent) return std::optional<TimedPrograms>();
  }
  return std::optional<TimedPrograms>(std::move(timed));
}

Status AddFloor(Judgement& judgement, const Dims& dims, int sets, CaseResult& result) {
  HONE_ASSIGN_OR_RETURN(const double floor_us, MeasureFloor(judgement, dims, sets));
  result.floor_us = floor_us;
  result.floor_fraction = floor_us / result.time_us->median;
  return Status::Ok();
}

Result<Gate> TimeCases(Judgement& judgement) {
  const double started = SteadySeconds();
  std::vector<CaseResult> timed;
  HONE_ASSIGN_OR_RETURN(const Gate gate, TimeEach(judgement, timed));
  if (gate == Gate::kPassed) {
    std::vector<CaseResult>& cases = judgement.evaluation.cases;
    cases.insert(cases.begin(), timed.begin(), timed.end());
  }
  judgement.EndStage("time", started);
  return gate;
}

std::optional<Dims> ServedWhenTimed(const Judgement& judgement) {
  for (const Case& c : judgement.task.cases) {
    if (c.role == CaseRole::kTime && ResolveCandidate(judgement, c.dims, {}).ok()) return c.dims;
  }
  return std::nullopt;
}

}  // namespace hone
