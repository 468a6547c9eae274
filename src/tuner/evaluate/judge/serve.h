// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file loads the programs of a judgement and picks the one that serves a case: the candidate (or the incumbent),
// or the task's seed where no alternative of the candidate's plan holds for the case.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "tuner/core/program/compiled_program.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// A ServedProgram is the program that runs for one case. Its pointers are borrowed from the judgement.
struct ServedProgram {
  const CompiledProgram* compiled = nullptr;
  LoadedProgram* program = nullptr;
  ResolvedPlan plan;      // the program's plan for this case
  bool fallback = false;  // true: the program is the task's seed, in place of the candidate or the incumbent
};

// Loads oracle, incumbent and candidate, and stores the candidate's resources in the evaluation.
Result<Gate> LoadPrograms(Judgement& judgement);

// Returns the candidate's plan for `dims`. `base_align` gives the alignment in bytes of each tensor's address; a tensor
// that is not in it is aligned as an allocation is. Errors are those of ResolvePlan.
Result<ResolvedPlan> ResolveCandidate(const Judgement& judgement, const Dims& dims,
                                      const std::map<std::string, int64_t>& base_align);

// Returns the program that serves the case; nullopt where the judgement has stopped. `timed`: launches give a time. A
// modelled device does not know how many blocks fit on a processor, so its other launches get numbers drawn from 1 to
// its estimate: a kernel that ran other code for smaller numbers would run it there too.
Result<std::optional<ServedProgram>> Serve(Judgement& judgement, const Dims& dims,
                                    const std::map<std::string, int64_t>& base_align, bool timed = false);
// Returns the program that serves the case on the incumbent's side; nullopt where the judgement has stopped. An
// incumbent's plan too may leave shapes to the seed, because any candidate can become the incumbent.
Result<std::optional<ServedProgram>> ServeIncumbent(Judgement& judgement, const Dims& dims);

// Stops the judgement if the plan's workspaces and the tensors of one set do not fit into the device's memory, so that
// a request for 2 TB is answered before anything is allocated. With `sampled`, only workspaces are considered: the
// tensors are small tiles mapped many times, which take almost no memory.
Gate FitsMemory(Judgement& judgement, const ResolvedPlan& plan, const Dims& dims, bool sampled = false);

// Attributes the verdict of a judgement that has just stopped while `served` ran: if that was the task's seed, the
// verdict becomes invalid_task. Returns kStopped.
Gate StoppedBy(Judgement& judgement, const ServedProgram& served);

// Return the alignment in bytes of each tensor's address: AnyAlignment for buffers of timed launches (CaseBuffers::Make
// without `exact_align`), PromisedAlignment for buffers that are aligned only as the task promises.
inline std::map<std::string, int64_t> AnyAlignment() { return {}; }
std::map<std::string, int64_t> PromisedAlignment(const Task& task);

}  // namespace hone
