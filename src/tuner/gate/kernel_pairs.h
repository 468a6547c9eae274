// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the kernels of two trees and says which of head's is which of the base's, renamed ones included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/gate/source_tree.h"
#include "tuner/gate/task_changes.h"

namespace hone {

// A kernel that lies outside its task's folder.
struct KernelPlace {
  std::string task;  // the task's folder, or its last part
  std::string path;  // the .cu file, from the tree's top
};

// A kernel that differs between the trees, in text or in name.
struct KernelPair {
  std::string path;                          // in head's tree; in the base's, where head lacks it
  std::string was;                           // the base's path where it is another one; else empty
  std::string task_folder;                   // of its task, in head's tree; in the base's, where head lacks it
  std::string base_folder;                   // of the base's task; kNoTask: the base lacks it
  std::optional<std::string> before, after;  // the texts; absent: that tree has no such kernel
};

// Kernels are the .cu files in tasks' folders that begin with a launch plan and are no oracle, and `places`. A kernel
// that only head has and one of the same task that only the base has are one renamed kernel where they share at least
// half of their lines. By path; kernels that are the same in both trees are left out. kInvalidArgument: a place is in
// neither tree, or its task is not known.
Result<std::vector<KernelPair>> FindChangedKernels(const TreePair& trees, const TaskPairs& tasks,
                                                   const std::vector<KernelPlace>& places);

// The share of lines that two texts have in common, of the longer one's, from 0 to 1. Blank lines do not count.
double LinesInCommon(const std::string& a, const std::string& b);

}  // namespace hone
