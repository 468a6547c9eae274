// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/run_task.h"

#include <fmt/format.h>

namespace hone {

Result<Task> LoadRunTask(RunStore& store, const RunView& view) {
  if (view.task_toml_hash.empty()) {
    return Status::InvalidArgument(
        fmt::format("run {} failed before anything of it was stored: there is nothing to go on from; start a new one",
                    view.info.id));
  }
  HONE_ASSIGN_OR_RETURN(std::string toml, store.Source(view.task_toml_hash));
  HONE_ASSIGN_OR_RETURN(Task task, ParseTask(toml, "task.toml"));
  HONE_ASSIGN_OR_RETURN(task.oracle_source, store.Source(view.oracle_hash));
  if (!view.from_oracle) {
    HONE_ASSIGN_OR_RETURN(task.seed_source, store.Source(view.seed_hash));
  }
  if (!view.baseline_hash.empty()) {
    HONE_ASSIGN_OR_RETURN(task.baseline_toml, store.Source(view.baseline_hash));
  }
  return task;
}

}  // namespace hone
