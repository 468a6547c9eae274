// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes GraphSAGE's outermost hop with staged misses. The kernel that collected the misses has drawn the hop and
// recorded where each row lies (DrawnPlaces), so that nothing is drawn or looked up a second time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

// Writes the same bits as EnqueueSampleMean. `drawn` is what EnqueueCollectMisses left for the same batch, whose misses
// must have been copied. `fanout` is at most kNarrowFanout.
cudaError_t EnqueueStagedMean(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                              const BatchHeader* header, const DrawnPlaces& drawn, Element out_element, void* out,
                              cudaStream_t stream);

}  // namespace hone::gnn::cuda
