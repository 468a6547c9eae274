// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes GraphSAGE's outermost hop: draws and averages in one kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/element.h"

namespace hone::gnn::cuda {

// Draws `fanout` neighbors of each of the header's hop_nodes[hop] nodes, of which there are at most `rows`, and writes
//   out [rows, 2 * 8 * feature_vectors] = [mean of their feature rows | the node's own row]
// in `out_element`. The drawn ids are not kept. `hop` is the hop's number in the draws' key.
cudaError_t EnqueueSampleMean(const GraphOnDevice& graph, Element feature_element, int hop, int fanout, int32_t rows,
                              const RunState* state, const BatchHeader* header, const int32_t* nodes,
                              Element out_element, void* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
