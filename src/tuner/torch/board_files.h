// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A problem in GPU MODE's format as it lies on disk: a folder with task.yml and the files that it lists. They are read where the
// user has them, before describe.py is confined; what they say is for describe.py to judge.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// How the licence that governs a problem's files is called in a task's folder, where a copy of it goes.
inline constexpr const char* kBoardLicenceFile = "LICENSE.problem";

struct BoardFiles {
  std::string name;     // the folder's
  std::string task;     // task.yml
  std::map<std::string, std::string> files;  // by the path that task.yml gives, relative to the folder; those that are there
  std::string licence;       // its first line that says something; empty: no licence file lies in the folder or above it
  std::string licence_text;
};

// Returns whether `path` is a folder with a task.yml, or names a task.yml.
bool IsBoardFolder(const std::string& path);

// Reads the folder, or the folder of the task.yml, that `path` names. The licence is the nearest LICENSE, LICENSE.md, LICENSE.txt or
// COPYING of the folder and those above it. kInvalidArgument names the file and the remedy.
Result<BoardFiles> ReadBoardFiles(const std::string& path);

}  // namespace hone
