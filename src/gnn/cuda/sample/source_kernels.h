// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Orders a sampled hop by source: the slots that drew a node, in ascending order, so that sums over them have one
// order.
//
// Slots are counted by source, the counts are summed to offsets, and slots are written behind their source's offset in
// arrival order; then each source's few slots are sorted. A radix sort of (source, slot), the first version, gives the
// same in nine dependent kernels and copies instead of four.
#pragma once

#include <cuda_runtime_api.h>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Sources that one thread block adds up. HopOnDevice::tile_words must have one word per such tile, and one more.
inline constexpr int kSourceTile = 2048;

// Fills sorted_slots, first and end. Reads columns, slot_ranks, the counts in `first` and the zeroed words, all left by
// EnqueueRelabel. Enqueues on `stream`.
cudaError_t EnqueueBySource(const HopOnDevice& hop, cudaStream_t stream);

}  // namespace hone::gnn::cuda
