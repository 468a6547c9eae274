// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's `#pragma unroll` in the host compiler's words.
//
// It matters for more than speed: a short loop over the halves of a vector register, not unrolled, addresses a local
// array by a variable index, and every element access is then reported to the simulator as if it were memory.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// Rewrites `#pragma unroll [n]` before a loop to `#pragma GCC unroll`, with at most kMaxUnroll copies; line counts
// stay. A pragma with a count that is no literal, or that no loop follows (g++ makes an error of that), is left to be
// ignored.
inline constexpr int kMaxUnroll = 8;
std::string RewriteUnrollPragmas(std::string_view source);

}  // namespace hone
