# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Launches without a stream, as most generated code does."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
__global__ void fused(const float* x, const float* gate, float* out, long count) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += static_cast<long>(gridDim.x) * blockDim.x) {
    out[i] = tanhf(x[i]) / (1 + expf(-gate[i]));
  }
}
torch::Tensor gated(torch::Tensor x, torch::Tensor gate) {
  auto out = torch::empty_like(x);
  fused<<<4096, 256>>>(x.data_ptr<float>(), gate.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  return out;
}
"""
built = load_inline(name="gated_default", cpp_sources="torch::Tensor gated(torch::Tensor x, torch::Tensor gate);", cuda_sources=SOURCE,
                    functions=["gated"])


class ModelNew(nn.Module):
    def forward(self, x, gate):
        return built.gated(x, gate)
