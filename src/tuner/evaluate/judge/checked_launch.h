// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A checked launch is one launch and everything that is checked after it (docs/measurement.md, "The shape of a
// judgment"): guard zones, inputs, device globals, zeroed workspaces, and the outputs against the oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/judgement.h"
#include "tuner/evaluate/judge/serve.h"

namespace hone {

struct LaunchChecks {
  bool require_rms = false;                      // outputs must meet c_rms as well as c_max
  const std::vector<int64_t>* slices = nullptr;  // null: all slices are judged
};

// Draws set 0 of `buffers` as `inputs` says, runs `served` on it, and checks the outputs. Their errors are merged into
// `result` unless that is null. Set 0 holds the candidate's output afterwards.
Result<Gate> LaunchChecked(Judgement& judgement, CaseBuffers& buffers, const ServedProgram& served, const InputSet& inputs,
                           OracleChecker& checker, const LaunchChecks& checks, CaseResult* result);

// Checks that a launch, timed or not, changed only its outputs: guard zones and device globals must be as before, and
// workspaces of set `set` that are zero on entry must be zero again. `where` gives shape and inputs for the message.
Result<Gate> CheckMemoryRules(Judgement& judgement, CaseBuffers& buffers, int set, const ServedProgram& served,
                              const std::string& where);

}  // namespace hone
