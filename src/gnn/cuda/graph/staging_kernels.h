// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies a batch's missing rows into device memory before its kernels read them (feature_storage.h, MissPath::kStaged).
//
// The outermost hop is drawn before its rows are on the device. The first thread that meets a row outside the cache
// claims the row in the map of places. The row is copied through the bus once, by few blocks, so that the batch being
// trained keeps its multiprocessors. The place of each drawn row is recorded for the kernel that gathers
// (staged_mean.h); other kernels draw again and look up the map. From then on the row is like a row of the cache, until
// its place is taken back. Each batch in flight has a separate map, so one batch's rows may arrive while others are
// computed. Where a row lies differs from run to run; its contents do not. Misses that find no room are read by
// zero-copy.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// These functions work on the staging set of `graph` (DeviceGraph::view), and do nothing if it has no room.
// EnqueueUnstage returns the places of the set's previous batch. EnqueueCollectMisses collects the rows that are
// missing for the batch's hop_nodes[hop] nodes (at most `rows`) and for their drawn neighbors. EnqueueCopyMisses copies
// these rows. Each may overlap with other batches' work. `drawn`, if not null, is filled in for fanouts up to
// kNarrowFanout; its places hold rows once they are copied.
cudaError_t EnqueueUnstage(const GraphOnDevice& graph, cudaStream_t stream);
cudaError_t EnqueueCollectMisses(const GraphOnDevice& graph, int hop, int fanout, int32_t rows, const RunState* state,
                                 const BatchHeader* header, const int32_t* nodes, const DrawnPlaces& drawn,
                                 cudaStream_t stream);
// Copies the collected rows. If there are at most `few` misses, a small grid copies them. That takes a little longer but
// occupies fewer multiprocessors: a kernel that shares one with the copy waits until the rows on the bus have arrived
// (docs/design/0013).
inline constexpr int32_t kFewMisses = 24576;
cudaError_t EnqueueCopyMisses(const GraphOnDevice& graph, cudaStream_t stream, int32_t few_misses = kFewMisses);

// These two fill a cache: places[cached[i]] = i, and row cached[i] of `host` is copied to row i of `to`. `parts` is
// StagingOnDevice::row_parts.
cudaError_t EnqueuePlaces(const int32_t* cached, int64_t count, int32_t* places, cudaStream_t stream);
cudaError_t EnqueueCopyRows(const int32_t* cached, int64_t count, int32_t parts, const void* host, void* to,
                            cudaStream_t stream);

}  // namespace hone::gnn::cuda
