// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task from a PyTorch module, or from a benchmark's definition: task.toml and reference.py. describe.py, in a process of the user's Python, runs the module
// at its own and at other sizes and says what the task must know; here that becomes names and TOML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/torch/board_files.h"
#include "tuner/torch/definition_files.h"
#include "tuner/torch/python_process.h"

namespace hone {

struct ModuleTaskOptions {
  std::string name;              // of the task
  std::string summary;           // empty: the operators
  std::string file;              // how the problem file is called in messages
  std::string text;              // the problem file in KernelBench's form; empty: `module` names one
  std::string class_name = "Model";
  std::optional<DefinitionFiles> definition;  // of a benchmark, from which the problem file is made; then `text` is empty
  std::optional<BoardFiles> board;            // a problem in GPU MODE's format, likewise
  bool accept_licence = false;                // of the board's files: their text may enter a prompt
  bool eval = false;             // judge it in eval mode
  bool eval_where_dropout = false;  // judge it in eval mode where training mode drops elements at random, and note this
  std::vector<std::string> fixed;  // sizes that keep the file's value
  // A class of an installed package or of a file in this folder, which lacks get_inputs: "package.module".
  std::string module;
  std::vector<std::string> inputs;  // "x=float32[batch,hidden]"; "ids=int64[batch]:vocabulary" draws below a size
  std::string init;                 // arguments of the class as Python writes them: "hidden, heads=8"
  std::vector<std::string> sizes;   // "batch=32,hidden=512"; of a problem file too: in place of what it says
  std::string folder;               // where `module` may lie
  uint64_t seed = 1;
  double limit_seconds = 300;
};

struct ModuleTaskDraft {
  std::string task_toml, reference_py;
  std::string seed_cu;                 // empty: the module's operators are not those that seed.py knows
  std::vector<std::string> inferred;   // lines for the user to look over
  std::vector<std::string> notes;      // what is fixed, left out or weak, and why
  std::vector<std::string> sandbox_warnings;  // layers that this machine lacks
  std::string torch;                   // its version
  double seconds = 0;
};

// Whether the text of a .py file is a problem in KernelBench's form, rather than CUDA in strings.
bool IsModuleProblem(std::string_view text);

// kInvalidArgument: the file or an option cannot be used, in one sentence with the remedy. kUnavailable: no Python or no
// PyTorch. kTimedOut. Nothing is written.
Result<ModuleTaskDraft> DraftModuleTask(const ModuleTaskOptions& options, const PythonOptions& python);

}  // namespace hone
