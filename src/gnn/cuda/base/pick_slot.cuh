// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which neighbors a row draws (sample/draw.h), one slot per lane. Every kernel that samples fanouts up to 32
// uses it.
#pragma once

#include "gnn/cuda/base/device_math.cuh"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {

// Returns the index, among a row's `degree` neighbors, of the neighbor that slot `lane` draws. Each row has kLanes
// lanes; whole warps must call. The result is meaningless for lanes at or past min(degree, fanout).
//
// Draws are independent; Floyd's rule then visits the slots in order and replaces slot j's draw by degree - fanout + j
// where an earlier slot holds the same value. So slot j is replaced if an earlier slot drew the same value, or if its
// draw is the replacement of an earlier slot that was replaced. Each slot depends on at most one other slot. As many
// rounds as the longest chain of dependent slots has links, hardly ever more than two, settle all slots at once.
template <int kLanes>
__device__ inline int32_t PickSlot(const DrawKey& key, uint32_t node, int32_t degree, int fanout, int lane) {
  const bool draws = degree > fanout && lane < fanout;
  if (!__any_sync(kFullWarp, draws)) return lane;
  const int32_t first_replacement = degree - fanout;
  int32_t chosen = -1;
  if (draws) {
    const uint32_t slot = static_cast<uint32_t>(lane);
    const uint32_t below = static_cast<uint32_t>(first_replacement + lane + 1);
    chosen = static_cast<int32_t>(BoundedDraw(key, node, slot, DrawWord(key, node, slot, 0), below));
  }
  const int row_lane = static_cast<int>(threadIdx.x % 32) - lane;  // lane of the row's slot 0 in its warp
  const unsigned lanes_that_chose_it = __match_any_sync(kFullWarp, chosen) >> row_lane;
  const bool drawn_before = draws && (lanes_that_chose_it & ((1u << lane) - 1u)) != 0;
  const int32_t on = chosen - first_replacement;
  const bool depends = draws && on >= 0 && on < lane;
  unsigned replaced = __ballot_sync(kFullWarp, drawn_before);
  for (;;) {
    const unsigned unsettled_lanes =
        __ballot_sync(kFullWarp, drawn_before || (depends && (replaced >> (row_lane + on) & 1u) != 0));
    if (unsettled_lanes == replaced) break;
    replaced = unsettled_lanes;
  }
  if (!draws) return lane;
  return (replaced >> (row_lane + lane) & 1u) != 0 ? first_replacement + lane : chosen;
}

}  // namespace hone::gnn::cuda
