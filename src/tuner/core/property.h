// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// [[property]] and [[example]] of a task.toml: what must hold of outputs that have more than one right value
// (docs/task-format.md, "[[property]]").
//
// Task has no field for them, as it has none for [reference]: the tables are read again from Task::toml where they are
// needed, so that they go wherever a task goes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/toml_document.h"
#include "hone/tuner/task.h"

namespace hone {

// The oracle writes residuals of this shape, as doubles, to its argument "ref:NAME"; the property holds where each is
// at most `bound`. NaN, and so an element that the oracle forgets, fails.
struct Property {
  std::string name;
  std::string summary;  // what it asks for, in words
  std::vector<Expression> shape;
  double bound = 0;
};

// Inputs and outputs worked out by hand, of which the properties hold together, or of which at least one must fail.
struct PropertyExample {
  Dims dims;
  bool holds = true;
  std::map<std::string, std::vector<double>> inputs;   // row-major
  std::map<std::string, std::vector<double>> outputs;  // every output of the task
};

// Returns the properties of a task that ParseTask has accepted. Cheap for a task without any.
std::vector<Property> PropertiesOf(const Task& task);
std::vector<PropertyExample> ExamplesOf(const Task& task);
// A property as a dense tensor of doubles, whose shape ResolveShape tells.
TensorSpec ResidualsOf(const Property& property);

// For the task parser: takes both arrays of tables and checks them against the task's tensors and cases, which are
// known.
void ReadProperties(TableReader& reader, const Task& task, TomlErrors& errors);

}  // namespace hone
