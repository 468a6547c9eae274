// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The prelude is what every candidate finds declared before its first line, per include set. With it come small
// stand-ins for system headers, which NVRTC would not find because it has no host compiler beneath it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

// Returns whether this is an include set that a plan may ask for: "" (fp16, bf16, fixed-width integers), "full" (matrix
// fragments, cooperative groups, pipelines, barriers), "cute" (CUTLASS's CuTe).
bool IsKnownIncludeSet(std::string_view include_set);

// Returns the text of the precompiled header for a known set, without the header stop that ends it. With `fast_cute`,
// the text for "cute" has Hone's faster forms of CuTe's algebra (cute_fast_tuple.cuh and the other cute_fast files)
// before CuTe's own headers.
std::string NvrtcPrelude(std::string_view include_set, bool fast_cute);

// Returns name and text of the headers served from memory: <cstdint>, <cmath>, <cuda.h> and the like, as far as device
// code can use them, and hone/cute_fast_*.cuh.
const std::vector<std::pair<std::string, std::string>>& NvrtcShimHeaders();

}  // namespace hone
