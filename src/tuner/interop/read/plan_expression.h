// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts host code's integers to plan expressions: `(n + threads - 1) / threads`, with a local `threads` of 256,
// becomes `ceil_div(n, 256)`.
//
// Locals, constants, macros and one-line helper functions are replaced by their values, and casts are dropped; the rest
// must be dimensions, numbers and operators that plans know.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "tuner/interop/read/cu_source.h"

namespace hone {

class PlanExpressions {
 public:
  // `function`: index into source.functions of the host function that contains the texts; -1: none. `dims`: dimensions,
  // name in the host code -> name in the plan. Both references must stay valid.
  PlanExpressions(const CuSource& source, int function, const std::map<std::string, std::string>& dims)
      : source_(source), function_(function), dims_(dims) {}

  // Returns `text` as a plan expression. kInvalidArgument names the part that could not be converted.
  Result<std::string> Resolve(std::string_view text) const { return Resolve(text, 0); }

 private:
  Result<std::string> Resolve(std::string_view text, int depth) const;
  Result<std::string> Name(const std::string& name, int depth) const;
  // Returns block.x, if `block` is a dim3 of the function; nullopt otherwise.
  std::optional<std::string> Component(const std::string& name, std::string_view axis) const;

  const CuSource& source_;
  const int function_;
  const std::map<std::string, std::string>& dims_;
};

// Returns the expression with (a + k - 1) / k written as ceil_div(a, k), and without needless parentheses.
std::string TidyExpression(std::string text);

}  // namespace hone
