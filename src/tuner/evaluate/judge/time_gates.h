// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These gates time a candidate on the task's timed cases: measured on a GPU (measured_time.h), modelled on a simulated
// one (modelled_time.h). docs/measurement.md, "Timing".
#pragma once

#include <optional>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"
#include "tuner/evaluate/judge/serve.h"

namespace hone {

// Runs the stage "time": all timed cases that the request asks for; their results come first among the evaluation's.
Result<Gate> TimeCases(Judgement& judgement);

// Returns a timed case that the candidate's own plan serves; nullopt where there is none.
std::optional<Dims> ServedWhenTimed(const Judgement& judgement);

// TimedPrograms are the programs that run on the two sides of a timed case.
struct TimedPrograms {
  ServedProgram candidate;
  std::optional<ServedProgram> incumbent;                 // nullopt: nothing to compare with
  std::vector<const ResolvedPlan*> plans() const;  // the plans of both; borrowed
};

// Finds the programs, and notes the candidate's occupancy and whether the seed runs instead of it. `sampled` is as for
// FitsMemory. nullopt where the judgement has stopped.
Result<std::optional<TimedPrograms>> ServeTimed(Judgement& judgement, const Dims& dims, bool sampled,
                                                CaseResult& result);

// Fills `floor_us` and `floor_fraction` of a case that has its cold time. The floor is the time that a plain stream
// kernel takes to move the bytes that the task compels, in samples of `sets` buffer sets.
Status AddFloor(Judgement& judgement, const Dims& dims, int sets, CaseResult& result);

}  // namespace hone
