// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies from global to shared memory that a thread starts and later waits for: what it has under way costs shared
// memory and no registers, so that it can be far more than row_loads.cuh allows.
//
// A thread that reads only what it copied itself needs no barrier: AwaitCopies is enough. On the emulated runtime a copy
// is done when it is started.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gnn/cuda/base/row_loads.cuh"

namespace hone::gnn::cuda {

#if defined(HONE_SIM)
__device__ inline void StartCopy16(uint4* shared, const void* global) { *shared = *static_cast<const uint4*>(global); }
__device__ inline void CommitCopies() {}
template <int kLeft>
__device__ inline void AwaitCopies() {}
#else
// 16 bytes, aligned to as much; past the first level of cache.
__device__ inline void StartCopy16(uint4* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
}
// What the thread has started since the last call is one group.
__device__ inline void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most kLeft of the thread's groups are under way, the latest ones.
template <int kLeft>
__device__ inline void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
#endif

// That a block of the current device may have.
inline cudaError_t MostSharedBytes(int* bytes) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error
                              : cudaDeviceGetAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

// A vector of eight; the lanes of a warp lie 16 bytes apart, and where a vector has 32 bytes its second half comes after
// the first halves of all.
template <typename T>
__device__ inline void StartVector(uint4* to, const T* from) {
  StartCopy16(to, from);
  if constexpr (sizeof(T) == 4) StartCopy16(to + 32, from + 4);
}
template <typename T>
__device__ inline RawOf<T> CopiedVector(const uint4* from) {
  if constexpr (sizeof(T) == 4) {
    return {*reinterpret_cast<const float4*>(from), *reinterpret_cast<const float4*>(from + 32)};
  } else {
    return {*from};
  }
}

}  // namespace hone::gnn::cuda
