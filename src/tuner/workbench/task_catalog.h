// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tasks by name, and the sources that users name: what every command and every tool looks up first.
//
// `roots` are folders that hold tasks, each in a folder of its own, the nearest first. A relative one is taken from
// where the process runs.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

// The task's folder: `name_or_directory` itself where it holds a task.toml, else the nearest root's folder of that
// name. kNotFound lists the tasks there are, and what was probably meant.
Result<std::string> FindTaskDirectory(const std::vector<std::string>& roots, const std::string& name_or_directory);
// Finds the task as above, and loads it.
Result<Task> FindTask(const std::vector<std::string>& roots, const std::string& name_or_directory);
// Folders with a task.toml, absolute and sorted: those of the nearest root that has any.
std::vector<std::string> TaskDirectories(const std::vector<std::string>& roots);
// Returns a sentence for a message: the folders where tasks are searched, and what to do if none is found there.
std::string WhereTasksAre(const std::vector<std::string>& roots);

// The text of a candidate, seed or kernel: UTF-8, without a byte order mark. kNotFound names what was probably meant.
Result<std::string> ReadSource(const std::string& path);

}  // namespace hone
