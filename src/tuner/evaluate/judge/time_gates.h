// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These gates time a candidate on the task's timed cases: measured on a GPU (measured_time.h), modelled on a simulated
// one (modelled_time.h). docs/timing.md.
#pragma once

#include <optional>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"
#include "tuner/evaluate/judge/serve.h"

namespace hone {

// Runs the stage "time": all timed cases that the request asks for. Their results are put before those of check cases.
Result<Gate> TimeCases(Judgement& judgement);

// Returns the shape of a timed case that the candidate serves itself, without the seed; nullopt where there is none.
std::optional<Dims> ServedWhenTimed(const Judgement& judgement);

// TimedPrograms are the programs that run on the two sides of a timed case.
struct TimedPrograms {
  ServedProgram candidate;
  std::optional<ServedProgram> incumbent;          // nullopt: the candidate is timed alone
  std::vector<const ResolvedPlan*> plans() const;  // returns the plans of both sides; borrowed
};

// Returns the programs for a timed case; nullopt where the judgement has stopped. Stores the candidate's occupancy in
// the evaluation, and in `result` whether the seed runs in the candidate's place. `sampled` is as for FitsMemory.
Result<std::optional<TimedPrograms>> ServeTimed(Judgement& judgement, const Dims& dims, bool sampled,
                                                CaseResult& result);

// Fills `floor_us` and `floor_fraction` of a case whose cold time is known. The floor is the time that a plain stream
// kernel takes to move the bytes that the task compels, in samples of `sets` buffer sets.
Status AddFloor(Judgement& judgement, const Dims& dims, int sets, CaseResult& result);

}  // namespace hone
