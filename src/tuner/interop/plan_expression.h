// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Host code's integers as plan expressions: `(n + threads - 1) / threads`, with `threads` a local that holds 256,
// becomes `ceil_div(n, 256)`.
//
// Locals, constants, macros and one-line helper functions are followed; casts are dropped; what is left must be
// dimensions, numbers and the operators that plans know.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "tuner/interop/cu_source.h"

namespace hone {

class PlanExpressions {
 public:
  // `function` is where the text stands, -1: nowhere. `dims` says what a plan writes for a name of the host code: most
  // often the name itself. All are borrowed.
  PlanExpressions(const CuSource& source, int function, const std::map<std::string, std::string>& dims)
      : source_(source), function_(function), dims_(dims) {}

  // kInvalidArgument names what could not be followed.
  Result<std::string> Resolve(std::string_view text) const { return Resolve(text, 0); }

 private:
  Result<std::string> Resolve(std::string_view text, int depth) const;
  Result<std::string> Name(const std::string& name, int depth) const;
  // block.x, where `block` is a dim3 of the function; nullopt: not that.
  std::optional<std::string> Component(const std::string& name, std::string_view axis) const;

  const CuSource& source_;
  const int function_;
  const std::map<std::string, std::string>& dims_;
};

// (a + k - 1) / k as ceil_div(a, k), and parentheses around single words taken off.
std::string TidyExpression(std::string text);

}  // namespace hone
