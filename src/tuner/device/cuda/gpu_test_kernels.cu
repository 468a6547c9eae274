// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides candidate kernels for cuda_session_gpu_test.cc, to test what only a GPU shows: time, cooperation between
// blocks, and the fate of kernels that misbehave. Compiled at build time; the test loads the image as if Hone's
// compiler had made it.
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

// ---- what one launch leaves for the next ----
__constant__ int kept_constant = 5;
__constant__ int kept_constants[1000] = {1, 2, 3};
// Returns an address of constant memory that the compiler does not recognise as such.
__device__ volatile int* Ordinary(const int* address) {
  asm volatile("" : "+l"(address));
  return const_cast<int*>(address);
}
// Writes constant memory through an ordinary address. The launch itself may still read the old value from the constant
// cache.
extern "C" __global__ void count_in_constant(float* out) {
  if (threadIdx.x != 0) return;
  volatile int* kept = Ordinary(&kept_constant);
  out[0] = static_cast<float>(*kept);
  *kept = *kept + 1;
  volatile int* last = Ordinary(&kept_constants[999]);
  out[1] = static_cast<float>(*last);
  *last = 7;
}
extern "C" __global__ void leave_in_shared(float* out, unsigned value, int words) {
  extern __shared__ unsigned kept_shared[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) kept_shared[i] = value;
  const uint64_t start = Nanoseconds();
  while (Nanoseconds() - start < 20000) {}
  __syncthreads();
  if (kept_shared[words - 1] != value) out[1] = 1.0f;
}
// Sets out[0] to the number of words with `value` in memory that this launch has not written.
extern "C" __global__ void find_in_shared(float* out, unsigned value, int words) {
  extern __shared__ unsigned kept_shared[];
  volatile unsigned* kept = kept_shared;
  int found = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) found += kept[i] == value;
  if (found > 0) atomicAdd(out, static_cast<float>(found));
}
constexpr int kLocalWords = 100;
extern "C" __global__ void __launch_bounds__(1024, 2) leave_in_local(float* out, unsigned value, int never) {
  volatile unsigned kept[kLocalWords];
#pragma unroll 1
  for (int i = 0; i < kLocalWords; ++i) kept[i] = value;
  const uint64_t start = Nanoseconds();
  while (Nanoseconds() - start < 20000) {}
  if (never != 0) out[1] = static_cast<float>(kept[never]);
}
extern "C" __global__ void __launch_bounds__(1024, 2) find_in_local(float* out, unsigned value, int never) {
  volatile unsigned kept[kLocalWords];
  if (never != 0) kept[never] = value;
  int found = 0;
#pragma unroll 1
  for (int i = 0; i < kLocalWords; ++i) found += kept[i] == value;
  if (found > 0) atomicAdd(out, static_cast<float>(found));
}
// Reads all words and asks L2 to keep them.
extern "C" __global__ void read_to_stay(const float4* x, float* out, int words) {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    float4 v;
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(x + i), "l"(policy));
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.2345f) out[0] = sum;
}
extern "C" __global__ void read_once(const float4* x, float* out, int words) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    const float4 v = x[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1.2345f) out[0] = sum;
}
// Copies `words` words, beginning `first` words past a variable of the program, to `out`. Then writes `value` to word
// `write_at` of them, unless that is negative.
__device__ int lonely_global = 11;
extern "C" __global__ void look_around(unsigned* out, long long first, int words, int write_at, unsigned value) {
  volatile unsigned* around = reinterpret_cast<volatile unsigned*>(&lonely_global) + first;
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = around[i];
  __syncthreads();
  if (threadIdx.x == 0 && write_at >= 0) around[write_at] = value;
}
