// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file is part of the fake PyTorch (torch/extension.h): the current stream.
#pragma once

#include <cuda_runtime.h>
#include <torch/extension.h>

namespace at::cuda {
struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream() { return {}; }
}  // namespace at::cuda
