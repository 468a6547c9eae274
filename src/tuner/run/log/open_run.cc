// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/open_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/files/file.h"

namespace hone {

bool NamesRunFile(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(".jsonl") || name.find('/') != std::string::npos ||
         (name != "last" && std::filesystem::is_regular_file(name, ignored));
}

Result<std::unique_ptr<RunStore>> OpenStoreThatIsThere(const std::string& path) {
  if (!FileExists(path)) {
    return Status::NotFound(fmt::format("there are no runs yet: {} is not there; `hone optimize TASK` makes it", path));
  }
  return OpenSqliteRunStore(path);
}

Result<std::unique_ptr<RunStore>> OpenStoreToRead(const std::string& path) {
  Result<std::unique_ptr<RunStore>> store = OpenStoreThatIsThere(path);
  // SQLite creates files next to a store even for reading. Where it cannot, the store is opened in a mode that writes
  // nothing.
  if (store.ok() || store.status().code() != StatusCode::kIo) return store;
  SqliteStoreOptions options;
  options.read_only = true;
  Result<std::unique_ptr<RunStore>> read_only = OpenSqliteRunStore(path, options);
  return read_only.ok() ? std::move(read_only) : std::move(store);
}

Result<OpenedRun> OpenRun(const std::string& store_path, const std::string& name) {
  OpenedRun opened;
  std::string id = name;
  if (NamesRunFile(name)) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(name));
    opened.store = MakeMemoryRunStore();
    Result<std::string> imported = ImportRun(*opened.store, text);
    if (!imported.ok()) return imported.status().WithContext(name);
    id = *imported;
  } else {
    HONE_ASSIGN_OR_RETURN(opened.store, OpenStoreToRead(store_path));
  }
  HONE_ASSIGN_OR_RETURN(opened.view, LoadRun(*opened.store, id));
  return opened;
}

}  // namespace hone
