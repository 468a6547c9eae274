// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables [[property]] and [[example]] of a task.toml say what must hold for outputs that have more than one right
// value (docs/task-format.md, "[[property]]").
//
// Task has no field for them, as it has none for [reference]. They are read again from Task::toml when they are needed,
// so that they reach every place to which a task is sent.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/text/toml_document.h"
#include "hone/tuner/task.h"

namespace hone {

// A Property is a condition on the outputs. The oracle writes residuals of this shape, as doubles, to its argument
// "ref:NAME". The property holds if each residual is at most `bound`; a NaN fails, and so does an element that the
// oracle does not write.
struct Property {
  std::string name;
  std::string summary;            // the condition in words
  std::vector<Expression> shape;  // of the residuals
  double bound = 0;
};

// A PropertyExample has inputs and outputs worked out by hand.
struct PropertyExample {
  Dims dims;
  bool holds = true;                                   // true: all properties must hold; false: at least one must fail
  std::map<std::string, std::vector<double>> inputs;   // row-major
  std::map<std::string, std::vector<double>> outputs;  // every output of the task
};

// Returns the properties of a task that ParseTask has accepted. Cheap for a task without any.
std::vector<Property> PropertiesOf(const Task& task);
std::vector<PropertyExample> ExamplesOf(const Task& task);
// Returns the property's residuals as a dense tensor of doubles; ResolveShape gives its shape for a case.
TensorSpec ResidualsOf(const Property& property);

// Is called by the task parser when the task's tensors and cases are known: reads both arrays of tables from `reader`,
// and adds an error for each that does not fit them.
void ReadProperties(TableReader& reader, const Task& task, TomlErrors& errors);

}  // namespace hone
