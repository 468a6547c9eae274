// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says what a change does to tasks. A reviewer has to see every change of what kernels are judged by, so whole files
// are compared, and the fields of task.toml that differ are named with both values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/gate/source_tree.h"

namespace hone {

// How the tasks of two trees belong together.
struct TaskPairs {
  // Folders of tasks in head, with the folder of the base's task that judges their kernels: the same folder, or the one
  // that a task of this name had before head moved it. "?" (which is no folder): the base lacks the task.
  std::map<std::string, std::string> base_of;
  std::vector<std::string> gone;  // folders of the base's tasks that head lacks
};
inline constexpr std::string_view kNoTask = "?";

// Folders of a tree that hold a task.toml, sorted.
std::vector<std::string> TaskFolders(const SourceTree& tree);

TaskPairs PairTasks(const SourceTree& base, const SourceTree& head);

// Sentences, sorted: which tasks head changed, moved, added or removed, and how.
Result<std::vector<std::string>> DescribeTaskChanges(const SourceTree& base, const SourceTree& head,
                                                     const TaskPairs& pairs);

// The fields in which two TOML texts differ, at most `most` of them and a count of the rest: "tolerance.out.c_small:
// 0.001 becomes 0". Entries of arrays of tables are told apart by their field `name`, and where they have none by their
// contents, so that one more [[case]] is one difference. Empty: none differs, or one cannot be read.
std::string DescribeTomlChanges(std::string_view before, std::string_view after, size_t most = 8);

}  // namespace hone
