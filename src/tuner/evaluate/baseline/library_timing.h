// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file times a candidate that has been judged against the libraries that the task's baseline.toml names.
//
// cuBLASLt is an incumbent like any other: a host-mode program, checked by the oracle and timed against the candidate
// in interleaved pairs. PyTorch is the user's own installation: a child process draws inputs of the task's
// distributions, times the expression in eager and in compiled mode with flushed caches, and hands the times back. The
// child launches the candidate as well and times the two in interleaved quads. Where it cannot launch the candidate, it
// times the expression alone, and the speedup's interval is the quotient of the two intervals. PyTorch draws the
// inputs, so they are not those that the judge drew. The child does not check the candidate's outputs, because the
// judge has; it reports how far they are from the expression's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/core/program/compiled_program.h"
#include "tuner/evaluate/baseline/baseline_file.h"

namespace hone {

struct TorchOptions {
  std::vector<std::string> python_directories;  // folders in which `python3` is looked for
  std::vector<std::string> environment;         // of the child process, "NAME=value"
  int ordinal = 0;                              // number of the GPU
  int64_t l2_bytes = 0;                         // size of the GPU's L2 cache
  uint64_t seed = 1;                            // seed of the child's random numbers
  const CompiledProgram* candidate = nullptr;   // timed in interleaved quads, if its plan allows that; null: not timed
  DeviceFacts facts;                            // of the GPU; needed where `candidate` is not null
  std::string cuda_home = {};                   // toolkit whose compilers a module may run; empty: /usr/local/cuda
  std::vector<std::string> modes = {"eager", "compiled"};  // which of them are timed
  double limit_seconds = 300;                   // of wall-clock time for each case; torch.compile may take minutes
};

// Times the candidate against a host-mode program with this source and name, as if that were the incumbent. An
// evaluation whose verdict is not ok has no times.
using TimeAgainst = std::function<Result<Evaluation>(const std::string& source, const std::string& name)>;

// Fills CaseResult::libraries of the evaluation's timed cases. A missing library is no failure: the entry's detail says
// that it is missing, and how to get it. A spec with `module` times the task's own PyTorch module, in a confined
// process.
void TimeLibraries(const std::vector<LibrarySpec>& specs, const Task& task, const TimeAgainst& against,
                   const TorchOptions& torch, Evaluation* evaluation);

// Adds the entries NAME_eager and NAME_compiled (those of torch.modes), with the spec's name, to `cases`, which are timed
// cases. One PyTorch process runs them all.
void TimeTorch(const LibrarySpec& spec, const Task& task, const std::vector<CaseResult*>& cases,
               const TorchOptions& options);

}  // namespace hone
