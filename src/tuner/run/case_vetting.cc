// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/case_vetting.h"

#include <fmt/format.h>

namespace hone {
namespace {

constexpr int64_t kMostElements = 16 << 20;  // limit for the largest tensor; the tester's prompt names it too

// Returns the case as task.toml states it.
std::string CaseText(const ProposedCase& proposed) {
  std::string text, values;
  for (const auto& [name, value] : proposed.dims) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  for (const auto& [name, value] : proposed.values) values += fmt::format("values.{} = {}\n", name, value);
  return fmt::format("\n[[case]]\nrole = \"check\"\ndims = {{ {} }}\n{}", text, values);
}

// Returns an error if a tensor is too large at these sizes.
Status CheckSize(const Task& task, const Dims& dims) {
  for (const TensorSpec& tensor : task.tensors) {
    HONE_ASSIGN_OR_RETURN(TensorShape shape, ResolveShape(tensor, dims));
    if (shape.elements > kMostElements) {
      return Status::InvalidArgument(fmt::format("tensor {} would have {} elements; at most {} are run at every attempt",
                                                 tensor.name, shape.elements, kMostElements));
    }
  }
  return Status::Ok();
}

}  // namespace

Result<Task> WithCheckCases(const Task& task, const std::vector<ProposedCase>& cases) {
  std::string toml = task.toml;
  if (!toml.ends_with('\n')) toml += '\n';
  for (const ProposedCase& proposed : cases) toml += CaseText(proposed);
  HONE_ASSIGN_OR_RETURN(Task extended, ParseTask(toml, task.name + "/task.toml"));
  extended.oracle_source = task.oracle_source;
  extended.seed_source = task.seed_source;
  extended.baseline_toml = task.baseline_toml;
  extended.directory = task.directory;
  return extended;
}

Result<Task> VettingTask(const Task& task, const ProposedCase& proposed) {
  HONE_RETURN_IF_ERROR(CheckSize(task, proposed.dims));
  return WithCheckCases(task, {proposed});
}

}  // namespace hone
