// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens a run for reading, whether it lies in the store or in an exported file.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

struct OpenedRun {
  std::unique_ptr<RunStore> store;
  RunView view;
};

// Whether `name` is the path of an exported run: it ends in .jsonl, holds a slash, or is a file that is there.
bool NamesRunFile(const std::string& name);

// The run store of this path; kNotFound where there is none: going on with a run makes neither a store nor a folder for one.
Result<std::unique_ptr<RunStore>> OpenStoreThatIsThere(const std::string& path);
// The same to read from only. Works where nothing can be written for want of space, too.
Result<std::unique_ptr<RunStore>> OpenStoreToRead(const std::string& path);

// `name`: as RunStore::FindRun, or the path of an exported run.
Result<OpenedRun> OpenRun(const std::string& store_path, const std::string& name);

}  // namespace hone
