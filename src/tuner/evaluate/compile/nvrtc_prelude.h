// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude is the text that is compiled before a candidate's first line; each include set has its own. Small
// stand-ins for system headers come with it, because NVRTC has no host compiler whose headers it could use.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

// Returns whether this is an include set that a plan may ask for: "" (fp16, bf16, fixed-width integers), "full" (matrix
// fragments, cooperative groups, pipelines, barriers), "cute" (CUTLASS's CuTe).
bool IsKnownIncludeSet(std::string_view include_set);

// Returns the prelude of a known include set, which becomes a precompiled header; the pragma that ends such a header
// (nv_hdrstop) is not in it. With `fast_cute`, the prelude of "cute" includes Hone's faster forms of CuTe's algebra
// (cute_fast_tuple.cuh and the other cute_fast files) before CuTe's own headers.
std::string NvrtcPrelude(std::string_view include_set, bool fast_cute);

// Returns name and text of the headers that NVRTC gets from memory: <cstdint>, <cmath>, <cuda.h> and the like, as far
// as device code can use them, and hone/cute_fast_*.cuh.
const std::vector<std::pair<std::string, std::string>>& NvrtcShimHeaders();

}  // namespace hone
