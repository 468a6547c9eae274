// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which neighbors a row draws (sample/draw.h), a slot a lane: shared by every kernel that samples.
#pragma once

#include "gnn/cuda/device_math.cuh"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {

// The slot of `lane` in a row of `degree` neighbors, kLanes lanes to a row, whole warps; meaningless for lanes at or
// past min(degree, fanout). Draws are independent; Floyd's rule then runs over the lanes in slot order.
template <int kLanes>
__device__ inline int32_t PickSlot(const DrawKey& key, uint32_t node, int32_t degree, int fanout, int lane) {
  const bool draws = degree > fanout;
  if (!__any_sync(kFullWarp, draws)) return lane;
  int32_t chosen = lane;
  if (draws && lane < fanout) {
    const uint32_t slot = static_cast<uint32_t>(lane);
    const uint32_t below = static_cast<uint32_t>(degree - fanout + lane + 1);
    chosen = static_cast<int32_t>(BoundedDraw(key, node, slot, DrawWord(key, node, slot, 0), below));
  }
  for (int j = 1; j < fanout; ++j) {
    const int32_t other = __shfl_sync(kFullWarp, chosen, j, kLanes);
    const unsigned taken = __ballot_sync(kFullWarp, lane < j && chosen == other);
    const unsigned group = kLanes == 32 ? kFullWarp : ((1u << kLanes) - 1u) << (threadIdx.x % 32 / kLanes * kLanes);
    if (draws && lane == j && (taken & group) != 0) chosen = degree - fanout + j;
  }
  return chosen;
}

}  // namespace hone::gnn::cuda
