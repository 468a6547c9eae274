// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file loads the programs of a judgement and picks the one that serves a case: the candidate (or the incumbent) by
// its plan, or the task's seed where no alternative of that plan holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "tuner/core/compiled_program.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// A ServedProgram is the program that runs for one case. It borrows from the judgement.
struct ServedProgram {
  const CompiledProgram* compiled = nullptr;
  LoadedProgram* program = nullptr;
  ResolvedPlan plan;
  bool fallback = false;  // the task's seed runs instead
};

// Loads oracle, incumbent and candidate, and notes the candidate's resources.
Result<Gate> LoadPrograms(Judgement& judgement);

// Returns the candidate's plan for `dims`, with each tensor's base aligned as `base_align` says; a tensor that is not
// in it is aligned as an allocation is. Errors are those of ResolvePlan.
Result<ResolvedPlan> ResolveCandidate(const Judgement& judgement, const Dims& dims,
                                      const std::map<std::string, int64_t>& base_align);

// Returns the program that serves the case; nullopt where the judgement has stopped.
Result<std::optional<ServedProgram>> Serve(Judgement& judgement, const Dims& dims,
                                    const std::map<std::string, int64_t>& base_align);
// Does the same for the incumbent. A version that leaves some shapes to the seed may be the best one, and so become the
// incumbent of the next.
Result<std::optional<ServedProgram>> ServeIncumbent(Judgement& judgement, const Dims& dims);

// Stops where the plan's workspaces and the tensors of one set do not fit into the device's memory: a request for 2 TB
// is answered before anything is allocated. With `sampled`, the tensors are tiles mapped over and over, and take almost
// no memory.
Gate FitsMemory(Judgement& judgement, const ResolvedPlan& plan, const Dims& dims, bool sampled = false);

// Attributes the verdict of a judgement that has just stopped: a fault of the seed is the task's fault.
Gate StoppedBy(Judgement& judgement, const ServedProgram& served);

// Return the alignment of each tensor's address: AnyAlignment as buffers of timed launches have it (CaseBuffers::Make
// without `exact_align`), PromisedAlignment as the task promises it, and no more.
inline std::map<std::string, int64_t> AnyAlignment() { return {}; }
std::map<std::string, int64_t> PromisedAlignment(const Task& task);

}  // namespace hone
