// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches every kernel of the engine by a function call with typed arguments instead of `<<<>>>`.
//
// A .cu file is then plain C++ except for CUDA's keywords, so the same sources also compile for the emulated runtime
// (emulated/runtime.h), where kernels run without a GPU. With nvcc a launch becomes the same runtime call that `<<<>>>`
// makes, and a stream capture records it in the same way. Only .cu files may include this file.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <tuple>
#include <utility>

namespace hone::gnn::cuda {

// Enqueues kernel(arguments…) on `stream`; arguments are converted to the kernel's parameters. An error also stays for
// cudaPeekAtLastError, so that a function which launches several kernels may check once, at its end. A kernel
// template's arguments must be spelled out: Launch(GatherKernel<float>, …).
template <typename... Parameters, typename... Arguments>
cudaError_t Launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                   Arguments&&... arguments) {
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  return std::apply(
      [&](auto&... value) {
        void* pointers[] = {&value..., nullptr};
        return cudaLaunchKernel(kernel, grid, block, pointers, shared_bytes, stream);
      },
      values);
}

#if defined(HONE_SIM)  // the emulated runtime's headers
template <typename T>
T* DynamicShared() {
  return static_cast<T*>(emulated::DynamicSharedMemory());
}
#else
// Returns the dynamic shared memory of the thread block: the launch's `shared_bytes`, aligned to 16 bytes. It replaces
// an `extern __shared__` array, which only nvcc understands.
template <typename T>
__device__ T* DynamicShared() {
  extern __shared__ __align__(16) unsigned char hone_dynamic_shared[];
  return reinterpret_cast<T*>(hone_dynamic_shared);
}
#endif

}  // namespace hone::gnn::cuda
