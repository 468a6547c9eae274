// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Updates the running mean or variance of a batch normalisation (gnn/ops/batch_norm.h) on a GPU.
#pragma once

#include "gnn/ops/batch_norm.h"

namespace hone::gnn::cuda {

// Moves a column's running mean or variance towards `value`, that of a batch, by the share kBatchNormMomentum.
__device__ inline void UpdateRunningStatistic(float& running, double value) {
  running = static_cast<float>((1 - kBatchNormMomentum) * static_cast<double>(running) + kBatchNormMomentum * value);
}

}  // namespace hone::gnn::cuda
