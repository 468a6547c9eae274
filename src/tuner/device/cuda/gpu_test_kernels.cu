// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Candidate kernels for cuda_session_gpu_test.cc, for what only a GPU shows: time, cooperation between blocks, and
// what happens to kernels that misbehave. Compiled at build time; the test loads the image as if Hone's compiler had
// made it.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda.h>

__device__ uint64_t Nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// ---- honest ----
extern "C" __global__ void busy(float* out, unsigned nanoseconds) {
  const uint64_t start = Nanoseconds();
  while (Nanoseconds() - start < nanoseconds) {}
  if (threadIdx.x == 0 && blockIdx.x == 0) out[0] += 1.0f;
}

extern "C" __global__ void dynamic_shared(float* out, int floats) {
  extern __shared__ float memory[];
  for (int i = threadIdx.x; i < floats; i += blockDim.x) memory[i] = static_cast<float>(i);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = memory[floats - 1];
}

extern "C" __global__ void grid_sync(float* out) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) out[1 + blockIdx.x] = 1.0f;
  grid.sync();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += out[1 + i];
    out[0] = sum;
  }
}

// ---- misbehaving ----
extern "C" __global__ void wild_write(float* out) { out[1LL << 40] = 1.0f; }
extern "C" __global__ void misaligned(float* out) {
  asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(reinterpret_cast<char*>(out) + 4), "f"(1.0f) : "memory");
}
extern "C" __global__ void trap(float*) { __trap(); }
extern "C" __global__ void hang(volatile float* out) { while (out[0] != 12345.0f) {} }
extern "C" __global__ void __launch_bounds__(128) narrow(float* out) { out[threadIdx.x] = 1.0f; }

// ---- compute capability 9.0 ----
extern "C" __global__ void cluster_size(float* out) {
#if __CUDA_ARCH__ >= 900
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<float>(blocks);
#endif
}

// The first of a dependent pair lets the second start before it has written; the second must wait for it.
extern "C" __global__ void dependent_first(float* out) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const uint64_t start = Nanoseconds();
  while (Nanoseconds() - start < 20000) {}
  if (threadIdx.x == 0) out[blockIdx.x] = 3.0f;
}
extern "C" __global__ void dependent_second(const float* in, float* out) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x] * 2.0f;
}

// Loads an 8 x 16 box of a float matrix through a tensor map into shared memory and writes it out.
extern "C" __global__ void tensor_map_box(const __grid_constant__ CUtensorMap map, float* out, int x, int y) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float box[8 * 16];
  __shared__ alignas(8) uint64_t barrier;
  const auto barrier_at = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  const auto box_at = static_cast<uint32_t>(__cvta_generic_to_shared(box));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_at), "r"(8 * 16 * 4) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(box_at),
        "l"(&map), "r"(x), "r"(y), "r"(barrier_at)
        : "memory");
  }
  __syncthreads();
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier_at)
        : "memory");
  }
  for (int i = threadIdx.x; i < 8 * 16; i += blockDim.x) out[i] = box[i];
#endif
}
