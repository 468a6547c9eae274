// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds a problem in GPU MODE's format on disk: a folder with task.yml, and the licence of its files. What the files say is for
// describe.py (gpumode.py) to read.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// How the licence that governs a problem's files is called in a task's folder, where a copy of it goes.
inline constexpr const char* kBoardLicenceFile = "LICENSE.problem";

struct BoardFiles {
  std::string name;          // of the folder
  std::string folder;        // its path
  std::string licence;       // its first line that says something; empty: no licence file lies in the folder or above it
  std::string licence_text;
};

// Returns whether `path` is a folder with a task.yml, or names a task.yml.
bool IsBoardFolder(const std::string& path);

// Finds the folder, or the folder of the task.yml, that `path` names. The licence is the nearest LICENSE, LICENSE.md, LICENSE.txt or
// COPYING of the folder and those above it. kInvalidArgument names a licence that cannot be read, and the remedy.
Result<BoardFiles> FindBoardFiles(const std::string& path);

}  // namespace hone
