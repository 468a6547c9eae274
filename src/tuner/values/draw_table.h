// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides the host's half of values/draw.h: quantile tables, and draw parameters made from a tensor's ValueSpec.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/tuner/task.h"
#include "tuner/values/draw.h"

namespace hone {

// Each table has draw::kQuantiles + 2 floats (the last repeats the one before it, so that reading index + 1 is always
// safe); the tables are computed once per process. Owned by the library, never freed; any thread.
//   NormalQuantiles  the standard normal's quantile function at (i + 0.5) / (kQuantiles + 1), ascending
//   ExpQuantiles     exp(2 * z) of the same: log-normal magnitudes with sigma 2
const float* NormalQuantiles();
const float* ExpQuantiles();

// Makes the parameters of draw::Value and draw::Index. `key`: secret, one per (evaluation, input set, tensor).
// `index_bound`: the resolved bound of kIndex and kOffsets, else ignored. `slice_elements`: positions in one slice;
// `row_elements`: elements along the last axis. Values are clipped to the largest finite number of `dtype`. `values`: a
// result of ResolveValues. For kSpecial, the caller also sets `pattern_key` and `sliced`.
draw::Parameters MakeParameters(const ValueSpec& values, DType dtype, uint64_t key, int64_t index_bound,
                                int64_t slice_elements, int64_t row_elements = 1);
// Sets what a kMask tensor needs to know of its lines; leaves the parameters of other tensors as they are. `shape`: the
// tensor's extents; `slice_axis`: -1 if it is not sliced.
void SetMaskLines(const ValueSpec& values, const std::vector<int64_t>& shape, int slice_axis,
                  draw::Parameters* parameters);

}  // namespace hone
