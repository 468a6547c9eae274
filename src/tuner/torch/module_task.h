// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a task, task.toml and reference.py, from a PyTorch module, from a benchmark's definition, or from a GPU MODE
// problem. describe.py, in a process of the user's Python, runs the module at its own sizes and at others, and reports
// what the task must state. This file turns the report into names and TOML.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/torch/board_files.h"
#include "tuner/torch/definition_files.h"
#include "tuner/torch/operator_costs.h"
#include "tuner/torch/python_process.h"

namespace hone {

// Whether PyTorch times a module's operators, and where.
struct OperatorTimingChoice {
  bool wanted = false;
  int gpu = -1;                                // ordinal among the visible GPUs; -1: the CPU
  std::string untimed = "it was not asked for";  // if not wanted: why, for a note
};

struct ModuleTaskOptions {
  std::string name;     // the task's name
  std::string summary;  // the task's summary; empty: a list of the module's operators
  std::string file;     // name of the problem file in messages
  // The text of a problem file in KernelBench's form; empty: one of `module`, `definition` and `board` is given.
  std::string text;
  std::string class_name = "Model";           // the module's class in that file
  std::optional<DefinitionFiles> definition;  // a benchmark's definition, given in place of `text`
  std::optional<BoardFiles> board;            // a problem in GPU MODE's format, given in place of `text`
  bool accept_licence = false;      // the user accepts the board's licence: the files' text may go into prompts
  bool eval = false;                // the module runs in eval mode, not in training mode
  bool eval_where_dropout = false;  // like `eval`, but only if training mode drops elements at random
  std::vector<std::string> fixed;   // names of sizes that do not vary
  // The Python module, "package.module", of a class without get_inputs(), in an installed package or in `folder`.
  std::string module;
  // Inputs of `module`, or those that forward takes after what get_inputs() of `text` gives: "x=float32[batch,hidden]";
  // the integers "ids=int64[batch]:vocabulary" are drawn below a size.
  std::vector<std::string> inputs;
  std::string init;                // for `module`: the class's arguments as Python text, "hidden, heads=8"
  std::vector<std::string> sizes;  // "batch=32,hidden=512", in place of the file's own sizes
  std::string folder;              // folder in which `module` is looked for, before the installed packages
  uint64_t seed = 1;               // of PyTorch's random numbers
  double limit_seconds = 300;      // for describe.py
  OperatorTimingChoice timing;
};

struct ModuleTaskDraft {
  std::string task_toml, reference_py;  // texts of task.toml and reference.py
  std::string seed_cu;                // text of a first candidate; empty: seed.py knows none for the module's operators
  std::vector<std::string> inferred;  // inferred facts, one line each, for the user to check
  std::vector<std::string> notes;     // what is fixed, left out or checked less strictly, and why
  std::optional<OperatorProfile> profile;     // times of the module's operators, if they were measured
  std::vector<std::string> sandbox_warnings;  // layers of the sandbox that this machine lacks
  std::string torch;                          // PyTorch's version
  double seconds = 0;                         // that describe.py took, and the times of operators after it
};

// Returns whether the text of a .py file is a problem in KernelBench's form, and not CUDA code in strings.
bool IsModuleProblem(std::string_view text);
// Returns a sentence for the user whose .py file is neither a problem nor holds CUDA code: what is missing, and how a
// class of the file is named instead. `path`: the file, as the user wrote it.
std::string WhyNoModuleProblem(std::string_view text, const std::string& path);

// Returns the class of a problem file that becomes the task: `Model`, or the only class that is derived from a Module. Several are refused
// with a command for each. `path`: the file, as the user wrote it; `name`: the new task's.
Result<std::string> ProblemClass(std::string_view text, const std::string& path, const std::string& name);

// Returns the texts of a task for the module; writes no file. kInvalidArgument: the file or an option cannot be used;
// the message is one sentence with the remedy. kUnavailable: there is no Python or no PyTorch. kTimedOut: describe.py
// took more than options.limit_seconds. If operators cannot be timed, a note says why.
Result<ModuleTaskDraft> DraftModuleTask(const ModuleTaskOptions& options, const PythonOptions& python);

// Makes the draft from describe.py's report, a JSON text; `sandbox_warnings` and `seconds` stay empty. The problem file's
// code ran in the process that wrote the report, so the report may say anything. Errors are those of DraftModuleTask;
// kInternal: the report is not one of describe.py, or no task can be read from what it says. `profile`: measured times of
// the module's operators, or the error that says why there are none; nullopt: options.timing.untimed says it.
Result<ModuleTaskDraft> DraftOfReport(const ModuleTaskOptions& options, std::string_view report, std::optional<Result<OperatorProfile>> profile = std::nullopt);

}  // namespace hone
