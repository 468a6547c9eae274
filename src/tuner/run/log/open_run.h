// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens a run for reading, from the store or from an exported file.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// A run with the store that holds its texts. For an exported file, the store is in memory.
struct OpenedRun {
  std::unique_ptr<RunStore> store;
  RunView view;
};

// Returns whether `name` is the path of an exported run: it ends in .jsonl, contains a slash, or is an existing file.
bool NamesRunFile(const std::string& name);

// Opens an existing run store; kNotFound if there is none. Continuing a run must not create a store or its folder.
Result<std::unique_ptr<RunStore>> OpenStoreThatIsThere(const std::string& path);
// Opens an existing run store for reading only, even if the disk is full or not writable.
Result<std::unique_ptr<RunStore>> OpenStoreToRead(const std::string& path);

// Opens a run. `name`: as for RunStore::FindRun, or the path of an exported run.
Result<OpenedRun> OpenRun(const std::string& store_path, const std::string& name);

}  // namespace hone
