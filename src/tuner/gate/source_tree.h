// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A SourceTree has the files of one side of a gate: of a git revision, which is read without a checkout, or of a
// folder.
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
  // Returns the tree's name in reports: "main (1a2b3c4d5e6f)", or the folder's path.
  virtual std::string Name() const = 0;
  // Returns the paths of the files that kernels and tasks consist of (.cu, .toml, reference.py), from the tree's top,
  // with '/' between folders; sorted.
  virtual const std::vector<std::string>& Files() const = 0;
  // Returns a file's text; kNotFound if Files() lacks this path.
  virtual Result<std::string> Read(const std::string& path) const = 0;
  // Returns git's name of the file's contents, so that equal files need not be read; empty: not known.
  virtual std::string ContentName(const std::string& path) const = 0;
};

// GitOptions say which repository is read and how git is run.
struct GitOptions {
  std::string repository = ".";          // any folder of the repository
  std::vector<std::string> search_path;  // folders in which the program git is looked for
  std::vector<std::string> environment;  // of git's process, "NAME=value"
};

struct TreePair {
  std::unique_ptr<SourceTree> base, head;
  // If head is the revision that is checked out: paths of tracked files of kernels and tasks that the working tree has
  // changed. These changes are not in head.
  std::vector<std::string> uncommitted;
};

// Opens both sides. Each is the name of a git revision, or else of a folder. If both are revisions and `exact` is
// false, the base is replaced by the merge base, at which head branched off, so that later changes of the base do not
// count as head's. Returns kInvalidArgument if a side is neither, or if a shallow clone lacks a commit.
Result<TreePair> OpenTrees(const GitOptions& git, const std::string& base, const std::string& head, bool exact);

// Loads the task in a folder of the tree ("tasks/relu"), parsed from memory.
Result<Task> LoadTaskFrom(const SourceTree& tree, const std::string& directory);

}  // namespace hone
