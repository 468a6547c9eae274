// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel of a PyTorch extension, for tests of `hone new`: templates, tensors as arguments, sizes taken from them, and
// the launch inside a dispatch macro.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

#include <algorithm>

namespace fused {

template <typename T>
__device__ __forceinline__ T silu(const T& v) {
  return (T)(((float)v) / (1.0f + expf(-(float)v)));
}

// in [tokens, 2 * d]: the gate, then the value. out [tokens, d].
template <typename scalar_t>
__global__ void silu_and_mul_kernel(scalar_t* __restrict__ out, const scalar_t* __restrict__ in, const int d) {
  const int64_t token = blockIdx.x;
  for (int64_t i = threadIdx.x; i < d; i += blockDim.x) {
    const scalar_t gate = in[token * 2 * d + i];
    const scalar_t value = in[token * 2 * d + d + i];
    out[token * d + i] = silu(gate) * value;
  }
}

}  // namespace fused

void silu_and_mul(torch::Tensor& out, torch::Tensor& in) {
  TORCH_CHECK(in.is_contiguous(), "in must be contiguous");
  const int d = in.size(-1) / 2;
  const int64_t tokens = in.numel() / in.size(-1);
  const dim3 grid(tokens);
  const dim3 block(std::min(d, 1024));
  const at::cuda::OptionalCUDAGuard guard(device_of(in));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(in.scalar_type(), "silu_and_mul_kernel", [&] {
    fused::silu_and_mul_kernel<scalar_t><<<grid, block, 0, stream>>>(out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), d);
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("silu_and_mul", &silu_and_mul); }
