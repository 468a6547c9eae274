// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file times the libraries that a task's baseline.toml names beside a candidate that has been judged.
//
// cuBLASLt is an incumbent like any other: a host-mode program, checked by the oracle and timed against the candidate
// in interleaved pairs. PyTorch is the user's own installation: a child process draws inputs of the task's
// distributions, times the expression eager and compiled with flushed caches, and hands the times back. The child
// launches the candidate as well and times the two in interleaved quads; where it cannot, the expression is timed by
// itself, and the speedup's interval is the quotient of the two intervals. The child draws from the task's
// distributions but not with the judge's secrets. It checks no output of the candidate, which has been judged; it
// reports how far the candidate's output is from the expression's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/core/compiled_program.h"
#include "tuner/evaluate/baseline/baseline_file.h"

namespace hone {

struct TorchOptions {
  std::vector<std::string> python_directories;  // where `python3` is looked for
  std::vector<std::string> environment;
  int ordinal = 0;  // ordinal of the GPU
  int64_t l2_bytes = 0;
  uint64_t seed = 1;
  const CompiledProgram* candidate = nullptr;   // if not null and its plan allows, timed against in interleaved quads
  DeviceFacts facts;                            // facts of the device; needed where there is a candidate
  std::string cuda_home = {};                   // whose compilers a module's process may run; empty: /usr/local/cuda
  double limit_seconds = 300;                   // for each case: torch.compile may take its time
};

// Times the candidate against a host-mode program; see LocalEvaluator. A verdict other than ok has no times.
using TimeAgainst = std::function<Result<Evaluation>(const std::string& source, const std::string& name)>;

// Fills `libraries` of the evaluation's timed cases. A missing library is no failure: the entry's detail says that it
// is missing, and how to get it. A spec with `module` times the task's own PyTorch module, in a confined process.
void TimeLibraries(const std::vector<LibrarySpec>& specs, const Task& task, const TimeAgainst& against,
                     const TorchOptions& torch, Evaluation* evaluation);

// Adds the torch_eager and torch_compiled entries of timed cases. One PyTorch process runs them all.
void TimeTorch(const LibrarySpec& spec, const Task& task, const std::vector<CaseResult*>& cases, const TorchOptions& options);

}  // namespace hone
