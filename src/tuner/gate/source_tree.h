// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of one side of a gate: a git revision, read without checking it out, or a folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

class SourceTree {
 public:
  virtual ~SourceTree() = default;
  // What reports call it: "main (1a2b3c4d5e6f)", or the folder.
  virtual std::string Name() const = 0;
  // Paths of the files whose names end in .cu or .toml, from the tree's top, with '/' between folders; sorted.
  virtual const std::vector<std::string>& Files() const = 0;
  // kNotFound where there is none of this path.
  virtual Result<std::string> Read(const std::string& path) const = 0;
};

// Which git, and what it may see.
struct GitOptions {
  std::string repository = ".";          // any folder of it
  std::vector<std::string> search_path;  // folders in which git is looked for
  std::vector<std::string> environment;  // "NAME=value"
};

struct TreePair {
  std::unique_ptr<SourceTree> base, head;
  // Tracked files of kernels and tasks that are changed in the working tree, where head is the revision that it stands on: the
  // changes are not in head.
  std::vector<std::string> uncommitted;
};

// Opens both sides. Each is a git revision, or a folder where it is none. Where both are revisions the base is where
// head branched off from it (their merge base) unless `exact`: what came to the base since then is no change of head's.
// kInvalidArgument says which side is neither, and what a shallow clone lacks.
Result<TreePair> OpenTrees(const GitOptions& git, const std::string& base, const std::string& head, bool exact);

// Loads the task in a folder of the tree ("tasks/relu"), parsed from memory.
Result<Task> LoadTaskFrom(const SourceTree& tree, const std::string& directory);

}  // namespace hone
