// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the functions of the host's mathematical library that device code may call, with their least cost on a GPU.
//
// The list is closed: it has the functions of CUDA's mathematics that the library has under the same name. The library
// has many more, among them other names of the same functions (fmaf32), which would be counted as nothing, and functions
// that write through pointers (lgammaf_r), whose stores no hook sees. modf, frexp, remquo, sincos and nan have pointer
// parameters in CUDA too; they are replaced by functions with hooks (worker/hooks.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hone::sim {

// The least number of operations that a GPU makes for one call.
struct MathCost {
  int64_t single = 0;   // operations of single precision
  int64_t special = 0;  // operations of the special-function unit
  int64_t wide = 0;     // operations of double precision
};

// Operations of double precision that a GPU needs at least: for a quotient or a root, and for an elementary function.
inline constexpr int64_t kWideQuotient = 8, kWideFunction = 10;

// Returns the cost of a function of the list; nullopt: the list does not have it. Roundings and tests of a number's kind
// cost nothing, because the instructions that do the same are not counted either.
std::optional<MathCost> CostOfMathFunction(std::string_view name);

}  // namespace hone::sim
