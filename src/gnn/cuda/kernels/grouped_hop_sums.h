// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of hop_sums.h for inner hops in other instances, from which a tuned model chooses (nn/kernel_choices.h):
// a group of 8, 16 or 32 lanes has a row, so that narrow rows leave no lane of a warp idle. Results have the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include "gnn/cuda/kernels/hop_sums.h"

namespace hone::gnn::cuda {

// Returns whether there are instances for this call: rows and sums in bf16, no maximum, and no elu as rows are read.
bool GroupedHopSumFits(const HopSumCall& call, Element element, Element out_element);

// Do the work of EnqueueHopSum and EnqueueHopSumBackward. GroupedHopSumFits must hold, and HasInstance(choice).
cudaError_t EnqueueGroupedHopSum(const SumChoice& choice, const HopSumCall& call, const HopOnDevice& hop, const void* z,
                                 const BatchHeader* header, void* out, cudaStream_t stream);
cudaError_t EnqueueGroupedHopSumBackward(const SumChoice& choice, const HopSumCall& call, const HopOnDevice& hop,
                                         const void* grad_out, int32_t padded_sources, const BatchHeader* header,
                                         void* grad_z, cudaStream_t stream);

}  // namespace hone::gnn::cuda
