// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds a problem in GPU MODE's format on disk: its folder, which has a task.yml, and the licence of its files. The
// files themselves are read by describe.py (gpumode.py).
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// The file name, in a task's folder, of the copy of the licence that governs the problem's files.
inline constexpr const char* kBoardLicenceFile = "LICENSE.problem";

struct BoardFiles {
  std::string name;          // the folder's name
  std::string folder;        // the folder's path
  std::string licence;       // the licence's first line of words; empty: no licence file was found
  std::string licence_text;  // the whole licence; empty: none
};

// Returns whether `path` is a folder with a task.yml, or names a task.yml.
bool IsBoardFolder(const std::string& path);

// Returns what belongs to the problem whose folder, or task.yml, `path` names. The licence is the nearest LICENSE,
// LICENSE.md, LICENSE.txt or COPYING in the folder or in one of the five above it. kInvalidArgument names a licence
// that cannot be read, and the remedy.
Result<BoardFiles> FindBoardFiles(const std::string& path);

}  // namespace hone
