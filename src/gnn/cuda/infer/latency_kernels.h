// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the kernels at the two ends of a request in latency mode, and those that sample with one launch per hop.
//
// Training's sampler recognizes nodes that were drawn before, so that each row is computed once; that takes five
// kernels per hop. Among the few thousand nodes of a small request hardly any repeats, and in so small a step kernels
// cost more than rows. So here every draw becomes a separate node. What a row draws is keyed by its node
// (sample/draw.h). Both samplers therefore give every seed the same neighborhood, and the same logits up to the
// rounding of products of other shapes.
//
// All functions enqueue on `stream`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/fanouts.h"

namespace hone::gnn::cuda {

inline constexpr int32_t kMostSeeds = 64;

// A request in mapped host memory. The host writes it before it launches the graph. One warp reads it, and the fields
// that later kernels need are kept on the device (RequestOnDevice), because every read of host memory takes a
// microsecond or two, and reads of one place queue up.
struct alignas(16) LatencyRequest {
  uint32_t sequence = 0;  // differs from the previous request's
  int32_t count = 0;      // 1 to kMostSeeds
  uint32_t logits = 0;    // 1: logits are requested
  int32_t nodes[kMostSeeds] = {};
};

// The reply in mapped host memory. The device writes it, and `sequence` last; the logits are in separate memory.
struct LatencyReply {
  uint32_t overflow = 0;  // 1: the request did not fit its envelope, and the rest is meaningless
  int32_t classes[kMostSeeds] = {};
  uint32_t sequence = 0;
};

// The part of a request that is kept on the device.
struct RequestOnDevice {
  uint32_t sequence = 0;
  int32_t count = 0;
  uint32_t logits = 0;
  uint32_t overflow = 0;  // 1: a hop did not fit
};

// Makes the request's seeds the batch's. Draws hop 0 too, unless `first` is null: a model of one layer has no hop to
// draw here, and a fanout above kNarrowFanout is left to EnqueueDrawHop.
cudaError_t EnqueueBeginRequest(const LatencyRequest* request, const GraphOnDevice& graph, const HopOnDevice* first,
                                const RunState* state, RequestOnDevice* current, BatchHeader* header, int32_t* nodes,
                                cudaStream_t stream);

// The number of rows whose draws one word of HopOnDevice::prefix_sum_scratch counts. Hops of fanouts above
// kNarrowFanout need these words.
inline constexpr int kCountedDraws = 1024;

// Draws hop `hop` of a batch (0 only if EnqueueBeginRequest left it out): writes out.columns and out.counts, appends
// the drawn nodes to `nodes`, and sets their number in the header. If there are more than out.sources nodes,
// current->overflow becomes 1; ids then stay in range but are meaningless.
cudaError_t EnqueueDrawHop(const GraphOnDevice& graph, int hop, const HopOnDevice& out, const RunState* state,
                           RequestOnDevice* current, BatchHeader* header, int32_t* nodes, cudaStream_t stream);

// Writes the reply. `finished` [1] counts the thread blocks that are done: zero before and after.
//   logits  [>= seeds, stride] fp32 on the device
//   to      [kMostSeeds, classes] in mapped host memory
cudaError_t EnqueueReply(const RequestOnDevice* current, const float* logits, int32_t stride, int32_t classes,
                         int32_t seeds, uint32_t* finished, LatencyReply* reply, float* to, cudaStream_t stream);

}  // namespace hone::gnn::cuda
