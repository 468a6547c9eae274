// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file is part of the fake PyTorch (torch/extension.h): the guard that selects a device.
#pragma once

#include <torch/extension.h>

namespace c10::cuda {
struct CUDAGuard {
  explicit CUDAGuard(const torch::Device&) {}
};
}  // namespace c10::cuda
