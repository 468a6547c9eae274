// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the slots of several rows at a time for the CPU sampler. Rows, unlike the slots of one row, do not depend on
// each other, so each row takes a lane of a vector register.
//
// There are three implementations with equal results to the bit; the processor's features decide.
#pragma once

#include <cstdint>

#include "gnn/sample/draw.h"

namespace hone::gnn {

inline constexpr int kMaxDrawLanes = 16;

// Draws Floyd's distinct subset (Bentley and Floyd 1987) for each of `lanes` rows, in slot order.
//   nodes    [lanes] the rows' global node ids
//   degrees  [lanes] each above `fanout`
//   fanout   1 … 1024
//   slots    [fanout * lanes], written: slot s of lane l at s * lanes + l, in [0, degrees[l]); distinct within a lane
// Any alignment, any thread.
using DrawRowsFunction = void (*)(const DrawKey& key, const uint32_t* nodes, const uint32_t* degrees, int fanout,
                                  uint32_t* slots);

struct RowDrawer {
  DrawRowsFunction draw = nullptr;  // null if the processor or the build does not support it
  int lanes = 0;                    // at most kMaxDrawLanes
};

RowDrawer DrawRowsScalar();  // 8 lanes
RowDrawer DrawRowsAvx2();    // 8 lanes
RowDrawer DrawRowsAvx512();  // 16 lanes

// Up to this fanout, a draw is compared with every earlier draw of its row; above it, a set is cheaper.
inline constexpr int kFloydCompareAll = 32;

// Applies Floyd's rule to draws that are already bounded. Draw s is uniform in [0, degree - fanout + s]; if an earlier
// slot has the same value, it becomes degree - fanout + s. Works in place, on words that are `stride` apart. Any fanout
// up to 1024.
void ResolveFloyd(uint32_t degree, int fanout, uint32_t* draws, int stride);

}  // namespace hone::gnn
