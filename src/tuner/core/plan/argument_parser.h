// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads one argument of a launch plan from its text:
//
//   "x"  "x + EXPR"      a tensor (offset in elements) or a workspace (offset in bytes)
//   "EXPR:i32"           an integer expression as i32, u32, i64, u64 or bool
//   "eps:f32"            a scalar of the task as f32, f64, f16 or bf16
//   "tensormap:NAME"     a [[tensor_map]], by value
//   "struct:Type{a:i32, x, eps:f32}"   fields packed as in C, by value
//   "ref:NAME"           oracles only: where the oracle writes tensor NAME's reference values, in double precision
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone {

// The names that an argument may use.
struct ArgumentNames {
  const Task* task = nullptr;  // borrowed; must outlive the call
  std::vector<std::string> workspaces;
  std::vector<std::string> tensor_maps;
  bool is_oracle = false;
};

// Parses an argument. The error's message says what is wrong and what would be right; the caller adds file, line and
// field, and checks names inside expressions.
Result<Argument> ParseArgument(std::string_view text, const ArgumentNames& names);

// Returns every expression of an argument, including those of its fields.
std::vector<const Expression*> ExpressionsOf(const Argument& argument);

}  // namespace hone
