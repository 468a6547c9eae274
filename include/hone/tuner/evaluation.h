// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the evaluator's judgement of a candidate. The set of verdicts is closed; timings exist only when the verdict is
// `ok`. The JSON form is stable and described in docs/evaluation-json.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/profile.h"
#include "hone/tuner/task.h"

namespace hone {

enum class Verdict {
  kOk,
  kParseError,  // the plan or the file's form is wrong
  kCompileError,
  kResourceLimit,  // needs more registers, shared memory, threads or memory than there is
  kLaunchError,    // the plan does not resolve for a case, or the driver refused the launch
  kCrashed,        // illegal access, trap, misaligned access, device assert
  kTimedOut,
  kWrongOutput,
  kRuleViolation,  // kept state, wrote outside its buffers, changed an input, used something forbidden
  kUnsupported,    // this device cannot judge it (wgmma on the simulator)
  kInvalidTask,    // the task, not the candidate, is at fault
  kDeviceLost,     // the device or its worker was lost for a reason that is not the candidate's
};
std::string_view VerdictName(Verdict v);
std::optional<Verdict> VerdictFromName(std::string_view name);

// An estimate with its 95 % confidence interval.
struct Interval {
  double median = 0;
  double low = 0;   // ends of the interval
  double high = 0;
};

// The state of the GPU's caches when a time was taken: without the inputs, or as the previous execution left them.
enum class CacheState { kCold, kWarm };

// How a case's time was measured, and what the comparison with the incumbent came to.
struct TimingDetail {
  std::string status;       // stable | inconclusive | throttled | contended | modelled
  std::string decision;     // faster | slower | same | undecided: the sequential test's answer (docs/timing.md)
  int quads = 0;            // groups of four timings, two of either kernel (ABBA or BAAB), that were kept
  int discarded_quads = 0;  // groups left out as outliers
  int plans_per_sample = 1; // executions of the plan in one timed CUDA graph
  int looks = 0;            // analyses of the data that the sequential test has made
};

// The time of a library that the task's baseline.toml names, for the same case.
struct LibraryResult {
  std::string name;                // cublaslt_first | cublaslt_best | torch_eager | torch_compiled
  std::optional<double> time_us;   // cold, median
  std::optional<Interval> speedup; // library / candidate: above 1, the candidate is faster
  std::string detail;              // version and function called; without a time: the reason and the remedy
};

// The result for one case: its errors and, if it is a timed case, its times. Where times are absent, they were not
// measured.
struct CaseResult {
  Dims dims;
  CaseRole role = CaseRole::kTime;
  std::optional<Interval> time_us;       // of the candidate, cold caches
  std::optional<double> baseline_us;     // of the incumbent, by the same protocol, cold caches
  std::optional<Interval> speedup;       // incumbent / candidate, cold
  std::optional<Interval> warm_time_us;
  std::optional<double> warm_baseline_us;
  std::optional<Interval> warm_speedup;
  std::optional<double> calls_us;        // time of the plan's library calls alone, cold; absent: there are none
  std::optional<double> floor_us;        // time of a streaming kernel that moves the same bytes, by the same protocol
  std::optional<double> floor_fraction;  // floor_us / time_us.median
  std::optional<double> refuse_below_us;  // a cold time below this is refused as impossible
  TimingDetail timing;
  double max_scaled_error = 0;           // worst over outputs and input sets
  double rms_error = 0;
  double sampled_block_fraction = 1.0;   // < 1: the simulator ran a stratified sample of blocks
  std::vector<LibraryResult> libraries;  // in the order of baseline.toml; empty: none, or not requested
  // If true, the task's seed ran, because no alternative of the candidate's plan holds for this case.
  bool fallback = false;
};

// Largest credible ratio of the floor kernel's time to a candidate's. The floor kernel is good but not perfect: the
// best kernels were 1.16 times as fast (examples/runs/h200). A larger ratio means that the task counts bytes that a
// launch need not move.
inline constexpr double kFloorIsWrong = 1.2;
inline bool FloorIsWrong(const CaseResult& c) { return c.floor_fraction.value_or(0) > kFloorIsWrong; }

// Resources of one kernel, as reported by the compiler or the driver.
struct KernelResources {
  std::string kernel;
  int registers = -1;          // -1: not known on this device
  int64_t spill_bytes = 0;     // local memory per thread
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_bytes = 0;
  double occupancy = 0;        // fraction of the SM's threads, at the first timed case; 0: not known
};

// One stage of an evaluation, with the time that it took.
struct Stage {
  std::string name;    // plan, compile, load, check, time, …
  double seconds = 0;
  bool holds_device = false;  // true: other evaluations had to wait meanwhile
};

// The first place where an output was wrong.
struct Mismatch {
  std::string tensor;
  Dims dims;
  std::string distribution;    // of the inputs: "normal", "cancelling", …
  std::vector<int64_t> index;  // of the first wrong element, one number per axis
  double expected = 0;
  double actual = 0;
  int64_t wrong_elements = 0;
  int64_t total_elements = 0;
  uint64_t seed = 0;  // the number from which the inputs of this launch were drawn
};

// A finding of the simulator or the profiler, with its source line if known. Findings of several shapes about one line
// are merged; the figures are those of `dims`.
struct Finding {
  std::string kind;      // shared_race, out_of_bounds, bank_conflict, uncoalesced, untested_alternative, …
  std::string message;
  std::string location;  // "candidate.cu:41", or empty
  Dims dims = {};        // the shape that was launched; empty: found without a launch, or written by an older version
  bool timed = false;    // `dims` is a timed case; false: a check case, whose figures may not hold for larger shapes
  int64_t shapes = 0;    // number of shapes with this finding, `dims` included; 0: not counted
};

// Version of the gates that a candidate must pass. It grows when gates are tightened: a verdict of an older version
// then proves less (docs/precision.md, "The version of the gates").
inline constexpr int kGatesVersion = 8;

struct Evaluation {
  Verdict verdict = Verdict::kInvalidTask;
  std::string detail;              // the facts that a person or an agent needs to act; compiler text as a digest
  std::string log;                 // whole compiler text
  std::string task;
  std::string candidate;           // name
  std::string source_hash;         // SHA-256 of the source
  std::string device;              // "cuda:0 NVIDIA H200"
  bool modelled = false;
  std::string guarantee = "full";  // "weaker: host mode" for host-mode candidates
  std::string baseline;            // name of the incumbent that it is compared with
  Binding binding;
  std::vector<std::string> labels; // "emulated_fp32", "nondeterministic", …
  std::vector<CaseResult> cases;
  std::optional<double> geomean_speedup;
  std::vector<KernelResources> resources;
  std::vector<Stage> stages;
  std::vector<Finding> findings;
  std::optional<Mismatch> mismatch;
  std::optional<Profile> profile;  // only if the request asked for it and the verdict is ok
  double wall_seconds = 0;         // from request to verdict
  double device_seconds = 0;       // the part of wall_seconds that held the device
  // The kGatesVersion of the judge that gave the verdict; 0: the judge had no versions yet, or no judge was asked.
  int gates = 0;
  uint64_t seed = 0;               // the secret seed, published afterwards so that a verdict can be replayed
  std::map<std::string, double> metrics;  // counters: pch_misses, cache_hits, accesses, …
};

// Returns the geometric mean of the cases' cold speedups; nullopt when no case has one.
std::optional<double> GeomeanSpeedup(const std::vector<CaseResult>& cases);

// Returns the stable JSON text (docs/evaluation-json.md); `indent` < 0 writes one line.
std::string EvaluationToJson(const Evaluation& evaluation, int indent = 2);
Result<Evaluation> EvaluationFromJson(std::string_view json);

}  // namespace hone
