// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes a task's folder from a PyTorch module: the user's Python drafts the task, which is then written and,
// if asked for, checked.
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
  std::vector<std::string> problems;           // problems that the linter found on the simulated GPU
  std::vector<std::string> weak;               // lower precisions that the linter could not tell from honest ones
  std::string unchecked = "it was not tried";  // why the linter did not run; empty: it did
  bool ready() const { return problems.empty() && unchecked.empty(); }
};

// Drafts the task and writes task.toml, reference.py and, if the module's operators allow one, seed.cu. Returns the
// errors of DraftModuleTask, and kInvalidArgument if the folder already holds a task; then nothing is written.
Result<PreparedModuleTask> PrepareModuleTask(const ModuleTaskOptions& options, const PythonOptions& python, const TaskPlace& place);
// Lints the written task on the simulated GPU: whether trivial answers pass, every input matters, and the tolerance
// holds.
void CheckPreparedModule(const EvaluatorOptions& evaluator, PreparedModuleTask& prepared);
// Returns the fields of `hone new --json` for a module (docs/torch.md).
nlohmann::json PreparedModuleJson(const PreparedModuleTask& prepared);

}  // namespace hone
