// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts batches that the host sampled into the layout in which the device samples them (batch_layout.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gnn/cuda/base/batch_layout.h"

namespace hone::gnn::cuda {

// Unpacks a hop from compressed rows: destination i of `rows` has the local ids columns[offsets[i] … offsets[i + 1]),
// at most out.fanout of them. The output equals that of EnqueueSampleHop followed by EnqueueRelabel, so EnqueueBySource
// may follow.
cudaError_t EnqueueUnpackHop(const int32_t* offsets, const int32_t* columns, int32_t rows, const HopOnDevice& out,
                             cudaStream_t stream);

// Sets to[i] = from[i].
cudaError_t EnqueueWiden(const int32_t* from, int64_t count, int64_t* to, cudaStream_t stream);

// Sets to[i] = i.
cudaError_t EnqueueCountUp(int64_t count, int32_t* to, cudaStream_t stream);

}  // namespace hone::gnn::cuda
