// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TaskReport holds the linter's findings about a task: whether its oracle is right, whether trivial answers pass, and
// whether its tolerance separates honest kernels from imprecise ones. It is a plain value with a JSON form and a text
// for people.
//
// `problems` make a task invalid: no verdict reached with it could be believed. `warnings` do not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

// A HandCheck is one [[hand]] case: whether the oracle reproduced it, and whether the seed came within the tolerance.
struct HandCheck {
  Dims dims;
  bool oracle_ok = false;
  bool seed_ok = true;  // true where there is no seed
  std::string detail;   // first difference; empty when both are right
};

// An InputInfluence says whether an input changes the result by more than the tolerance allows.
struct InputInfluence {
  std::string input;  // tensor or scalar
  bool scalar = false;
  double rms_change = 0;  // of the output it changes most, relative to that output's root mean square
  bool matters = false;   // tensors: above c_rms and c_max of some output. Scalars: any change at all
};

// A TrivialAnswer is an answer that must not pass, and its errors against the oracle.
struct TrivialAnswer {
  std::string output;  // name of the output
  std::string answer;  // "zeros", "mean", "copy of x"
  double max_scaled = 0;
  double rms_error = 0;
  bool accepted = false;  // true: the tolerance lets it pass, which is a problem
};

// A PrecisionTrial is one precision tried on one output; errors are the worst over the check cases, with each tensor's
// own values.
struct PrecisionTrial {
  std::string variant;    // "float32", "seed", "tf32_inputs", …
  std::string judgement;  // honest, tolerated or dishonest
  double rms_error = 0;   // infinite where the output was not finite
  double max_scaled = 0;
  double stress_max_scaled = 0;  // for honest variants: worst max_scaled over the stress inputs
  double max_small =
      0;  // worst error of an element relative to its own size (Comparison::max_small), on all inputs tried
  bool accepted = false;    // c_max and c_rms accept the output on every check case
  bool has_effect = false;  // this output depends on the operations whose precision was changed
};

struct OutputPrecision {
  std::string output;
  Tolerance tolerance;
  std::vector<PrecisionTrial> trials;
  double honest_rms = 0;  // worst rms error of the honest variants; where all are exact, a fraction of half an ulp
  double dishonest_rms =
      0;  // least rms error of the dishonest variants that this output can distinguish from honest ones; 0: none
  std::string least_dishonest;  // name of the variant with `dishonest_rms`
  double gap = 0;               // dishonest_rms / honest_rms; 0: there is no dishonest variant
  double proposed_c_rms = 0;    // geometric midpoint of honest_rms and dishonest_rms; 0: no proposal
  double proposed_c_max = 0;    // twice the worst honest max_scaled, stress inputs included; 0: no proposal, because an
                                // honest output is not finite where the oracle's is, or is wrong by half its size
  double proposed_c_small =
      0;  // four times the worst honest max_small; 0: honest kernels have no relative accuracy there
};

// A FloorCheck holds the seed's time and the floor of the timed case that moves most bytes. A seed far faster than the
// floor shows that the task counts bytes that need not move.
struct FloorCheck {
  Dims dims;
  double seed_us = 0;
  double floor_us = 0;
  bool modelled = false;  // both times are modelled, by the simulated GPU
};

// A WholeNumbers is an output of integers. No lower precision is tried on it, because rounding to integers would hide
// the error.
struct WholeNumbers {
  std::string output;
  std::string dtype;
  Tolerance tolerance;
};

// A CancellingOutput is an output whose elements are sums that may cancel. An element far smaller than its neighbors
// has no correct digits in an honest kernel, and a slice of few elements may hold only such elements.
struct CancellingOutput {
  std::string output;
  int64_t fewest = 0;       // number of elements in the smallest slice of a check case
  double error = 0;         // worst absolute error of the seed that exceeds c_max times the element itself
  double value = 0;         // the oracle's value there
  double proposed_abs = 0;  // twelve times `error`, rounded up to one digit
};

struct TaskReport {
  std::string task;
  bool module = false;  // the reference is a PyTorch module: `hone new` derived the tolerances, at larger sizes than these checks have
  std::string device;
  uint64_t seed = 0;
  std::vector<HandCheck> hand;
  std::vector<InputInfluence> inputs;
  std::vector<TrivialAnswer> trivial;
  std::vector<OutputPrecision> precision;
  std::vector<CancellingOutput> cancelling;  // outputs whose `abs` is too small for a check case with short slices
  std::vector<WholeNumbers> whole_numbers;   // empty where precisions were not to be tried at all
  std::optional<FloorCheck> floor;  // absent: no seed, no timed case that this device can hold, or nothing to move
  int seed_runs = 0;                // number of checks of the seed: cases times input sets
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
  std::string nan_answer;  // the warning that the oracle answers NaN where no input is NaN; empty: it does not
  // The part of `warnings` that says which lower precisions the tolerance of a PyTorch module's task cannot refuse.
  std::vector<std::string> indistinct;
  double seconds = 0;

  bool valid() const { return problems.empty(); }
};

// Returns the fields above as JSON, with "verdict": "ok" or "invalid_task". Numbers that are not finite become null.
std::string TaskReportToJson(const TaskReport& report, int indent = 2);
// Returns text for a terminal: a few lines for each section, and the verdict at the end.
std::string TaskReportToText(const TaskReport& report);

}  // namespace hone
