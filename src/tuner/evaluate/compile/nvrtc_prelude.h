// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every candidate finds declared before its first line, per include set, and the small stand-ins for system
// headers that NVRTC, which has no host compiler beneath it, would not find.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

// The include sets a plan may ask for: "" (fp16, bf16, fixed-width integers), "full" (matrix fragments, cooperative
// groups, pipelines, barriers), "cute" (CUTLASS's CuTe).
bool IsKnownIncludeSet(std::string_view include_set);

// The text of the precompiled header for a known set, without the header stop that ends it. `fast_cute`: for "cute", with Hone's faster forms of CuTe's algebra (cute_fast_tuple.cuh
// and its kin) before CuTe's own headers.
std::string NvrtcPrelude(std::string_view include_set, bool fast_cute);

// Name and text of headers served from memory: <cstdint>, <cmath>, <cuda.h> and their like, as far as device code
// can use them; and hone/cute_fast_*.cuh.
const std::vector<std::pair<std::string, std::string>>& NvrtcShimHeaders();

}  // namespace hone
