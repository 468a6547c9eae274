// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Misses of a batch copied into device memory before its kernels read them (feature_storage.h, MissPath::kStaged).
//
// The outermost hop is drawn once more, which costs little next to its rows; each row that is not in the cache is
// claimed in the map of places by whoever comes first, and copied through the bus once, by few blocks, so that the
// batch that trains meanwhile keeps its multiprocessors. From then on it is a row of the cache like any other, until
// its place is taken back. Where a row lies differs from run to run; what is in it does not. Misses that find no room
// are read by zero-copy.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/batch_layout.h"

namespace hone::gnn::cuda {

// Around the kernels that read the features of the header's hop_nodes[hop] nodes (at most `rows`) and of what they
// draw; nothing where the graph has no staging room. One batch at a time, on one stream.
cudaError_t EnqueueStage(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                         const BatchHeader* header, const int32_t* nodes, cudaStream_t stream);
cudaError_t EnqueueUnstage(const GraphOnDevice& graph, cudaStream_t stream);

}  // namespace hone::gnn::cuda
