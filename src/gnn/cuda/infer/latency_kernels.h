// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels at both ends of a request in latency mode, and a sampler of one kernel a hop.
//
// Training's sampler finds a node that was met before, so that its row is computed once; that takes five kernels a hop.
// Among the few thousand nodes of a small request hardly any meets twice, and in so small a step kernels cost more than
// rows: here every draw is a node of its own. What a row draws is keyed by its node (sample/draw.h), so both samplers
// give every seed the same neighborhood, and the same logits up to the rounding of products of other shapes.
//
// All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/fanouts.h"

namespace hone::gnn::cuda {

inline constexpr int32_t kMostSeeds = 64;

// In the host's memory, mapped. The host writes it before it launches; one warp reads it, and what is needed later is
// kept on the device: every read of the host's memory takes a microsecond or two, and reads of one place queue up.
struct alignas(16) LatencyRequest {
  uint32_t sequence = 0;  // never twice in a row the same
  int32_t count = 0;      // 1 to kMostSeeds
  uint32_t logits = 0;    // 1: wanted
  int32_t nodes[kMostSeeds] = {};
};

// Likewise, written by the device; the logits follow in memory of their own. `sequence` is written last.
struct LatencyReply {
  uint32_t overflow = 0;  // the request did not fit its envelope: the rest means nothing
  int32_t classes[kMostSeeds] = {};
  uint32_t sequence = 0;
};

// What is left of a request on the device.
struct LatencyWish {
  uint32_t sequence = 0;
  int32_t count = 0;
  uint32_t logits = 0;
  uint32_t overflow = 0;  // 1: some hop did not fit
};

// Seeds of the request become the batch's, and hop 0 is drawn, where `first` is not null (a model of one layer, or a fanout
// above kNarrowFanout, which EnqueueDrawHop draws).
cudaError_t EnqueueBeginRequest(const LatencyRequest* request, const GraphOnDevice& graph, const HopOnDevice* first,
                                const RunState* state, LatencyWish* wish, BatchHeader* header, int32_t* nodes,
                                cudaStream_t stream);

// Rows whose draws are counted by one word of HopOnDevice::tile_words, which hops of fanouts above kNarrowFanout need.
inline constexpr int kCountedDraws = 1024;

// Hop `hop` of a batch, 0 only where EnqueueBeginRequest left it out: out.columns and .counts, `nodes` behind those known,
// and their number. Past out.sources nodes wish->overflow becomes 1; ids then stay in range and mean nothing.
cudaError_t EnqueueDrawHop(const GraphOnDevice& graph, int hop, const HopOnDevice& out, const RunState* state,
                           LatencyWish* wish, BatchHeader* header, int32_t* nodes, cudaStream_t stream);

// The reply. `finished` [1] is zero before and after.
//   logits  [>= seeds, stride] fp32 on the device
//   to      [kMostSeeds, classes] in the host's memory, mapped
cudaError_t EnqueueReply(const LatencyWish* wish, const float* logits, int32_t stride, int32_t classes, int32_t seeds,
                         uint32_t* finished, LatencyReply* reply, float* to, cudaStream_t stream);

}  // namespace hone::gnn::cuda
