// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Orders a sampled hop by source: for each source, the slots that drew it are listed in ascending order, so that sums
// over them have one order.
//
// Slots are counted by source (EnqueueRelabel does that), and the counts are summed to offsets. Slots are written
// behind their source's offset in arrival order, and then each source's few slots are sorted. With the counting this
// takes four dependent kernels. A radix sort of (source, slot), which the first version used, takes nine kernels and
// copies for the same result.
#pragma once

#include <cuda_runtime_api.h>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// The number of sources whose counts one thread block sums (a tile). HopOnDevice::prefix_sum_scratch must have one word
// per tile, and one more.
inline constexpr int kSourceTile = 2048;

// Fills hop.sorted_slots, hop.first and hop.end. EnqueueRelabel must have left hop.columns, hop.slot_ranks, the counts
// in hop.first and zeroed prefix_sum_scratch. Enqueues on `stream`.
cudaError_t EnqueueBySource(const HopOnDevice& hop, cudaStream_t stream);

}  // namespace hone::gnn::cuda
