// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sampled hop by source: which slots drew a node, in ascending order, so that sums over them have one order.
//
// Slots are counted by source, the counts added up, and slots put down where their source's begin, in whatever order
// they come; then each source's few are put in order. A radix sort of (source, slot) gives the same and was first, in
// nine dependent kernels and copies where this takes four.
#pragma once

#include <cuda_runtime_api.h>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Sources that one block adds up: HopOnDevice::tile_words must have a word for each such tile, and one.
inline constexpr int kSourceTile = 2048;

// Fills sorted_slots, first and end from columns, slot_ranks and the counts in `first`, which EnqueueRelabel left, and
// zeroed words. Enqueues on `stream`.
cudaError_t EnqueueBySource(const HopOnDevice& hop, cudaStream_t stream);

}  // namespace hone::gnn::cuda
