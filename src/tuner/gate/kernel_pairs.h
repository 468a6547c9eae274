// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file finds the kernels that differ between two trees, base and head, and pairs each of head's kernels with the
// base's, renamed ones included.
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
  std::string task;  // path of the task's folder, or its last part
  std::string path;  // path of the .cu file, from the tree's top
};

// A kernel that differs between the trees, in text or in name.
struct KernelPair {
  std::string path;         // path in head's tree; if head lacks the kernel, in the base's
  std::string was;          // path in the base's tree, if that is another one; else empty
  std::string task_folder;  // folder of the kernel's task in head's tree; if head lacks the kernel, in the base's
  std::string base_folder;  // folder of the base's task; kNoTask: the base lacks the task
  std::optional<std::string> before;  // the kernel's text in the base; nullopt: the base lacks the kernel
  std::optional<std::string> after;   // the kernel's text in head; nullopt: head lacks the kernel
};

// Returns the kernels that differ between the trees, sorted by path. Kernels are the .cu files in tasks' folders that
// contain a launch plan and are no oracle, and those of `places`. If one kernel is only in head and another of the same
// task is only in the base, and they share at least half of their lines, they are one renamed kernel. Returns
// kInvalidArgument if a place is in neither tree, or its task is not known.
Result<std::vector<KernelPair>> FindChangedKernels(const TreePair& trees, const TaskPairs& tasks,
                                                   const std::vector<KernelPlace>& places);

// A file with kernels that head changed or added, and that is not judged.
struct UnjudgedFile {
  std::string path;  // in head's tree
  // The task in whose folder the file lies without a launch plan; kNoTask: it lies in no task's folder.
  std::string task_folder;
  bool added = false;  // the base lacks the file
};

// Returns such files, sorted by path: .cu files that contain `__global__` and are not among those of
// FindChangedKernels. `places` is as there.
std::vector<UnjudgedFile> FindUnjudgedFiles(const TreePair& trees, const std::vector<KernelPlace>& places);

// Returns the share of the longer text's lines that the two texts have in common, from 0 to 1. Blank lines do not
// count, nor does white space around a line.
double LinesInCommon(const std::string& a, const std::string& b);

}  // namespace hone
