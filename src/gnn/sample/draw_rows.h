// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the slots of eight rows at a time, which is what the CPU sampler does: eight because AVX2 has eight lanes,
// and because rows, unlike the slots of one row, do not depend on each other.
//
// Two implementations with equal results to the bit, chosen once by what the processor has.
#pragma once

#include <cstdint>

#include "gnn/sample/draw.h"

namespace hone::gnn {

inline constexpr int kDrawLanes = 8;

// Floyd's distinct subset (Bentley and Floyd 1987) of each of eight rows, in slot order.
//   nodes    [8] the rows' global node ids
//   degrees  [8] each above `fanout`
//   fanout   1 … 1024
//   slots    [fanout * 8], written: slot s of lane l at s * 8 + l, in [0, degrees[l]); distinct within a lane
// Aligned to 32 bytes all three. Any thread.
using DrawRowsFunction = void (*)(const DrawKey& key, const uint32_t* nodes, const uint32_t* degrees, int fanout,
                                  uint32_t* slots);

void DrawRowsScalar(const DrawKey& key, const uint32_t* nodes, const uint32_t* degrees, int fanout, uint32_t* slots);
DrawRowsFunction DrawRowsAvx2();  // null where the processor or the build has no AVX2
DrawRowsFunction BestDrawRows();

// Floyd's rule over draws that are already bounded: draw s, uniform in [0, degree - fanout + s], becomes
// degree - fanout + s when an earlier slot has its value. In place, `stride` words apart. Any fanout up to 1024.
void ResolveFloyd(uint32_t degree, int fanout, uint32_t* draws, int stride);

}  // namespace hone::gnn
