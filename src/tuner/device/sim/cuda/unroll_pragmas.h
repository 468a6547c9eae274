// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates CUDA's `#pragma unroll` for the host compiler.
//
// Unrolling affects more than speed: a short loop over the halves of a vector register, if not unrolled, indexes a
// local array by a variable, and every element access is then reported to the simulator as if it were memory.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Rewrites `#pragma unroll [n]` before a loop to `#pragma GCC unroll`, with at most kMaxUnroll copies; line numbers do
// not change. A pragma whose count is not a literal, or that no loop follows (an error in g++), stays as it is and is
// ignored.
inline constexpr int kMaxUnroll = 8;
std::string RewriteUnrollPragmas(std::string_view source);

}  // namespace hone
