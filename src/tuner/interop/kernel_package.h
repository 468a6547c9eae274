// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What leaves for somebody's program: a run's winner with the seed it falls back to and the rule that tells them apart
// by shape, or a candidate's file with what its own plan says.
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

// One timed shape, as it decided the rule.
struct PackagedShape {
  Dims dims;
  double winner_us = 0, seed_us = 0;
  Interval speedup;   // seed / winner
  bool wins = false;  // surely faster: the lower end of the interval is above 1 (modelled times: the value itself)
};

struct KernelPackage {
  Task task;
  Candidate winner, seed;
  Binding winner_binding;                // the seed runs with its first choices
  std::vector<std::string> seed_shapes;  // expressions over the dimensions; where one holds, the seed runs
  std::vector<PackagedShape> shapes;
  std::string run;  // empty: from a file
  int64_t node = 0;
  std::string file;  // the candidate's file; empty: from a run
  std::string device;
  bool modelled = false;
  bool paired = false;  // the times come from a pairing of the winner with the seed itself
  std::string guarantee = "full";
};

// A candidate's file for `task`, named `file` in messages: it runs for every shape that its plan serves, the task's
// seed for the others, as when it is judged, and no times stand behind it. Where the winner needs a newer device than
// there is, the task's seed runs as well. kInvalidArgument when the
// file is no candidate of the task or is in host mode.
Result<KernelPackage> MakeFilePackage(const Task& task, std::string_view source, const std::string& file);

// `node` < 0: the run's best, which must have passed its final pairing with the seed. Another node is taken with the
// times it and the seed had, each in its own sitting. kInvalidArgument says what the run lacks and what to do about it.
Result<KernelPackage> MakeKernelPackage(RunStore& store, const RunView& view, int64_t node = -1);

}  // namespace hone
