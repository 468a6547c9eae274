// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies from global to shared memory. A copy in flight occupies shared memory but no registers, so many
// more copies can be in flight than loads of row_loads.cuh.
//
// A thread that reads only what it copied itself needs no barrier: AwaitCopies is enough. On the emulated runtime a
// copy is complete as soon as it is started.
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
// Copies 16 bytes, both addresses 16-byte aligned, bypassing the first-level cache.
__device__ inline void StartCopy16(uint4* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
}
// Makes one group of the copies that the thread has started since its last call.
__device__ inline void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most kLeft of the thread's groups are in flight, which are the latest ones.
template <int kLeft>
__device__ inline void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
#endif

// Reports the most shared memory that a thread block of the current device may have.
inline cudaError_t MostSharedBytes(int* bytes) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error
                              : cudaDeviceGetAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

// Copies a vector of eight elements. The lanes of a warp lie 16 bytes apart in shared memory; where a vector has 32
// bytes, the second halves of all lanes follow the first halves.
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
