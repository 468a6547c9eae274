// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file describes what a change does to tasks. A reviewer must see every change of the files by which kernels are
// judged, so whole files are compared, and fields of task.toml that differ are named with both values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/gate/source_tree.h"

namespace hone {

// TaskPairs say which tasks of two trees, base and head, are the same.
struct TaskPairs {
  // By folder of a task in head: the folder of the base's task, which judges its kernels. That is the same folder, or
  // the folder that the task of this name had before head moved it. kNoTask: the base lacks the task.
  std::map<std::string, std::string> base_of;
  std::vector<std::string> gone;  // folders of the base's tasks that head lacks
};
inline constexpr std::string_view kNoTask = "?";  // stands for a missing folder; no folder has this name

// Returns the folders of a tree that contain a task.toml, sorted.
std::vector<std::string> TaskFolders(const SourceTree& tree);

TaskPairs PairTasks(const SourceTree& base, const SourceTree& head);

// Returns sentences, sorted: which tasks head changed, moved, added or removed, and how.
Result<std::vector<std::string>> DescribeTaskChanges(const SourceTree& base, const SourceTree& head,
                                                     const TaskPairs& pairs);

// Returns the fields in which two TOML texts differ, at most `most` of them and the number of others:
// "tolerance.out.c_small: 0.001 becomes 0". Entries of arrays of tables are identified by their field `name`, or else
// by their contents, so that one more [[case]] is one difference. Empty: no field differs, or a text cannot be parsed.
std::string DescribeTomlChanges(std::string_view before, std::string_view after, size_t most = 8);

}  // namespace hone
