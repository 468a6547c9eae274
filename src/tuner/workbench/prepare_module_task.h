// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task's folder from a PyTorch module: drafted by the user's Python, written, and checked where that is asked for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/torch/module_task.h"
#include "tuner/workbench/prepare_task.h"

namespace hone {

struct PreparedModuleTask {
  std::string name, directory;
  ModuleTaskDraft draft;
  std::vector<std::string> problems;           // what `hone tasks check` says of it on the simulated GPU
  std::string unchecked = "it was not tried";  // why it was not tried there; empty: it was
  bool ready() const { return problems.empty() && unchecked.empty(); }
};

// Drafts the task and writes task.toml, reference.py and, where the operators allow one, seed.cu. kInvalidArgument,
// kUnavailable as of DraftModuleTask, and where the place is taken; then nothing is written.
Result<PreparedModuleTask> PrepareModuleTask(const ModuleTaskOptions& options, const PythonOptions& python, const TaskPlace& place);
// Lints what was written on the simulated GPU: can its answer be guessed, does every input matter, does the tolerance hold.
void CheckPreparedModule(const EvaluatorOptions& evaluator, PreparedModuleTask& prepared);
// Returns the fields of `hone new --json` for a module (docs/torch.md).
nlohmann::json PreparedModuleJson(const PreparedModuleTask& prepared);

}  // namespace hone
