// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// FlashInfer's top-k, as a contender (../contender.h): its host function, which chooses between its two kernels by the
// shape, and then sorts what was found, as its top_k(sorted=True) does.
//
//   nvcc -shared -Xcompiler -fPIC -std=c++17 -O3 --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a \
//     -I FLASHINFER/data/include -I FLASHINFER/data/cccl/libcudacxx/include -I FLASHINFER/data/cccl/cub \
//     -I FLASHINFER/data/cccl/thrust -I .. flashinfer_top_k.cu -o flashinfer_top_k.so
//
// FLASHINFER is the folder `flashinfer` of its Python package, 0.7.4 when this was written.
#include <cuda_runtime.h>

#include <flashinfer/math.cuh>
#include <flashinfer/topk.cuh>

#include "contender.h"

extern "C" const char* contender_task(void) { return "top_k"; }

namespace {
// What its kernel of several blocks a row counts in; its Python function keeps as much, zeroed once.
constexpr size_t kStates = size_t{1} << 20;
flashinfer::sampling::RadixRowState* states = nullptr;
}  // namespace

extern "C" int contender_prepare(const HoneProblem*) {
  if (states != nullptr) return 0;
  return cudaMalloc(&states, kStates) == cudaSuccess && cudaMemset(states, 0, kStates) == cudaSuccess &&
                 cudaDeviceSynchronize() == cudaSuccess
             ? 0
             : 2;
}

// Dimensions: rows, d, k. Tensors: x, values, ids.
extern "C" int contender_launch(const HoneProblem* p, void* stream) {
  const cudaError_t status = flashinfer::sampling::TopKDispatch<float, int32_t>(
      static_cast<float*>(p->tensors[0]), static_cast<int32_t*>(p->tensors[2]), static_cast<float*>(p->tensors[1]),
      static_cast<uint32_t>(p->dims[0]), static_cast<uint32_t>(p->dims[2]), static_cast<uint32_t>(p->dims[1]), states,
      true, false, flashinfer::sampling::TopKTieBreak::None, static_cast<cudaStream_t>(stream));
  return status == cudaSuccess ? 0 : 2;
}
