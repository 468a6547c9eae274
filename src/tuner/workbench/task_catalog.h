// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file finds tasks by name, and reads sources that users name. All commands and tools use it.
//
// `roots` are folders that contain tasks, each in a folder of its own, in the order of search. A relative path is taken
// from the process's working directory.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns the task's folder: `name_or_directory` itself if it contains a task.toml, else the folder of that name in the
// first root that has one. Returns kNotFound, with the tasks that there are and what was probably meant, if there is
// none.
Result<std::string> FindTaskDirectory(const std::vector<std::string>& roots, const std::string& name_or_directory);
// Finds the task as above, and loads it.
Result<Task> FindTask(const std::vector<std::string>& roots, const std::string& name_or_directory);
// Returns the absolute paths of the tasks' folders in the first root that has any, sorted.
std::vector<std::string> TaskDirectories(const std::vector<std::string>& roots);
// Returns a sentence for a message: the folders where tasks are searched, and what to do if none is found there.
std::string WhereTasksAre(const std::vector<std::string>& roots);

// Returns the text of a candidate, seed or kernel: UTF-8, without a byte order mark. Returns kNotFound, with what was
// probably meant, if there is no such file.
Result<std::string> ReadSource(const std::string& path);

}  // namespace hone
