// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fused_add_rmsnorm that holds a row's sum on the chip: residual and x are each read and written once. A row has
// THREADS threads with EACH 16-byte vectors each, in registers, so that the tunables trade blocks in flight against
// loads in flight. Rows that this divides exactly have a kernel that knows it: nothing is compared on the way. What
// leaves half of it idle or does not fit has a block of a size of its own, or is held in shared memory.
//
// CLUSTER: where there are few rows, each is shared among so many SMs, which hand each other their sums by asynchronous
// stores; the simulated GPU has no clusters and is given 1. BLOCKS: how many blocks registers must leave room for on an
// SM. LATE 0: the weights are asked for with the row, so that they are there when the sum is; LATE 1: after the sum,
// which spares registers, and memory for what the sum waits for. HINT: what the caches are asked. 1: to let go of all
// lines first, which pays only while everything fits into L2; 2: to keep in L2 what is loaded, which pays above. What
// the constraints leave out was no match in launches one after the other (h200/README.md).
/*hone
[tune]
EACH = [2, 3, 4, 8]
THREADS = [256, 64, 128, 224, 320, 480, 704]
CLUSTER = [1, 8]
BLOCKS = [2, 1, 4, 8]
HINT = [1, 0, 2]
LATE = [0, 1]
constraints = [
  "CLUSTER == 1 || EACH * THREADS == 128 && BLOCKS == 1 && HINT == 0",
  "CLUSTER > 1 || THREADS > 64 && EACH * THREADS >= 512 && EACH != 3 || EACH * THREADS == 1440",
  "CLUSTER > 1 || EACH * THREADS <= 640 || EACH * THREADS == 1408 || EACH * THREADS == 1440 || EACH * THREADS == 1792",
  "CLUSTER > 1 || THREADS * BLOCKS >= 896 && THREADS * BLOCKS <= 1408 || THREADS == 256 && BLOCKS != 1",
  "LATE == 0 || THREADS * BLOCKS < 1024",
  "EACH * THREADS != 512 || HINT == 1",
]

[[launch]]
kernel = "fused_add_rmsnorm_row<EACH, THREADS, CLUSTER, HINT, BLOCKS, LATE, true>"
grid   = ["tokens * CLUSTER"]
block  = ["THREADS"]
cluster = ["CLUSTER"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "CLUSTER > 1 && d == 8 * EACH * THREADS * CLUSTER && tokens * CLUSTER <= sm_count && cc >= 90"

[[launch]]
kernel = "fused_add_rmsnorm_row<EACH, THREADS, CLUSTER, HINT, BLOCKS, LATE, false>"
grid   = ["tokens * CLUSTER"]
block  = ["THREADS"]
cluster = ["CLUSTER"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = """CLUSTER > 1 && d % 8 == 0 && d >= 4096 && d <= 8 * EACH * THREADS * CLUSTER && \
            tokens * CLUSTER <= sm_count && cc >= 90"""

[[launch]]
kernel = "fused_add_rmsnorm_row<EACH, THREADS, 1, HINT, BLOCKS, LATE, true>"
grid   = ["tokens"]
block  = ["THREADS"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d == 8 * EACH * THREADS && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_row<EACH, THREADS, 1, HINT, BLOCKS, LATE, false>"
grid   = ["tokens"]
block  = ["THREADS"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && EACH < 8 && d > 4 * EACH * THREADS && d <= 8 * EACH * THREADS && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_row<2, 256, 1, HINT, 4, 0, false>"
grid   = ["tokens"]
block  = ["256"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 4096 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_shared<256, HINT, 8>"
grid   = ["tokens"]
block  = ["256"]
shared = "2 * d"
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 8192 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_row<3, 480, 1, HINT, 2, 0, false>"
grid   = ["tokens"]
block  = ["480"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 11520 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_shared<448, HINT, 4>"
grid   = ["tokens"]
block  = ["448"]
shared = "2 * d"
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 24576 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_any<8>"
grid   = ["d > 0 ? min(tokens, 2147483647) : 0"]
block  = ["512"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
when   = "d % 8 == 0"

[[launch]]
kernel = "fused_add_rmsnorm_any<1>"
grid   = ["min(tokens, 2147483647)"]
block  = ["512"]
args   = ["x", "residual", "weight", "tokens:i64", "d:i64", "eps:f32"]
*/
#include <cuda_fp16.h>

namespace {

template <int kWidth>
struct Pack;
template <>
struct Pack<8> {
  using Type = uint4;
};
template <>
struct Pack<1> {
  using Type = __half;
};

__device__ __forceinline__ float WarpSum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// The sum of kCount values at a multiple of 16 bytes, in four chains where they are whole vectors.
template <int kCount>
__device__ __forceinline__ float SumOf(const float* values) {
  if constexpr (kCount % 4 == 0) {
    float4 sums = *reinterpret_cast<const float4*>(values);
#pragma unroll
    for (int i = 4; i < kCount; i += 4) {
      const float4 more = *reinterpret_cast<const float4*>(values + i);
      sums = make_float4(sums.x + more.x, sums.y + more.y, sums.z + more.z, sums.w + more.w);
    }
    return (sums.x + sums.y) + (sums.z + sums.w);
  } else {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum += values[i];
    return sum;
  }
}

// Lays down each warp's sum for the whole block to see. `partial` may not be used again before a barrier.
__device__ __forceinline__ void ShareSums(float value, float* partial) {
  value = WarpSum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
}

// The sum over the block of kThreads, a multiple of 32, in every thread.
template <int kThreads>
__device__ __forceinline__ float BlockSum(float value, float* partial) {
  ShareSums(value, partial);
  return SumOf<kThreads / 32>(partial);
}

template <int kHint>
__device__ __forceinline__ uint4 Load(const uint4* p) {
  if constexpr (kHint == 1) {
    return __ldcs(p);
  } else if constexpr (kHint == 2) {
    uint4 v;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "l"(policy));
    return v;
  } else {
    return *p;
  }
}

template <int kHint>
__device__ __forceinline__ void Store(uint4* p, const uint4& value) {
  if constexpr (kHint == 1) {
    __stcs(p, value);
  } else {
    *p = value;
  }
}

// sum += added, rounded to float16; the squares of the sum before it is rounded.
__device__ __forceinline__ float Add(uint4& sum, const uint4& added) {
  const __half2* a = reinterpret_cast<const __half2*>(&added);
  __half2* s = reinterpret_cast<__half2*>(&sum);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 p = __half22float2(a[j]), q = __half22float2(s[j]);
    const float2 value = make_float2(p.x + q.x, p.y + q.y);
    s[j] = __floats2half2_rn(value.x, value.y);
    squares += value.x * value.x + value.y * value.y;
  }
  return squares;
}

__device__ __forceinline__ uint4 Scaled(const uint4& sum, float scale, const uint4& weights) {
  const __half2* s = reinterpret_cast<const __half2*>(&sum);
  const __half2* w = reinterpret_cast<const __half2*>(&weights);
  uint4 packed;
  __half2* result = reinterpret_cast<__half2*>(&packed);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 value = __half22float2(s[j]), by = __half22float2(w[j]);
    result[j] = __floats2half2_rn(value.x * scale * by.x, value.y * scale * by.y);
  }
  return packed;
}

// What the warps of a cluster of kCluster blocks of kWarps hand each other: every warp stores its sum into the shared
// memory of every block, and each such store tells the barrier of the block it falls into how many bytes have come. A
// block thus waits once, for all of the cluster's warps, and not for its own first.
template <int kCluster, int kWarps>
struct ClusterSums {
  float sums[kCluster * kWarps];
  unsigned long long barrier;

  static __device__ __forceinline__ unsigned Address(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
  }

  // All threads, while their loads are under way: returns when the barriers of all blocks are ready. The arrival is
  // relaxed, for what the others must see is behind the fence: one that releases would wait for the loads.
  __device__ __forceinline__ void Prepare() {
#ifndef HONE_SIM
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(Address(&barrier)) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(Address(&barrier)),
                   "r"(kCluster * kWarps * 4)
                   : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }

  // The warp's sum, the same in all of its lanes, to all blocks.
  __device__ __forceinline__ void Send(float sum, unsigned rank) {
#ifndef HONE_SIM
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane >= kCluster) return;
    unsigned slot, there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(slot)
                 : "r"(Address(&sums[rank * kWarps + warp])), "r"(lane));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(Address(&barrier)), "r"(lane));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(slot),
                 "r"(__float_as_uint(sum)), "r"(there)
                 : "memory");
#endif
  }

  // All threads: returns when `sums` is complete.
  __device__ __forceinline__ void Receive() {
#ifndef HONE_SIM
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "wait:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
        "@!done bra wait;\n"
        "}" ::"r"(Address(&barrier))
        : "memory");
#endif
  }
};

template <int kCluster, int kWarps>
struct Sums {
  using Type = ClusterSums<kCluster, kWarps>;
};
template <int kWarps>
struct Sums<1, kWarps> {
  struct Type {
    float sums[kWarps];
  };
};

}  // namespace

// kCluster blocks of kThreads a row of `vectors` = d / 8, which is kEach * kThreads * kCluster if kWhole and at most
// that otherwise. kBlocks: so many blocks an SM should hold.
template <int kEach, int kThreads, int kCluster, int kHint, int kBlocks, int kLate, bool kWhole>
__global__ void __launch_bounds__(kThreads, kBlocks)
    fused_add_rmsnorm_row(__half* __restrict__ x, __half* __restrict__ residual, const __half* __restrict__ weight,
                          float eps, unsigned vectors) {
  if constexpr (kWhole) vectors = kEach * kThreads * kCluster;
  const unsigned row = blockIdx.x / kCluster, rank = blockIdx.x % kCluster;
  const unsigned first = rank * (kThreads * kEach) + threadIdx.x;
  uint4* x_row = reinterpret_cast<uint4*>(x) + static_cast<size_t>(row) * vectors;
  uint4* residual_row = reinterpret_cast<uint4*>(residual) + static_cast<size_t>(row) * vectors;
  uint4 added[kEach], sums[kEach], weights[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    if (kWhole || at < vectors) {
      added[i] = Load<kHint>(x_row + at);
      sums[i] = Load<kHint>(residual_row + at);
    }
  }
  if constexpr (!kLate) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const unsigned at = first + i * kThreads;
      if (kWhole || at < vectors) weights[i] = __ldg(reinterpret_cast<const uint4*>(weight) + at);
    }
  }
  __shared__ __align__(16) typename Sums<kCluster, kThreads / 32>::Type shared;
  if constexpr (kCluster > 1) shared.Prepare();
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    if (kWhole || at < vectors) {
      squares += Add(sums[i], added[i]);
      Store<kHint>(residual_row + at, sums[i]);
    }
  }
  const float inverse = 1.0f / static_cast<float>(8 * vectors);  // while others are waited for
  if constexpr (kCluster > 1) {
    shared.Send(WarpSum(squares), rank);
    shared.Receive();
  } else {
    ShareSums(squares, shared.sums);
  }
  if constexpr (kLate && kWhole) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const unsigned at = first + i * kThreads;
      weights[i] = __ldg(reinterpret_cast<const uint4*>(weight) + at);
    }
  }
  const float scale = rsqrtf(SumOf<kCluster * kThreads / 32>(shared.sums) * inverse + eps);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    if (kWhole || at < vectors) {
      if constexpr (kLate && !kWhole) weights[i] = __ldg(reinterpret_cast<const uint4*>(weight) + at);
      Store<kHint>(x_row + at, Scaled(sums[i], scale, weights[i]));
    }
  }
}

// A block of kThreads a row; `sums` has room for it.
template <int kThreads, int kHint, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    fused_add_rmsnorm_shared(__half* __restrict__ x, __half* __restrict__ residual, const __half* __restrict__ weight,
                             float eps, unsigned vectors) {
  extern __shared__ uint4 sums[];
  __shared__ __align__(16) float partial[kThreads / 32];
  uint4* x_row = reinterpret_cast<uint4*>(x) + static_cast<size_t>(blockIdx.x) * vectors;
  uint4* residual_row = reinterpret_cast<uint4*>(residual) + static_cast<size_t>(blockIdx.x) * vectors;
  float squares = 0.0f;
#pragma unroll 1
  for (unsigned at = threadIdx.x; at < vectors; at += kThreads) {
    const uint4 added = Load<kHint>(x_row + at);
    uint4 sum = Load<kHint>(residual_row + at);
    squares += Add(sum, added);
    Store<kHint>(residual_row + at, sum);
    sums[at] = sum;
  }
  const float total = BlockSum<kThreads>(squares, partial);
  const float scale = rsqrtf(__fdividef(total, static_cast<float>(8 * vectors)) + eps);
#pragma unroll 1
  for (unsigned at = threadIdx.x; at < vectors; at += kThreads) {
    Store<kHint>(x_row + at, Scaled(sums[at], scale, __ldg(reinterpret_cast<const uint4*>(weight) + at)));
  }
}

// Any width that is a multiple of kWidth, 512 threads a row: the sum is read back.
template <int kWidth>
__global__ void fused_add_rmsnorm_any(__half* __restrict__ x, __half* __restrict__ residual,
                                      const __half* __restrict__ weight, long long tokens, long long d, float eps) {
  using Vector = typename Pack<kWidth>::Type;
  __shared__ __align__(16) float partial[16];
  for (long long row = blockIdx.x; row < tokens; row += gridDim.x) {
    Vector* x_row = reinterpret_cast<Vector*>(x + row * d);
    Vector* residual_row = reinterpret_cast<Vector*>(residual + row * d);
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector added = x_row[i];
      Vector sum = residual_row[i];
      const __half* a = reinterpret_cast<const __half*>(&added);
      __half* s = reinterpret_cast<__half*>(&sum);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const float value = __half2float(a[j]) + __half2float(s[j]);
        s[j] = __float2half_rn(value);
        squares += value * value;
      }
      residual_row[i] = sum;
    }
    const float scale = rsqrtf(BlockSum<512>(squares, partial) / static_cast<float>(d) + eps);
    for (long long i = threadIdx.x; i < d / kWidth; i += blockDim.x) {
      const Vector sum = residual_row[i];
      const Vector weights = reinterpret_cast<const Vector*>(weight)[i];
      Vector packed;
      const __half* s = reinterpret_cast<const __half*>(&sum);
      const __half* w = reinterpret_cast<const __half*>(&weights);
      __half* r = reinterpret_cast<__half*>(&packed);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) r[j] = __float2half_rn(__half2float(s[j]) * scale * __half2float(w[j]));
      x_row[i] = packed;
    }
    __syncthreads();  // `partial` is used again
  }
}
