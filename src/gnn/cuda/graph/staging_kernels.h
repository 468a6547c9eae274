// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Misses of a batch copied into device memory before its kernels read them (feature_storage.h, MissPath::kStaged).
//
// The outermost hop is drawn before its rows are there; each row that is not in the cache is claimed in the map of places
// by whoever comes first, and copied through the bus once, by few blocks, so that the batch that trains meanwhile keeps
// its multiprocessors. Where each row that was drawn will lie is written down for who gathers it (staged_mean.h); others
// draw again and ask the map. From then on it is a row of the cache like any other, until
// its place is taken back. Batches under way have a map each, so that one's rows may come while others are computed.
// Where a row lies differs from run to run; what is in it does not. Misses that find no room are read by zero-copy.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Of a batch's life in the staging set of `graph` (DeviceGraph::view); nothing where that has no room. First the places
// of the batch before it are given back; then what the batch lacks is collected: of its hop_nodes[hop] nodes (at most
// `rows`) and of what they draw; then the rows are copied. Each may run beside what other batches do. `drawn` is filled
// in for fanouts up to kNarrowFanout, where it is wanted; its places hold rows once those are copied.
cudaError_t EnqueueUnstage(const GraphOnDevice& graph, cudaStream_t stream);
cudaError_t EnqueueCollectMisses(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                                 const BatchHeader* header, const int32_t* nodes, const DrawnPlaces& drawn,
                                 cudaStream_t stream);
// Up to `few` misses are copied by few blocks: a little slower, and kernels that run beside wait less for what they load,
// for whoever shares a multiprocessor with rows under way on the bus waits behind them (docs/design/0013).
inline constexpr int32_t kFewMisses = 24576;
cudaError_t EnqueueCopyMisses(const GraphOnDevice& graph, cudaStream_t stream, int32_t few = kFewMisses);

// What a cache is filled with: places[cached[i]] = i, and row cached[i] of `host` to row i of `to`; `parts` as
// StagingOnDevice::row_parts.
cudaError_t EnqueuePlaces(const int32_t* cached, int64_t count, int32_t* places, cudaStream_t stream);
cudaError_t EnqueueCopyRows(const int32_t* cached, int64_t count, int32_t parts, const void* host, void* to,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
