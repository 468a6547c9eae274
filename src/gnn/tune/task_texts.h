// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the files of a task for an operation of a model: task.toml, the oracle (the CPU's form of the operation, in
// double), the seed (a plain kernel), and the libraries to compare with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gnn/tune/hot_operations.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

using TaskDims = std::vector<std::pair<std::string, int64_t>>;  // sizes by the names of the task's dimensions

struct TimedShape {
  TaskDims dims;
  std::string what;  // a line: whose shape it is
};

struct TaskTexts {
  std::string task, oracle, seed;
  std::string baseline;  // empty: no library does the same
  std::string engine;    // the engine's own kernel with its tunables; empty: the engine has no instances to choose from
  std::string seed_is;   // a sentence: what the seed is, and how the engine's own kernel differs
};

// The numbers that a model's rows consist of.
struct RowDtypes {
  FeatureDtype features = FeatureDtype::kFloat32;  // of the graph's table
  bool fp32 = false;                               // true: rows of the batch are float32; false: bfloat16
};

// Returns the files of the task TaskName(operation) of `model`. The operation's sizes are not used: `shapes` are timed.
TaskTexts MakeTaskTexts(const HotOperation& operation, const std::string& model, const RowDtypes& dtypes,
                        const std::vector<TimedShape>& shapes);

}  // namespace hone::gnn
