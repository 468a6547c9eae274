// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges a candidate of a task: is it right, and how fast is it?
//
// One Evaluator owns compiler processes and one worker process for its device; a candidate that crashes or hangs harms
// neither. Thread-safe: Evaluate may be called from many threads; compilations overlap, and one evaluation at a time
// uses the device.
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
  std::string cuda_home;              // folder of the CUDA toolkit; empty: the usual places
  std::vector<std::string> environment;  // "NAME=value" for workers: CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, …
  std::string cutlass_home;           // CUTLASS, for the `cute` include set; empty: the usual places
  bool simulate = true;               // false: EvaluationRequest::simulate is ignored
  int compile_jobs = 0;               // 0: one per core
  double compile_limit_seconds = 60;
  double launch_limit_seconds = 10;   // limit on any one launch of a candidate
  // For a queue: is called with the reason why an answer is waited for, once a minute and whenever the reason changes.
  // Any waiting thread may call it.
  std::function<void(const std::string& why)> waiting = {};
};

// Limits on EvaluationRequest::max_quads. A quad is a group of four timings (ABBA or BAAB). The sequential test
// analyses the data five times, each time with at least two more quads.
inline constexpr int kLeastQuads = 10, kMostQuads = 10000;
inline constexpr int kMostTrials = 1000;

struct EvaluationRequest {
  std::string source;                 // candidate text
  std::string name = "candidate.cu";
  Binding binding;                    // overrides of tunables
  std::string incumbent_source;       // the kernel to compare with; empty: the task's seed
  std::string incumbent_name;         // used in messages
  Binding incumbent_binding;
  uint64_t seed = 0;                  // 0: drawn from the system
  bool time = true;                   // false: stop after correctness
  bool warm = true;                   // also time with warm caches, if a case's tensors have at most four times the L2 size
  // Number of random input sets, of the first distribution, at each timed case: 1 to kMostTrials.
  int correctness_trials = 5;
  int max_quads = 0;                  // 0: the protocol's default; else kLeastQuads to kMostQuads
  // If false, check and hidden cases are skipped, and the verdict is labelled "unchecked". Meant for calibrating the
  // timer, never for judging a kernel.
  bool check_cases = true;
  bool allow_calls = true;            // false: a plan that calls a library breaks a rule
  // On a GPU, true: candidates that are right also run small cases on the simulated GPU, if they can run there. What
  // the simulator finds becomes part of the verdict.
  bool simulate = true;
  bool profile = false;               // fills Evaluation::profile, and adds its findings to the others
  // With `profile`, true: profile only a candidate that is faster than the incumbent (by the geometric mean) or that is
  // the incumbent.
  bool profile_gains = false;
  bool sass = false;                  // with `profile`: also machine code beside the source, if disassemblers are found
  bool libraries = false;             // also time the libraries of the task's baseline.toml: CaseResult::libraries
  std::vector<size_t> only_time_cases;  // indices among the task's time cases; empty: all
};

// The tools of the machine that judges, as it states them.
struct JudgeTools {
  bool stated = false;     // false: nothing is known, because the judge is elsewhere and has not stated its tools
  std::string toolkit;     // what compiles candidates: "NVRTC 12.8", or the host compiler of the simulated GPU
  std::string cutlass;     // version of CUTLASS, which holds CuTe's headers: "4.2.1"; empty: there is none
  std::string no_cutlass;  // with `cutlass` empty: why candidates that use CuTe cannot be judged, and the remedy
};

using EvaluationProgress = std::function<void(const std::string& phase, const std::string& detail)>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual const DeviceFacts& facts() const = 0;
  // Judges a candidate. Never fails because of the candidate; a Status means that the environment failed, or
  // (kInvalidArgument) names a field of the request that makes no sense.
  virtual Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request,
                                      const EvaluationProgress& progress = {}) = 0;
  // Checks that candidates with this include set (LaunchPlan::include_set) can be judged here. If not: kUnavailable,
  // with the remedy. OK also if a judge on another machine has not stated its tools; that judge then may give the
  // verdict `unsupported`.
  virtual Status CanInclude(std::string_view include_set) const {
    (void)include_set;
    return Status::Ok();
  }
  // Returns the tools of the machine that judges.
  virtual JudgeTools Tools() const { return {}; }
  // Returns a sentence on what is assumed of a judge on another machine, because no worker there has stated its device
  // and tools; empty: nothing is assumed. The application shows it once.
  virtual std::string Assumed() const { return ""; }
  // Returns one sentence for each protection against compilers and candidates that this machine's kernel lacks. Each
  // names what a hostile program could still do. Empty when no protection is missing. The application shows the
  // sentences once.
  virtual std::vector<std::string> SandboxWarnings() const { return {}; }
};

// Makes an Evaluator. kUnavailable names what is missing (driver, NVRTC, compiler) and the remedy.
Result<std::unique_ptr<Evaluator>> MakeEvaluator(const EvaluatorOptions& options);

}  // namespace hone
