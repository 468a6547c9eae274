// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The evaluator: given a task and a candidate, is it right, and how fast is it?
//
// One Evaluator owns compiler processes and one worker for its device; both outlive a candidate that
// crashes or hangs. Thread-safe: Evaluate may be called from many threads, compiles overlap, the device
// is held by one evaluation at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"

namespace hone {

struct EvaluatorOptions {
  std::string device = "auto";        // auto | cuda:N | sim | sim:NAME
  std::string executable;             // the path of the `hone` program, started again for workers and compilers
  std::string cache_directory;        // simulator headers, and compiled modules when `use_cache`
  bool use_cache = true;
  std::string cuda_home;              // where the CUDA toolkit lies; empty: the usual places
  std::vector<std::string> environment;  // "NAME=value" for workers: CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, …
  std::string cutlass_home;           // CUTLASS, for the `cute` include set; empty: the usual places
  bool simulate = true;               // false: as if no request asked for EvaluationRequest::simulate
  int compile_jobs = 0;               // 0: one per core
  double compile_limit_seconds = 60;
  double launch_limit_seconds = 10;   // of any one launch of a candidate
};

// A timing is looked at five times, with two groups (quads) more each time at least.
inline constexpr int kLeastQuads = 10, kMostQuads = 10000;
inline constexpr int kMostTrials = 1000;

struct EvaluationRequest {
  std::string source;                 // candidate text
  std::string name = "candidate.cu";
  Binding binding;                    // overrides of tunables
  std::string incumbent_source;       // timed against; empty: the task's seed
  std::string incumbent_name;
  Binding incumbent_binding;
  uint64_t seed = 0;                  // 0: drawn from the system
  bool time = true;                   // false: stop after correctness
  bool warm = true;                   // also time with warm caches where that makes sense
  int correctness_trials = 5;         // 1 to kMostTrials: random input sets of the first distribution at each timed case
  int max_quads = 0;                  // 0: the protocol's default; else kLeastQuads to kMostQuads
  bool check_cases = true;            // false: check and hidden cases are skipped and the verdict is labelled
                                      // "unchecked"; for calibrating the timer, never for judging a kernel
  bool allow_calls = true;            // false: a candidate whose plan calls a library breaks a rule
  bool simulate = true;               // on a GPU: small cases of what is right run on the simulated GPU too, where the candidate can run
                                      // there, and what it finds joins the verdict
  bool profile = false;               // count where the time goes: Evaluation::profile, and its findings among the others
  bool profile_gains = false;         // with `profile`: only where the kernel is faster, in the geometric mean, than the one
                                      // it is timed against, or is that one itself
  bool sass = false;                  // with `profile`: machine code beside the source, where disassemblers are found
  bool libraries = false;             // time what the task's baseline.toml names too: CaseResult::libraries
  std::vector<size_t> only_time_cases;  // indices among the task's time cases; empty: all
};

using EvaluationProgress = std::function<void(const std::string& phase, const std::string& detail)>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual const DeviceFacts& facts() const = 0;
  // Never fails because of the candidate; a Status says that the environment did, or (kInvalidArgument) which field of
  // the request makes no sense.
  virtual Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                                      const EvaluationProgress& progress = {}) = 0;
  // Whether candidates with this include set (LaunchPlan::include_set) can be judged here: kUnavailable, with the remedy.
  // Ok where only a judge elsewhere knows, which then says `unsupported`.
  virtual Status CanInclude(std::string_view include_set) const {
    (void)include_set;
    return Status::Ok();
  }
  // One sentence for each protection that this machine's kernel lacks for compilers and candidates, naming what that
  // leaves open; empty when all hold. The application tells its user, once.
  virtual std::vector<std::string> SandboxWarnings() const { return {}; }
};

// kUnavailable says what is missing (driver, NVRTC, compiler) and the remedy.
Result<std::unique_ptr<Evaluator>> MakeEvaluator(const EvaluatorOptions& options);

}  // namespace hone
