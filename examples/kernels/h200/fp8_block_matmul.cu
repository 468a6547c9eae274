// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// fp8_block_matmul for Hopper, in PTX: wgmma of 8-bit floats fed by TMA. One warp group fetches, two multiply 64 x 128
// results each, 128 columns of both factors at a time; the sums of such a block leave the tensor core's registers before
// the next one begins, and are added to the results in float32, times both scales. While one group adds, the other
// multiplies. Clusters of two blocks stand above each other and share their part of b; blocks stay and walk through
// tiles, in bands of GROUP cluster rows. Up to 64 rows, one warp group multiplies 64 x 64, and up to 128 no
// cluster is made: there the stream of b is what takes the time.
/*hone
constraints = ["STAGES * 32768 + 34816 <= 232448"]

[tune]
STAGES = [6, 4, 5]
CLUSTER = [2, 1]
GROUP = [8, 16, 4]

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
kernel = "fp8_block_matmul<1, 64, 10, 1>"
grid   = ["m > 0 ? min(sm_count, ceil_div(n, 64)) : 0"]
block  = ["256"]
shared = "10 * (64 + 64) * 128 + 18432"
args   = ["tensormap:a_few_map", "tensormap:b_map", "tensormap:c_map", "a_scale", "b_scale", "m:i32", "n:i32", "k:i32", "1:i32"]
when   = "m <= 64 && n % 8 == 0 && k % 16 == 0 && k > 0"

[[launch]]
kernel = "fp8_block_matmul<2, 128, 6, 1>"
grid   = ["min(sm_count, ceil_div(n, 128))"]
block  = ["384"]
cluster = ["1"]
shared = "6 * (128 + 128) * 128 + 34816"
args   = ["tensormap:a_map", "tensormap:b_map", "tensormap:c_map", "a_scale", "b_scale", "m:i32", "n:i32", "k:i32", "1:i32"]
when   = "m <= 128 && n % 8 == 0 && k % 16 == 0 && k > 0"

[[launch]]
kernel = "fp8_block_matmul<2, 128, STAGES, CLUSTER>"
grid   = ["CLUSTER * min(sm_count / CLUSTER, ceil_div(m, 128 * CLUSTER) * ceil_div(n, 128))"]
block  = ["384"]
cluster = ["CLUSTER"]
shared = "STAGES * (128 + 128) * 128 + 34816"
args   = ["tensormap:a_map", "tensormap:b_map", "tensormap:c_map", "a_scale", "b_scale", "m:i32", "n:i32", "k:i32", "GROUP:i32"]
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
// multiply and one, the first, that fetches; kCluster blocks stand above each other. Shared memory: kStages of {a [64
// kConsumers][128], b [kBN][128]}, two tiles of 64 x 64 results a consumer, barriers.
template <int kConsumers, int kBN, int kStages, int kCluster>
__global__ void __launch_bounds__(128 * kConsumers + 128, 1)
    fp8_block_matmul(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                     const __grid_constant__ CUtensorMap c_map, const float* __restrict__ a_scale,
                     const float* __restrict__ b_scale, int m, int n, int k, int group) {
  constexpr int kBM = 64 * kConsumers, kBK = 128;
  constexpr unsigned kBytesA = kBM * kBK, kBytesB = kBN * kBK, kStage = kBytesA + kBytesB;
  constexpr unsigned kBytesOut = 64 * 64 * 2;
  constexpr int kArrivals = kCluster * kConsumers;  // a warp group's first threads tell one block each
  extern __shared__ unsigned char raw[];
  // The swizzle is a function of the address: tiles start at multiples of 1024.
  const unsigned base = (SharedAddress(raw) + 1023) & ~1023u;
  const unsigned out = base + kStages * kStage;  // two tiles for each consumer
  const unsigned full = out + 2 * kConsumers * kBytesOut, empty = full + 8 * kStages;
  unsigned rank = 0;
  if constexpr (kCluster > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      InitBarrier(full + 8 * s, 1);
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

  const int rows = (m + kCluster * kBM - 1) / (kCluster * kBM), columns = (n + kBN - 1) / kBN;  // of clusters' tiles
  const int tiles = rows * columns, clusters = gridDim.x / kCluster, steps = (k + kBK - 1) / kBK;
  const auto place = [&](int tile, int& row, int& column) {
    const int first = tile / (group * columns) * group, rest = tile % (group * columns);
    const int high = min(group, rows - first);
    row = ((first + rest % high) * kCluster + rank) * kBM;
    column = rest / high * kBN;
  };

  if (threadIdx.x < 128) {
    if constexpr (kConsumers == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
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
          LoadTile(slot, &a_map, barrier, step * kBK, row);
          constexpr int kShare = kBN / 64 / kCluster;
#pragma unroll
          for (int j = 0; j < kShare; ++j) {
            const int part = rank * kShare + j;
            if constexpr (kCluster > 1) {
              LoadTileToPair(slot + kBytesA + part * 64 * kBK, &b_map, barrier, step * kBK, column + part * 64);
            } else {
              LoadTile(slot + kBytesA + part * 64 * kBK, &b_map, barrier, step * kBK, column + part * 64);
            }
          }
          if (++s == kStages) s = 0, phase ^= 1;
        }
      }
    }
    __syncwarp();
  } else {
    if constexpr (kConsumers == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    float sum[kBN / 2], part[kBN / 2];
    const auto leave = [&](int slot) {
      if (thread < kCluster) ArriveAt(empty + 8 * slot, thread);
    };
    const unsigned out_row = thread / 32 * 16 + thread % 16, out_chunk = thread % 32 / 16;
    const unsigned my_out = out + consumer * 2 * kBytesOut;

    int s = 0;
    unsigned phase = 0;
    for (int tile = blockIdx.x / kCluster; tile < tiles; tile += clusters) {
      int row, column;
      place(tile, row, column);
      // The scales of this thread's two rows and of the columns, a block ahead of their use.
      const int first = row + consumer * 64 + thread / 32 * 16 + thread % 32 / 4;
      const float* const low = a_scale + static_cast<long long>(min(first, m - 1)) * steps;
      const float* const high = a_scale + static_cast<long long>(min(first + 8, m - 1)) * steps;
      const float* const columns_scale = b_scale + static_cast<long long>(column / 128) * steps;
      float next_low = low[0], next_high = high[0], next_columns = columns_scale[0];
#pragma unroll
      for (int i = 0; i < kBN / 2; ++i) sum[i] = 0.0f;
      for (int step = 0; step < steps; ++step) {
        const unsigned slot = base + s * kStage;
        Wait(full + 8 * s, phase);
        BeginProducts();
        const unsigned long long a = Descriptor(slot + consumer * 64 * kBK, 16, 1024);
        const unsigned long long b = Descriptor(slot + kBytesA, 16, 1024);
#pragma unroll
        for (int i = 0; i < kBK / 32; ++i) Multiply(part, a + i * 2, b + i * 2, i);
        CommitProducts();
        const float of_low = next_low * next_columns, of_high = next_high * next_columns;
        if (step + 1 < steps) {
          next_low = low[step + 1];
          next_high = high[step + 1];
          next_columns = columns_scale[step + 1];
        }
        WaitForProducts<0>();
        leave(s);
        if (++s == kStages) s = 0, phase ^= 1;
#pragma unroll
        for (int i = 0; i < kBN / 2; i += 4) {
          sum[i] += of_low * part[i];
          sum[i + 1] += of_low * part[i + 1];
          sum[i + 2] += of_high * part[i + 2];
          sum[i + 3] += of_high * part[i + 3];
        }
      }

#pragma unroll
      for (int j = 0; j < kBN / 64; ++j) {
        const unsigned tile_out = my_out + j % 2 * kBytesOut;
        if (thread == 0) WaitForStores<1>();
        asm volatile("bar.sync %0, 128;" ::"r"(consumer + 1) : "memory");
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float* from = sum + j * 32 + i * 8;
          const unsigned chunk = (2 * i + out_chunk) ^ (out_row % 8);  // of 16 bytes, where TMA's swizzle expects it
          StoreMatrices(tile_out + out_row * 128 + chunk * 16, Packed(from[0], from[1]), Packed(from[2], from[3]),
                        Packed(from[4], from[5]), Packed(from[6], from[7]));
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(consumer + 1) : "memory");
        if (thread == 0) StoreTile(&c_map, tile_out, column + j * 64, row + consumer * 64);
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
