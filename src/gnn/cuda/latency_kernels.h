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
// All functions enqueue on `stream`; fanouts are 1 to 32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/batch_layout.h"

namespace hone::gnn::cuda {

inline constexpr int32_t kMostSeeds = 64;

// In the host's memory, mapped. The host writes it before it launches.
struct LatencyRequest {
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

// Seeds of the request become the batch's.
cudaError_t EnqueueBeginRequest(const LatencyRequest* request, BatchHeader* header, int32_t* nodes, uint32_t* overflow,
                                cudaStream_t stream);

// Hop `hop` of a batch: out.columns and .counts, `nodes` behind those known, and their number. Past out.sources nodes
// *overflow becomes 1; ids then stay in range and mean nothing.
cudaError_t EnqueueDrawHop(const GraphOnDevice& graph, int hop, const HopOnDevice& out, const RunState* state,
                           BatchHeader* header, int32_t* nodes, uint32_t* overflow, cudaStream_t stream);

// The reply. `finished` [1] is zero before and after.
//   logits  [>= seeds, stride] fp32 on the device
//   to      [kMostSeeds, classes] in the host's memory, mapped
cudaError_t EnqueueReply(const LatencyRequest* request, const uint32_t* overflow, const float* logits, int32_t stride,
                         int32_t classes, int32_t seeds, uint32_t* finished, LatencyReply* reply, float* to,
                         cudaStream_t stream);

}  // namespace hone::gnn::cuda
