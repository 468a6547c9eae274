// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// vLLM's gating kernel (csrc/moe/topk_softmax_kernels.cu, which came from TensorRT-LLM and which SGLang has too), as a
// contender (../contender.h). Its weights are those of the softmax over all experts; that they shall add up to 1 is one
// more kernel of PyTorch's there, which is not timed.
//
//   nvcc -shared -Xcompiler -fPIC -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -I FOLDER -I .. vllm_gating.cu
//   -o vllm_gating.so
//
// FOLDER holds topk_softmax_kernels.cu without its includes of PyTorch and without its last function, the one that
// takes tensors.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#define TORCH_CHECK(condition, ...) \
  if (!(condition)) std::abort()
#include "contender.h"
#include <cub/cub.cuh>
#include <cuda/functional>
namespace cub {  // what newer toolkits no longer have
using Sum = ::cuda::std::plus<>;
using Max = ::cuda::maximum<>;
}  // namespace cub
#include "topk_softmax_kernels.cu"

extern "C" const char* contender_task(void) { return "moe_gating"; }

// Dimensions: tokens, num_experts, top_k. Tensors: logits, weights, experts.
extern "C" int contender_launch(const HoneProblem* p, void* stream) {
  static int* rows = nullptr;  // it also writes which row each expert was chosen by
  static int64_t room = 0;
  const int64_t wanted = p->dims[0] * p->dims[2];
  if (wanted > room) {
    if (cudaMalloc(&rows, wanted * sizeof(int)) != cudaSuccess) return 2;
    room = wanted;
  }
  moe_kernels::moe::topkGatingSoftmaxKernelLauncher(
      static_cast<const float*>(p->tensors[0]), static_cast<float*>(p->tensors[1]), static_cast<int*>(p->tensors[2]),
      rows, nullptr, static_cast<int>(p->dims[0]), static_cast<int>(p->dims[1]), static_cast<int>(p->dims[2]),
      static_cast<cudaStream_t>(stream));
  return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
