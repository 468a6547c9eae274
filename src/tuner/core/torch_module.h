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

#include "base/toml_document.h"
#include "hone/base/status.h"
#include "hone/tuner/task.h"

namespace hone {

struct TorchModule {
  // One argument of forward: a tensor of the task, or a number: one that stays what it is, or a [[scalar]]'s value.
  struct Input {
    std::string tensor;  // empty: `number`
    std::string number;  // as Python and JSON write it: "2.0", "3", "true"
  };
  std::string class_name = "Model";
  bool training = true;                                     // false: eval() is called
  std::string definition;                                   // of a benchmark, that it was made of; empty: of none
  // The problem in GPU MODE's format that the task was made of: generate_input gives `inputs` parts, of which `leaves` are
  // forward's tensors, in its order, and `filled` are tensors that the reference fills and returns.
  struct Board {
    std::string problem;  // empty: of none
    int64_t inputs = 0;
    std::vector<int64_t> leaves, filled;
    std::string licence;    // of its files; empty: none was found
    bool accepted = false;  // their text may enter a prompt
  };
  Board board;
  std::vector<Input> inputs;                                // in forward's order
  std::vector<Input> named_inputs;                          // the same, with a scalar's name in place of its value
  std::vector<std::string> outputs;                         // `out` tensors, in forward's order
  std::vector<std::pair<std::string, std::string>> state;   // tensor, its name in the module ("fc1.weight")
  std::vector<std::string> booleans;                        // tensors of uint8 that the module takes or gives as booleans
  std::vector<std::pair<std::string, std::string>> sizes;   // dimension, its name in the file, where they differ
};

// Returns whether the module takes or gives this tensor as booleans.
bool IsBoolean(const TorchModule& module, std::string_view tensor);
// Returns whether the answer of `task` comes from a PyTorch module.
bool HasTorchModule(const Task& task);
// Returns the module's table. ParseTask must have accepted the task, and HasTorchModule must hold.
TorchModule TorchModuleOf(const Task& task);
// Returns the file beside task.toml that holds the answer: "oracle.cu" or "reference.py".
std::string_view AnswerFile(const Task& task);
// Returns the text of that file as a model may read it: of a problem whose licence nobody has accepted a sentence that says so.
std::string AnswerForModels(const Task& task);

// Reads [reference], if there is one, for the task parser, and checks it against the task's tensors, which are known.
void ReadTorchModule(TableReader& reader, const Task& task, TomlErrors& errors);

}  // namespace hone
