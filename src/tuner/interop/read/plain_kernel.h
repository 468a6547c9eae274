// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds a launch plan for a plain .cu file, one that has none: a user who has made a task of a kernel writes the next
// version as such a file, with or without the test program below it.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

struct PlannedKernel {
  std::string text;  // a candidate: the file's device code in its own lines, and the plan behind it
  std::string note;  // what the plan is and where it is from, for the user; empty: the file has a plan already
};

// Returns `source`, the file `file`, as a candidate of `task`. A file that has a plan, or that cannot be read as CUDA
// with a kernel, is returned as it is, without a note. Otherwise the plan is made from the file's own launches, as
// `hone new` does, if the result names the task's tensors and dimensions; else it is the plan of the task's seed, if
// its kernels and their parameters match. Host code becomes empty lines, so that compilers' messages name the file's
// lines.
//
// kInvalidArgument: neither plan fits. The message says why, and what to write.
Result<PlannedKernel> PlanPlainKernel(const Task& task, std::string_view source, const std::string& file);

}  // namespace hone
