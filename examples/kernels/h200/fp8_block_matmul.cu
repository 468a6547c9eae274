// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fp8_block_matmul for Hopper, in PTX: wgmma of 8-bit floats fed by TMA. One warp group fetches, two multiply, 128
// columns of both factors at a time; the sums of such a block leave the tensor core's registers before the next one
// begins, and are added to the results in float32, times both scales. While one group adds, the other multiplies. A
// block has 128 * HALVES rows of results: a group that has two halves reads b's tile for both. Two warps beside the one
// that fetches bring the scales, each row's times the columns', to shared memory, so that no group that multiplies
// waits for global memory. Clusters of two blocks stand side by side and share a, or above each other and share b;
// blocks stay and walk through tiles, in bands of GROUP cluster rows. Up to 64 rows, one warp group multiplies 64 x 64,
// and up to 128 no cluster is made: there the stream of b is what takes the time.
/*hone
constraints = ["STAGES * ((HALVES + 1) * 16384 + HALVES * 512) + 16384 * OUT + 2048 <= 232448"]

[tune]
HALVES = [2, 1]
STAGES = [3, 4, 6, 5]
OUT = [2, 1]
SHARE_A = [1, 0]
GROUP = [8, 4, 16]

[[tensor_map]]
name = "a_map"
tensor = "a"
dims = ["k", "m"]
strides = ["k"]
box = ["128", "128"]
swizzle = "128B"
l2_promotion = "256B"

[[tensor_map]]
name = "a_few_map"
tensor = "a"
dims = ["k", "m"]
strides = ["k"]
box = ["128", "64"]
swizzle = "128B"
l2_promotion = "256B"

[[tensor_map]]
name = "b_map"
tensor = "b"
dims = ["k", "n"]
strides = ["k"]
box = ["128", "64"]
swizzle = "128B"
l2_promotion = "256B"

[[tensor_map]]
name = "c_map"
tensor = "c"
dims = ["n", "m"]
strides = ["n * 2"]
box = ["64", "64"]
swizzle = "128B"

[[launch]]
kernel = "fp8_block_matmul<1, 1, 64, 10, 1, 2, false>"
grid   = ["m > 0 ? min(sm_count, ceil_div(n, 64)) : 0"]
block  = ["256"]
shared = "10 * ((64 + 64) * 128 + 256) + 16384 + 2048"
args   = ["tensormap:a_few_map", "tensormap:a_few_map", "tensormap:b_map", "tensormap:c_map", "a_scale", "b_scale", "m:i32", "n:i32", "k:i32", "1:i32"]
when   = "m <= 64 && n % 8 == 0 && k % 16 == 0 && k > 0"

[[launch]]
kernel = "fp8_block_matmul<2, 1, 128, 5, 1, 2, false>"
grid   = ["min(sm_count, ceil_div(n, 128))"]
block  = ["384"]
cluster = ["1"]
shared = "5 * ((128 + 128) * 128 + 512) + 32768 + 2048"
args   = ["tensormap:a_map", "tensormap:a_few_map", "tensormap:b_map", "tensormap:c_map", "a_scale", "b_scale", "m:i32", "n:i32", "k:i32", "1:i32"]
when   = "m <= 128 && n % 8 == 0 && k % 16 == 0 && k > 0"

[[launch]]
kernel = "fp8_block_matmul<2, HALVES, 128, STAGES, 2, OUT, (SHARE_A > 0)>"
grid   = ["2 * min(sm_count / 2, ceil_div(m, 128 * HALVES * (2 - SHARE_A)) * ceil_div(n, 128 * (1 + SHARE_A)))"]
block  = ["384"]
cluster = ["2"]
shared = "STAGES * ((HALVES + 1) * 16384 + HALVES * 512) + 16384 * OUT + 2048"
args   = ["tensormap:a_map", "tensormap:a_few_map", "tensormap:b_map", "tensormap:c_map", "a_scale", "b_scale", "m:i32", "n:i32", "k:i32", "GROUP:i32"]
when   = "n % 8 == 0 && k % 16 == 0 && k > 0"

[[launch]]
kernel = "any_shape"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>
#include <cuda_fp8.h>

namespace {

__device__ __forceinline__ unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// mbarriers, named by their addresses in shared memory.
__device__ __forceinline__ void InitBarrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void Wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void ExpectBytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void Arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Of the cluster's block `rank`. Without .release.cluster: that would wait for all memory operations at every step, and
// what the arrival tells is only that wgmma has read a slot.
__device__ __forceinline__ void ArriveAt(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ void LoadTile(unsigned to, const CUtensorMap* map, unsigned barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
          "r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void LoadTileToPair(unsigned to, const CUtensorMap* map, unsigned barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(static_cast<unsigned short>(3))
      : "memory");
}
__device__ __forceinline__ void StoreTile(const CUtensorMap* map, unsigned from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from),
               "r"(x), "r"(y)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void WaitForStores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Where wgmma finds a tile with rows of 128 bytes, swizzled; `leading` and `stride` in bytes.
__device__ __forceinline__ unsigned long long Descriptor(unsigned address, unsigned leading, unsigned stride) {
  return static_cast<unsigned long long>(address >> 4 & 0x3fff) | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32 | 1ULL << 62;
}
__device__ __forceinline__ void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void CommitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void WaitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SUM_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUM_16(i) SUM_4(i), SUM_4(i + 4), SUM_4(i + 8), SUM_4(i + 12)

// sum [64, N] = a [64, 32] b [N, 32]^T, added to the sum if `add`: N is twice the sums of a thread.
__device__ __forceinline__ void Multiply(float (&sum)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" TEN()
          TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63}, %64, %65, add, 1, 1;\n}"
      : SUM_16(0), SUM_16(16), SUM_16(32), SUM_16(48)
      : "l"(a), "l"(b), "r"(add));
}
__device__ __forceinline__ void Multiply(float (&sum)[32], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" TEN()
          TEN(1) TEN(2) "%30,%31}, %32, %33, add, 1, 1;\n}"
      : SUM_16(0), SUM_16(16)
      : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ unsigned Packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}
__device__ __forceinline__ void StoreMatrices(unsigned to, unsigned r0, unsigned r1, unsigned r2, unsigned r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(r0), "r"(r1), "r"(r2),
               "r"(r3)
               : "memory");
}

}  // namespace

// a [m, k], b [n, k], c [m, n] by their maps, all rows multiples of 16 bytes. Blocks of kConsumers warp groups that
// multiply and one, the first, that fetches; kCluster blocks stand side by side (kShareA) or above each other. Shared
// memory: kStages of {a [64 kConsumers kHalves][128], b [kBN][128]}, kOut tiles of 64 x 64 results a consumer, kStages
// of scales [64 kConsumers kHalves], barriers.
template <int kConsumers, int kHalves, int kBN, int kStages, int kCluster, int kOut, bool kShareA>
__global__ void __launch_bounds__(128 * kConsumers + 128, 1)
    fp8_block_matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_few_map,
                     const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map,
                     const float* __restrict__ a_scale, const float* __restrict__ b_scale, int m, int n, int k,
                     int group) {
  constexpr int kHalf = 64 * kConsumers, kBM = kHalf * kHalves, kBK = 128;
  constexpr int kScaleWarps = 2, kAtOnce = kHalves == 2 ? 2 : 4;  // steps whose scales are fetched together
  constexpr unsigned kBytesA = kBM * kBK, kBytesB = kBN * kBK, kStage = kBytesA + kBytesB;
  constexpr unsigned kBytesOut = 64 * 64 * 2;
  constexpr int kArrivals = kCluster * kConsumers;  // a warp group's first threads tell one block each
  extern __shared__ unsigned char raw[];
  // The swizzle is a function of the address: tiles start at multiples of 1024.
  const unsigned base = (SharedAddress(raw) + 1023) & ~1023u;
  const unsigned out = base + kStages * kStage, scales = out + kOut * kConsumers * kBytesOut;
  const unsigned full = scales + kStages * kBM * 4, empty = full + 8 * kStages;
  unsigned rank = 0;
  if constexpr (kCluster > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      InitBarrier(full + 8 * s, 1 + kScaleWarps);
      InitBarrier(empty + 8 * s, kArrivals);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  const auto meet = [] {
    if constexpr (kCluster > 1) {
      asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    } else {
      __syncthreads();
    }
  };
  meet();

  constexpr int kAcross = kShareA ? kCluster : 1, kDown = kShareA ? 1 : kCluster;  // blocks of a cluster
  const int rows = (m + kDown * kBM - 1) / (kDown * kBM), columns = (n + kAcross * kBN - 1) / (kAcross * kBN);
  const int tiles = rows * columns, clusters = gridDim.x / kCluster, steps = (k + kBK - 1) / kBK;
  const auto place = [&](int tile, int& row, int& column) {
    const int first = tile / (group * columns) * group, rest = tile % (group * columns);
    const int high = min(group, rows - first);
    row = ((first + rest % high) * kDown + (kShareA ? 0 : rank)) * kBM;
    column = (rest / high * kAcross + (kShareA ? rank : 0)) * kBN;
  };

  if (threadIdx.x < 128) {
    if constexpr (kConsumers == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    if (threadIdx.x == 0) {
      int s = 0;
      unsigned phase = 1;  // a wait for the phase before the first passes: all slots are empty
      for (int tile = blockIdx.x / kCluster; tile < tiles; tile += clusters) {
        int row, column;
        place(tile, row, column);
        for (int step = 0; step < steps; ++step) {
          const unsigned slot = base + s * kStage, barrier = full + 8 * s;
          Wait(empty + 8 * s, phase);
          ExpectBytes(barrier, kStage);
          // What is shared comes in halves, of which each block fetches one for both.
#pragma unroll
          for (int half = 0; half < kHalves; ++half) {
            const unsigned to = slot + half * kHalf * kBK;
            if constexpr (kShareA && kCluster > 1 && kHalves == 1) {
              LoadTileToPair(to + rank * 64 * kBK, &a_few_map, barrier, step * kBK, row + rank * 64);
            } else if constexpr (kShareA && kCluster > 1) {
              if (half == rank) LoadTileToPair(to, &a_map, barrier, step * kBK, row + half * kHalf);
            } else {
              LoadTile(to, &a_map, barrier, step * kBK, row + half * kHalf);
            }
          }
#pragma unroll
          for (int part = 0; part < kBN / 64; ++part) {
            const unsigned to = slot + kBytesA + part * 64 * kBK;
            if constexpr (!kShareA && kCluster > 1) {
              if (part == rank) LoadTileToPair(to, &b_map, barrier, step * kBK, column + part * 64);
            } else {
              LoadTile(to, &b_map, barrier, step * kBK, column + part * 64);
            }
          }
          if (++s == kStages) s = 0, phase ^= 1;
        }
      }
    } else if (threadIdx.x / 32 >= 1 && threadIdx.x / 32 <= kScaleWarps) {
      constexpr int kEach = kBM / (32 * kScaleWarps);  // rows of a lane
      const int lane = threadIdx.x % 32, my_row = (threadIdx.x / 32 - 1) * 32 * kEach + lane;
      int s = 0;
      unsigned phase = 1;
      for (int tile = blockIdx.x / kCluster; tile < tiles; tile += clusters) {
        int row, column;
        place(tile, row, column);
        const float* const of_columns = b_scale + static_cast<long long>(min(column, n - 1) / 128) * steps;
        for (int begin = 0; begin < steps; begin += kAtOnce) {
          float scale[kEach][kAtOnce];
#pragma unroll
          for (int i = 0; i < kEach; ++i) {
            const float* const of_row = a_scale + static_cast<long long>(min(row + my_row + i * 32, m - 1)) * steps;
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) scale[i][j] = __ldg(of_row + min(begin + j, steps - 1));
          }
#pragma unroll
          for (int j = 0; j < kAtOnce; ++j) {
            if (begin + j >= steps) break;
            const float of_column = __ldg(of_columns + begin + j);
            Wait(empty + 8 * s, phase);
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
              asm volatile("st.shared.f32 [%0], %1;" ::"r"(scales + (s * kBM + my_row + i * 32) * 4),
                           "f"(scale[i][j] * of_column)
                           : "memory");
            }
            __syncwarp();
            if (lane == 0) Arrive(full + 8 * s);
            if (++s == kStages) s = 0, phase ^= 1;
          }
        }
      }
    }
    __syncwarp();
  } else {
    if constexpr (kConsumers == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
    const int consumer = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    float sum[kHalves][kBN / 2], part[kBN / 2];
    const auto leave = [&](int slot) {
      if (thread < kCluster) ArriveAt(empty + 8 * slot, thread);
    };
    const unsigned out_row = thread / 32 * 16 + thread % 16, out_chunk = thread % 32 / 16;
    const unsigned my_out = out + consumer * kOut * kBytesOut;
    unsigned stored = 0;

    int s = 0;
    unsigned phase = 0;
    for (int tile = blockIdx.x / kCluster; tile < tiles; tile += clusters) {
      int row, column;
      place(tile, row, column);
#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
#pragma unroll
        for (int i = 0; i < kBN / 2; ++i) sum[half][i] = 0.0f;
      }
#pragma unroll 2
      for (int step = 0; step < steps; ++step) {
        const unsigned slot = base + s * kStage;
        Wait(full + 8 * s, phase);
        float of_low[kHalves], of_high[kHalves];
#pragma unroll
        for (int half = 0; half < kHalves; ++half) {
          const unsigned from =
              scales + (s * kBM + half * kHalf + consumer * 64 + thread / 32 * 16 + thread % 32 / 4) * 4;
          asm volatile("ld.shared.f32 %0, [%1];" : "=f"(of_low[half]) : "r"(from) : "memory");
          asm volatile("ld.shared.f32 %0, [%1];" : "=f"(of_high[half]) : "r"(from + 32) : "memory");
        }
        const unsigned long long b = Descriptor(slot + kBytesA, 16, 1024);
#pragma unroll
        for (int half = 0; half < kHalves; ++half) {
          const unsigned long long a = Descriptor(slot + (half * kHalf + consumer * 64) * kBK, 16, 1024);
          BeginProducts();
#pragma unroll
          for (int i = 0; i < kBK / 32; ++i) Multiply(part, a + i * 2, b + i * 2, i);
          CommitProducts();
          WaitForProducts<0>();
          if (half == kHalves - 1) leave(s);
#pragma unroll
          for (int i = 0; i < kBN / 2; i += 4) {
            sum[half][i] += of_low[half] * part[i];
            sum[half][i + 1] += of_low[half] * part[i + 1];
            sum[half][i + 2] += of_high[half] * part[i + 2];
            sum[half][i + 3] += of_high[half] * part[i + 3];
          }
        }
        if (++s == kStages) s = 0, phase ^= 1;
      }

#pragma unroll
      for (int half = 0; half < kHalves; ++half) {
#pragma unroll
        for (int j = 0; j < kBN / 64; ++j) {
          const unsigned tile_out =
              my_out + stored * kBytesOut;  // the tiles take turns, from one tile of results to the next
          if (++stored == kOut) stored = 0;
          if (thread == 0) WaitForStores<kOut - 1>();
          asm volatile("bar.sync %0, 128;" ::"r"(consumer + 1) : "memory");
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float* from = sum[half] + j * 32 + i * 8;
            const unsigned chunk = (2 * i + out_chunk) ^ (out_row % 8);  // of 16 bytes, where TMA's swizzle expects it
            StoreMatrices(tile_out + out_row * 128 + chunk * 16, Packed(from[0], from[1]), Packed(from[2], from[3]),
                          Packed(from[4], from[5]), Packed(from[6], from[7]));
          }
          asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
          asm volatile("bar.sync %0, 128;" ::"r"(consumer + 1) : "memory");
          if (thread == 0) StoreTile(&c_map, tile_out, column + j * 64, row + half * kHalf + consumer * 64);
        }
      }
    }
    if (thread == 0) WaitForStores<0>();
  }
  meet();  // no block leaves while its neighbour may still write to it or arrive at its barriers
}

// What the copy engine cannot bring: rows that are no multiple of 16 bytes, and no products at all.
__global__ void any_shape(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b, const float* b_scale,
                          __nv_bfloat16* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  const long long row = i / n, column = i % n, steps = (k + 127) / 128;
  float sum = 0.0f;
  for (long long step = 0; step < steps; ++step) {
    float part = 0.0f;
    for (long long j = step * 128; j < min(k, step * 128 + 128); ++j) {
      part += static_cast<float>(a[row * k + j]) * static_cast<float>(b[column * k + j]);
    }
    sum += part * a_scale[row * steps + step] * b_scale[column / 128 * steps + step];
  }
  c[i] = __float2bfloat16(sum);
}
