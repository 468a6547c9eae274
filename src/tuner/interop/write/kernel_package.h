// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Collects the kernels to export to a user's program: a run's winner, the seed as its fallback and the rule that
// selects one of them by shape; or a candidate's file with its own plan's conditions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "hone/tuner/task.h"

namespace hone {

// One timed shape, with the times that decide the rule.
struct PackagedShape {
  Dims dims;
  double winner_us = 0, seed_us = 0;  // median times of one launch, microseconds
  Interval speedup;   // the seed's time / the winner's
  bool wins = false;  // the lower end of `speedup` is above 1
};

struct KernelPackage {
  Task task;
  Candidate winner, seed;
  Binding winner_binding;                // the seed runs with its first choices
  std::vector<std::string> seed_shapes;  // expressions over the dimensions; if one holds, the seed runs
  std::vector<PackagedShape> shapes;     // the timed shapes; empty for a file
  std::string run;   // the run's id; empty: the package is made from a file
  int64_t node = 0;  // the winner's node in the run
  std::string file;  // name of the candidate's file; empty: the package is made from a run
  std::string start;      // what the winner is compared with, as in "faster than the seed"; empty: the package is made from a file
  std::string device;     // device of the run
  bool modelled = false;  // the times are modelled, not measured
  bool other_seed = false;  // the run began with a kernel of its own (--seed-kernel): `seed` is that one, not the task's
  bool paired = false;    // the winner and the seed were timed in turn; false: each at another time
  std::string guarantee = "full";  // Evaluation::guarantee of the winner
};

// Makes a package from `source`, a candidate for `task` that messages call `file`. The candidate runs for every shape
// that its plan handles; the task's seed runs for the others, as when the candidate is judged, and on devices that the
// candidate's plan does not support. The package has no times. kInvalidArgument when the file is not a candidate of the
// task or is in host mode.
Result<KernelPackage> MakeFilePackage(const Task& task, std::string_view source, const std::string& file);

// Makes a package from a run. `node` < 0: the run's best node, which must have passed its final check, timed in turn
// with the seed. For another node the times are those of its own evaluation, and the seed's may be from another one.
// kInvalidArgument says what the run lacks, and the remedy.
Result<KernelPackage> MakeKernelPackage(RunStore& store, const RunView& view, int64_t node = -1);

}  // namespace hone
