// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges what models write for KernelBench, a Python file with a class ModelNew, by a task that has a PyTorch module.
//
// A submission's code runs on the host and may launch anything. On a GPU it is judged "lifted" where that is possible:
// the work that its forward() gives the GPU is captured, and only this work is judged, in a process without the
// submission's code. Otherwise it is judged "hosted", which guarantees less (docs/finished-modules.md, "What
// a hosted verdict guarantees"). There are three kinds of process, each in a sandbox:
// * the referee draws inputs, computes the right results and measures time;
// * a stage runs a module: the submission, or on a GPU the task's own module as the baseline, so that both are timed
//   alike;
// * a player, one for each stage and only when lifted, runs the work that was captured in the stage.
// Without a GPU everything runs on the CPU, and nothing is timed.
//
// The calling process starts them and sends the referee one frame (base/process/frames.h) with the job: {"text",
// "file", "class", "training", "threads", "inputs", "outputs", "device", "cases": [{"sizes", "tensors", "outputs",
// "weights"}], "trials", "seed", "submission", "baselines", "l2_bytes", "launch_seconds", "time_seconds", "lift"}. The
// referee answers with any number of {"doing"}, then with {"verdict", "detail", "mismatch", "cases", "torch", "lifted",
// "seconds"}, {"not_lifted": sentence} or {"failed": sentence}. When lifted, it may ask that all stages be ended, by
// {"end_stages"}; otherwise it asks that the submission's be ended, by {"end_submission"}, and times the baselines
// again. Both are answered by {}. referee.py is the other side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/torch/python_process.h"

namespace hone {

struct HostedOptions {
  std::vector<std::string> environment;  // "NAME=value": PATH, HONE_PYTHON, and other variables that Python reads
  std::optional<Python> python;          // the Python that judges; nullopt: FindPython() finds it
  std::string cuda_home;                 // the CUDA toolkit that a submission may run; empty: /usr/local/cuda
  int gpu = -1;                          // ordinal of the GPU; -1: on the CPU, without times
  std::string gpu_name;                  // name of the GPU in the evaluation
  int64_t l2_bytes = 0;                  // size of the GPU's L2 cache
  int threads = 0;                   // threads of PyTorch on the CPU; 0: one per core
  bool compiled = false;             // time against the module compiled by torch.compile, too
  bool max_autotune = false;         // and against torch.compile in its mode max-autotune, which tries kernels for minutes
  bool lift = true;                  // on a GPU: try to judge lifted; false: judge hosted
  double launch_limit_seconds = 30;  // limit for one call of forward()
  double time_seconds = 10;          // after the least number of quads, limit for timing one case against one baseline
};

// Version of the checks of finished modules. It grows when they are tightened, and a campaign then judges again what an
// older version has judged. 2: new inputs for each half of a quad, and times are corrected for work outside the calls.
// 3: lifted launches have new inputs, and results of each timed request are compared.
inline constexpr int kHostedVersion = 3;

// Values of Evaluation::guarantee.
inline constexpr const char* kHostedGuarantee = "weaker: hosted";
inline constexpr const char* kLiftedGuarantee = "lifted";

// Returns whether the file is a submission: its name ends in .py.
bool IsSubmission(const std::string& file);

// Judges a submission at the sizes of the task's timed cases. Of `request`, the fields source, name, seed, time,
// correctness_trials and only_time_cases are used. `progress` is called from the calling thread. Errors:
// kInvalidArgument when the task has no PyTorch module or the source is too large; otherwise the environment failed,
// for example without Python or PyTorch.
Result<Evaluation> JudgeSubmission(const Task& task, const EvaluationRequest& request, const HostedOptions& options,
                                   const EvaluationProgress& progress = {});

}  // namespace hone
