// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The [reference] of a task whose answer is a PyTorch module's: reference.py beside task.toml holds the module, and this
// table says which tensor is which of its inputs, weights and outputs (docs/task-format.md, "[reference]").
//
// Task has no field for it: the text of reference.py stands in Task::oracle_source, so that it goes wherever an oracle goes
// (workers, spools, stores), and the table is read again from Task::toml where it is needed.
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
  std::vector<Input> inputs;                                // in forward's order
  std::vector<Input> named_inputs;                          // the same, with a scalar's name in place of its value
  std::vector<std::string> outputs;                         // `out` tensors, in forward's order
  std::vector<std::pair<std::string, std::string>> state;   // tensor, the module's name of it ("fc1.weight")
  std::vector<std::pair<std::string, std::string>> sizes;   // dimension, the file's name of it, where they differ
};

// Whether the answer of `task` comes from a PyTorch module.
bool HasTorchModule(const Task& task);
// The module's table. The task is one that ParseTask has accepted and HasTorchModule holds for.
TorchModule TorchModuleOf(const Task& task);
// What holds the answer, beside task.toml: "oracle.cu" or "reference.py".
std::string_view AnswerFile(const Task& task);

// For the task parser: takes [reference], if there is one, and checks it against the task's tensors, which are known.
void ReadTorchModule(TableReader& reader, const Task& task, TomlErrors& errors);

}  // namespace hone
