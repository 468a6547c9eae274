// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A TaskReport holds the linter's findings about a task: whether its oracle is right, whether it can be fooled, and
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

// A TrivialAnswer is an answer that must not pass: "zeros", "mean", "copy of x".
struct TrivialAnswer {
  std::string output;
  std::string answer;
  double max_scaled = 0;
  double rms_error = 0;
  bool accepted = false;
};

// A PrecisionTrial is one precision tried on one output; errors are the worst over the check cases, with each tensor's
// own values.
struct PrecisionTrial {
  std::string variant;    // "float32", "seed", "tf32_inputs", …
  std::string judgement;  // honest, tolerated or dishonest
  double rms_error = 0;   // infinite where the output was not finite
  double max_scaled = 0;
  double stress_max_scaled = 0;  // for honest variants: worst max_scaled over the stress sets
  double max_small =
      0;  // worst error of an element relative to its own size (Comparison::max_small), on all sets tried
  bool accepted = false;    // by c_max and c_rms, on every check case
  bool has_effect = false;  // whether this output depends on the operations whose precision was changed
};

struct OutputPrecision {
  std::string output;
  Tolerance tolerance;
  std::vector<PrecisionTrial> trials;
  double honest_rms = 0;  // worst rms error of the honest variants; where all are exact, a fraction of half an ulp
  double dishonest_rms =
      0;  // least rms error of the dishonest variants that this output can distinguish from honest ones; 0: none
  std::string least_dishonest;  // name of the variant of `dishonest_rms`
  double gap = 0;               // dishonest / honest; 0: none
  double proposed_c_rms = 0;    // their geometric midpoint; 0: none
  double proposed_c_max = 0;    // twice the worst honest max_scaled, stress sets included; 0: none, for an honest
                                // output is not finite where the oracle's is, or is wrong by half its size
  double proposed_c_small =
      0;  // four times the worst honest max_small; 0: honest kernels have no relative accuracy there
};

// A FloorCheck holds the seed's time on the timed case that moves most bytes, beside its floor: a kernel far faster
// than its floor shows that the task counts bytes that need not move.
struct FloorCheck {
  Dims dims;
  double seed_us = 0;
  double floor_us = 0;
  bool modelled = false;
};

// A WholeNumbers is an output of integers: no lower precision is tried on it, because rounding to whole numbers hides
// it.
struct WholeNumbers {
  std::string output;
  std::string dtype;
  Tolerance tolerance;
};

// A CancellingOutput is an output whose elements cancel. An honest kernel keeps no correct digits of elements far below
// their neighbors' size, and a slice of few elements may hold no others.
struct CancellingOutput {
  std::string output;
  int64_t fewest = 0;       // elements of the smallest slice that a check case has
  double error = 0;         // the worst error of the seed where it is above c_max of the element itself
  double value = 0;         // the oracle's value there
  double proposed_abs = 0;  // twelve times `error`, rounded up to one digit
};

struct TaskReport {
  std::string task;
  std::string device;
  uint64_t seed = 0;
  std::vector<HandCheck> hand;
  std::vector<InputInfluence> inputs;
  std::vector<TrivialAnswer> trivial;
  std::vector<OutputPrecision> precision;
  std::vector<CancellingOutput> cancelling;  // where `abs` is too small for a check case with few elements a slice
  std::vector<WholeNumbers> whole_numbers;   // empty where precisions were not to be tried at all
  std::optional<FloorCheck> floor;  // absent: no seed, no timed case that this device can hold, or nothing to move
  int seed_runs = 0;                // how often the seed was checked: cases times input sets
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
  double seconds = 0;

  bool valid() const { return problems.empty(); }
};

// Writes the fields above; "verdict" is "ok" or "invalid_task". Numbers that are not finite become null.
std::string TaskReportToJson(const TaskReport& report, int indent = 2);
// Writes text for a terminal: a few lines a section, the verdict last.
std::string TaskReportToText(const TaskReport& report);

}  // namespace hone
