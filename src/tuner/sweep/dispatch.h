// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a sweep's outcome into a candidate: the best binding becomes every tunable's first choice, and shapes with
// another winner get separate launch entries, with `when` and `with`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone {

// The winner of one shape.
struct ShapeChoice {
  Dims dims;
  Binding binding;
};

struct DispatchRule {
  std::string when;  // condition on the shape: an expression over the dimensions
  Binding binding;
  std::optional<Dims> shape = std::nullopt;  // set if the rule names a single shape: entries that cannot accept it are
                                             // omitted
};

// Makes rules for the shapes whose binding is not `common`. If one dimension, or the product of all, separates the
// winners, each rule is a range of it. Ranges meet at the geometric middle between two neighbouring shapes, so that
// shapes in between get a sensible choice. Otherwise each shape is named exactly.
std::vector<DispatchRule> MakeDispatchRules(const std::vector<ShapeChoice>& shapes, const Binding& common);

// Returns the candidate's text with `common` first and the rules in front of its entries; device code and comments are
// unchanged. kInvalidArgument when the plan cannot carry rules (a workspace or a memset depends on a tunable).
Result<std::string> WriteDispatch(const Candidate& candidate, const Task& task, const Binding& common,
                                  const std::vector<DispatchRule>& rules);

}  // namespace hone
