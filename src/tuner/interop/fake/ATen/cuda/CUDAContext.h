// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of the stand-in for PyTorch; see torch/extension.h.
#pragma once

#include <torch/extension.h>

namespace at::cuda {
struct CUDAStream {
  void* stream() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream() { return {}; }
}  // namespace at::cuda
