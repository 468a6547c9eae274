// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads the programs of a judgement and says which of them serves a case: the candidate (or the incumbent) by its plan,
// or the task's seed where no alternative of that plan holds.
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

// What runs for one case. Borrows from the judgement.
struct Served {
  const CompiledProgram* compiled = nullptr;
  LoadedProgram* program = nullptr;
  ResolvedPlan plan;
  bool fallback = false;  // the task's seed stands in
};

// Loads oracle, incumbent and candidate, and notes the candidate's resources.
Result<Gate> LoadPrograms(Judgement& judgement);

// The candidate's plan for `dims`, with each tensor's base aligned as `base_align` says; what it does not name is
// aligned as an allocation is. Statuses as of ResolvePlan.
Result<ResolvedPlan> ResolveCandidate(const Judgement& judgement, const Dims& dims,
                                      const std::map<std::string, int64_t>& base_align);

// nullopt: the judgement has stopped.
Result<std::optional<Served>> Serve(Judgement& judgement, const Dims& dims,
                                    const std::map<std::string, int64_t>& base_align);
// A version that leaves some shapes to the seed may be the best one, and so what the next is timed against.
Result<std::optional<Served>> ServeIncumbent(Judgement& judgement, const Dims& dims);

// Stops where the plan's workspaces and the tensors of one set do not fit into the device's memory: "2 TB, please" is
// answered before anything is allocated. `sampled`: the tensors are tiles mapped over and over, and take no memory to
// speak of.
Gate FitsMemory(Judgement& judgement, const ResolvedPlan& plan, const Dims& dims, bool sampled = false);

// For a judgement that has just stopped: what goes wrong where the seed stands in is the task's fault.
Gate StoppedBy(Judgement& judgement, const Served& served);

// The alignment of each tensor's address that the task promises, and no more.
// As buffers of timed launches have it (CaseBuffers::Make without `exact_align`).
inline std::map<std::string, int64_t> AnyAlignment() { return {}; }
std::map<std::string, int64_t> PromisedAlignment(const Task& task);

}  // namespace hone
