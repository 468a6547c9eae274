// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fused_add_rmsnorm as an H200 wants it (benchmarks/results/2026-11-22-h200-serving-kernels.json): the kernels of
// examples/kernels/fused_add_rmsnorm.cu, bound by shape, and for a few wide rows one that shares each among eight SMs,
// which hand each other their sums by asynchronous stores. The simulated GPU runs no clusters; an H200 has judged this
// file.
/*hone
[[launch]]
kernel = "fused_add_rmsnorm_row<2, 64, 8, false, 1, true>"
grid   = ["tokens * 8"]
block  = ["64"]
cluster = ["8"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d == 8192 && tokens * 8 <= sm_count && cc >= 90"

[[launch]]
kernel = "fused_add_rmsnorm_row<2, 128, 8, false, 1, false>"
grid   = ["tokens * 8"]
block  = ["128"]
cluster = ["8"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 16384 && d >= 4096 && tokens * 8 <= sm_count && cc >= 90"

[[launch]]
kernel = "fused_add_rmsnorm_row<4, 256, 8, false, 1, false>"
grid   = ["tokens * 8"]
block  = ["256"]
cluster = ["8"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 65536 && d > 16384 && tokens * 8 <= sm_count && cc >= 90"

[[launch]]
kernel = "fused_add_rmsnorm_row<2, 256, 1, false, 2, true>"
grid   = ["tokens"]
block  = ["256"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d == 4096 && tokens <= 2 * sm_count"

[[launch]]
kernel = "fused_add_rmsnorm_row<2, 256, 1, false, 2, false>"
grid   = ["tokens"]
block  = ["256"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 4096 && tokens <= 2 * sm_count"

[[launch]]
kernel = "fused_add_rmsnorm_row<2, 512, 1, false, 1, false>"
grid   = ["tokens"]
block  = ["512"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 8192 && tokens <= 2 * sm_count"

[[launch]]
kernel = "fused_add_rmsnorm_row<4, 128, 1, false, 8, true>"
grid   = ["tokens"]
block  = ["128"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d == 4096 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_row<4, 352, 1, false, 2, false>"
grid   = ["tokens"]
block  = ["352"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 11264 && d > 8192 && tokens > 4 * sm_count && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_shared<256, false, 8>"
grid   = ["tokens"]
block  = ["256"]
shared = "2 * d"
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 8192 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_shared<448, true, 4>"
grid   = ["tokens"]
block  = ["448"]
shared = "2 * d"
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 16384 && tokens <= 4 * sm_count"

[[launch]]
kernel = "fused_add_rmsnorm_row<4, 512, 1, false, 2, false>"
grid   = ["tokens"]
block  = ["512"]
args   = ["x", "residual", "weight", "eps:f32", "d / 8:u32"]
when   = "d % 8 == 0 && d > 0 && d <= 16384 && tokens <= 2147483647"

[[launch]]
kernel = "fused_add_rmsnorm_row<4, 768, 1, false, 1, false>"
grid   = ["tokens"]
block  = ["768"]
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

// The sum over the block of kThreads, a multiple of 32, in every thread. A value a warp in `partial`, which may not be
// used again before a barrier.
template <int kThreads>
__device__ __forceinline__ float BlockSum(float value, float* partial) {
  value = WarpSum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i) sum += partial[i];
  return sum;
}

template <bool kStream>
__device__ __forceinline__ uint4 Load(const uint4* p) {
  return kStream ? __ldcs(p) : *p;
}

template <bool kStream>
__device__ __forceinline__ void Store(uint4* p, const uint4& value) {
  if (kStream) {
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

  // All threads; the barrier is ready for the others once Send has waited for them.
  __device__ __forceinline__ void Prepare() {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(Address(&barrier)) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(Address(&barrier)),
                   "r"(kCluster * kWarps * 4)
                   : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  }

  // The warp's sum, the same in all of its lanes, to all blocks.
  __device__ __forceinline__ void Send(float sum, unsigned rank) {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
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
  }

  // The sum over the cluster, in every thread.
  __device__ __forceinline__ float Receive() {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "wait:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n"
        "@!done bra wait;\n"
        "}" ::"r"(Address(&barrier))
        : "memory");
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kCluster * kWarps; ++i) sum += sums[i];
    return sum;
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
template <int kEach, int kThreads, int kCluster, bool kStream, int kBlocks, bool kWhole>
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
      added[i] = Load<kStream>(x_row + at);
      sums[i] = Load<kStream>(residual_row + at);
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    if (kWhole || at < vectors) weights[i] = __ldg(reinterpret_cast<const uint4*>(weight) + at);
  }
  __shared__ __align__(16) typename Sums<kCluster, kThreads / 32>::Type shared;
  if constexpr (kCluster > 1) shared.Prepare();
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    if (kWhole || at < vectors) {
      squares += Add(sums[i], added[i]);
      Store<kStream>(residual_row + at, sums[i]);
    }
  }
  float total;
  if constexpr (kCluster > 1) {
    shared.Send(WarpSum(squares), rank);
    total = shared.Receive();
  } else {
    total = BlockSum<kThreads>(squares, shared.sums);
  }
  const float scale = rsqrtf(__fdividef(total, static_cast<float>(8 * vectors)) + eps);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const unsigned at = first + i * kThreads;
    if (kWhole || at < vectors) Store<kStream>(x_row + at, Scaled(sums[i], scale, weights[i]));
  }
}

// A block of kThreads a row; `sums` has room for it.
template <int kThreads, bool kStream, int kBlocks>
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
    const uint4 added = Load<kStream>(x_row + at);
    uint4 sum = Load<kStream>(residual_row + at);
    squares += Add(sum, added);
    Store<kStream>(residual_row + at, sum);
    sums[at] = sum;
  }
  const float total = BlockSum<kThreads>(squares, partial);
  const float scale = rsqrtf(__fdividef(total, static_cast<float>(8 * vectors)) + eps);
#pragma unroll 1
  for (unsigned at = threadIdx.x; at < vectors; at += kThreads) {
    Store<kStream>(x_row + at, Scaled(sums[at], scale, __ldg(reinterpret_cast<const uint4*>(weight) + at)));
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
