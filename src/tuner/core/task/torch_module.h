// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the [reference] table of a task whose answer comes from a PyTorch module: reference.py beside task.toml holds
// the module, and the table maps tensors to its inputs, weights and outputs (docs/task-format.md, "[reference]").
//
// Task has no field for the module: the text of reference.py is in Task::oracle_source, so that it is sent wherever an
// oracle is (workers, spools, stores), and the table is read again from Task::toml when needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/toml_document.h"
#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

struct TorchModule {
  // One argument of forward: a tensor of the task, or a number (a constant, or the value of a [[scalar]]).
  struct Input {
    std::string tensor;  // name of the tensor; empty: the argument is `number`
    std::string number;  // as Python and JSON write it: "2.0", "3", "true"
  };
  std::string class_name = "Model";
  bool training = true;    // true: the module stays in train mode; false: eval()
  std::string definition;  // benchmark definition that the task was made from; empty: none
  // The problem in GPU MODE's format that the task was made from.
  struct Board {
    std::string problem;          // the problem's name; empty: the task was not made from one
    int64_t inputs = 0;           // number of parts that generate_input returns
    std::vector<int64_t> leaves;  // indices of the parts that are forward's tensors, in forward's order
    std::vector<int64_t> filled;  // indices of the parts that are tensors which the reference fills and returns
    std::string licence;          // licence of the problem's files; empty: none was found
    bool accepted = false;        // the licence was accepted: the files' text may enter a prompt
  };
  Board board;
  std::vector<Input> inputs;                                // in forward's order
  std::vector<Input> named_inputs;                          // `inputs`, with a scalar's name in place of its value
  std::vector<std::string> outputs;                         // `out` tensors, in the order in which forward returns them
  std::vector<std::pair<std::string, std::string>> state;   // tensor, and its name in the module ("fc1.weight")
  std::vector<std::string> booleans;                        // tensors of uint8 that the module takes or gives as booleans
  std::vector<std::pair<std::string, std::string>> sizes;  // dimension, and its name in reference.py, where they differ
};

// Returns whether the module takes or gives this tensor as booleans.
bool IsBoolean(const TorchModule& module, std::string_view tensor);
// Returns whether the answer of `task` comes from a PyTorch module.
bool HasTorchModule(const Task& task);
// Returns whether `source` is the text of the task's own PyTorch module, which stands for the module in eager mode where a
// kernel is compared with it.
bool IsOwnModule(const Task& task, std::string_view source);
// Returns the module's table. ParseTask must have accepted the task, and HasTorchModule must hold.
TorchModule TorchModuleOf(const Task& task);
// Returns the file beside task.toml that holds the answer: "oracle.cu" or "reference.py".
std::string_view AnswerFile(const Task& task);
// Returns the text of that file for a prompt. If it is a problem's file whose licence was not accepted, returns a
// comment that says so in its place.
std::string AnswerForModels(const Task& task);

// Is called by the task parser when the task's tensors are known: reads [reference] from `reader`, if there is one, and
// adds an error for whatever does not fit them.
void ReadTorchModule(TableReader& reader, const Task& task, TomlErrors& errors);

}  // namespace hone
