// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges what models write for KernelBench: a Python file with a class ModelNew, against a task with a PyTorch module.
//
// A module's code runs on the host and launches what it likes. On a GPU it is lifted where that is possible: what its
// forward does to the GPU is captured, and that alone is judged, in a process without the submission's code. Otherwise
// it is judged hosted, which guarantees less (docs/torch.md, "What a verdict guarantees"). Kinds of process, each
// confined: the referee draws inputs, computes what is right and keeps the time; a stage runs the submission; on a GPU
// another stage runs the module itself as the baseline, so that both are timed alike; lifted, a player for each stage
// runs what was captured there. Without a GPU everything runs on the CPU and no time is taken.
//
// This process starts them and sends the referee one frame: {"text", "file", "class", "training", "threads", "inputs",
// "outputs", "device", "cases": [{"sizes", "tensors", "outputs"}], "trials", "seed", "submission", "baselines",
// "l2_bytes", "launch_seconds", "time_seconds", "lift"}. It answers with any number of {"doing"}, then {"verdict",
// "detail", "mismatch", "cases", "torch", "lifted"}, {"not_lifted": sentence} or {"failed": sentence}. referee.py is
// the other side.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

struct HostedOptions {
  std::vector<std::string> environment;  // "NAME=value": PATH, HONE_PYTHON, and what else Python looks at
  std::string cuda_home;                 // whose compilers a submission may run; empty: /usr/local/cuda
  int gpu = -1;                          // ordinal; -1: on the CPU, without times
  std::string gpu_name;                  // for the evaluation
  int64_t l2_bytes = 0;
  int threads = 0;                   // threads of PyTorch on the CPU; 0: one per core
  bool compiled = false;             // time against torch.compile of the module too
  bool lift = true;                  // on a GPU: lift what can be; false: judge hosted
  double launch_limit_seconds = 30;  // limit of one call of forward
  double time_seconds = 10;          // limit for timing each case and baseline, beyond the first quads
};

// Evaluation::guarantee
inline constexpr const char* kHostedGuarantee = "weaker: hosted";
inline constexpr const char* kLiftedGuarantee = "lifted";

// Returns whether this file is a submission: Python, not CUDA.
bool IsSubmission(const std::string& file);

// `request`: source, name, seed, time, correctness_trials and only_time_cases count. A Status says that the environment
// failed: no Python, no PyTorch; kInvalidArgument: the task has no PyTorch module.
Result<Evaluation> JudgeSubmission(const Task& task, const EvaluationRequest& request, const HostedOptions& options,
                                   const EvaluationProgress& progress = {});

}  // namespace hone
