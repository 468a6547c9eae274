// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// matmul_f32 in plain float32 (FFMA only) for Hopper. Eight warps multiply, 8 x 8 results a thread; one thread of a
// further warp group fetches slabs of 32 k-steps by TMA, so that the others execute FFMA and loads of shared memory and
// nothing else: a slab of a keeps its rows (a thread reads four k-steps of a row at once), swizzled so that the rows of
// a warp lie in different banks.
//
// What bounds it: the register file, which serves an FFMA in one cycle only where its operands are in different banks
// or were kept from the FFMA before. Order and unrolling decide how often the compiler manages that: counted in the
// machine code, with one operand a bank and cycle, a slab of 2048 FFMA a thread needs 1.31 cycles each in this
// form, 1.49 with 8 k-steps unrolled and row by row; times follow.
//
// Tiles rarely divide the SMs evenly, so work is shared by slabs: a block multiplies a stretch of slabs that may begin
// and end within a tile. Who begins a tile finishes it, with the sums of the blocks after it, in their order. So where
// k is cut depends on a row's place: equal rows in different tiles may differ in their last bits, which the evaluator
// calls nondeterministic; equal launches give equal results.
/*hone
constraints = ["STAGES * 32768 <= 225280"]

[tune]
STAGES = [4, 6, 3]
GROUP = [8, 16, 4]  # rows of tiles that are walked together

# Sums of a tile that another block began, and whether they are there.
[[workspace]]
name = "partial_sums"
bytes = "sm_count * 65536"

[[workspace]]
name = "ready"
bytes = "sm_count * 4"
zero = true

[[tensor_map]]
name = "a_map"
tensor = "a"
dims = ["k", "m"]
strides = ["k * 4"]
box = ["32", "128"]
swizzle = "128B"
l2_promotion = "256B"

[[tensor_map]]
name = "b_map"
tensor = "b"
dims = ["n", "k"]
strides = ["n * 4"]
box = ["128", "32"]
l2_promotion = "256B"

[[launch]]
kernel = "matmul_f32<STAGES>"
grid   = ["min(sm_count, ceil_div(m, 128) * ceil_div(n, 128) * ceil_div(k, 256))"]  # 8 slabs or more each
block  = ["384"]
shared = "STAGES * 32768 + 2048"
args   = ["tensormap:a_map", "tensormap:b_map", "c", "partial_sums", "ready", "m:i32", "n:i32", "k:i32", "GROUP:i32"]
cooperative = true
when   = "n % 4 == 0 && k % 4 == 0 && k > 0"

[[launch]]
kernel = "any_shape"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/

namespace {

constexpr int kTile = 128, kSlab = 32;  // rows and columns of a tile, k-steps
constexpr int kThreads = 256;           // that multiply: two warps down, four across, of 64 x 32 results

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
__device__ __forceinline__ void LoadTile(unsigned to, const CUtensorMap* map, unsigned barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
          "r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void Load4(float* to, unsigned from) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}

// A stretch of slabs within a tile.
struct Part {
  int tile, first, count;
};

}  // namespace

// a [m, k], b [k, n] by their maps, whose rows are multiples of 16 bytes. partial_sums: a tile for each block. ready:
// one number for each block, 0 before and after. All blocks run at once.
template <int kStages>
__global__ void __launch_bounds__(kThreads + 128, 1)
    matmul_f32(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
               float* __restrict__ c, float* __restrict__ partial_sums, int* __restrict__ ready, int m, int n, int k,
               int group) {
  constexpr unsigned kBytesA = kTile * kSlab * 4, kStage = 2 * kBytesA;
  extern __shared__ unsigned char raw[];
  // The swizzle is a function of the address: tiles start at multiples of 1024.
  const unsigned base = (SharedAddress(raw) + 1023) & ~1023u;
  const unsigned full = base + kStages * kStage, empty = full + 8 * kStages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      InitBarrier(full + 8 * s, 1);
      InitBarrier(empty + 8 * s, kThreads / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  const int rows = (m + kTile - 1) / kTile, columns = (n + kTile - 1) / kTile, slabs = (k + kSlab - 1) / kSlab;
  const long long work = static_cast<long long>(rows) * columns * slabs;
  const auto begin_of = [&](int block) { return work * block / static_cast<int>(gridDim.x); };
  const long long begin = begin_of(blockIdx.x), end = begin_of(blockIdx.x + 1);
  const auto part_at = [&](long long w) {
    const int first = static_cast<int>(w % slabs);
    return Part{static_cast<int>(w / slabs), first,
                static_cast<int>(min(static_cast<long long>(slabs - first), end - w))};
  };
  const auto place = [&](int tile, int& row, int& column) {
    const int first = tile / (group * columns) * group, rest = tile % (group * columns);
    const int high = min(group, rows - first);
    row = (first + rest % high) * kTile;
    column = rest / high * kTile;
  };
  int s = 0;  // the slot, and the parity of its present turn
  unsigned phase = 0;

  if (threadIdx.x >= kThreads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x != kThreads) return;
    for (long long w = begin; w < end;) {
      const Part part = part_at(w);
      w += part.count;
      int row, column;
      place(part.tile, row, column);
      for (int slab = part.first; slab < part.first + part.count; ++slab) {
        const unsigned slot = base + s * kStage, barrier = full + 8 * s;
        Wait(empty + 8 * s, phase ^ 1);  // for the turn before: at first it is over
        ExpectBytes(barrier, kStage);
        LoadTile(slot, &a_map, barrier, slab * kSlab, row);
        LoadTile(slot + kBytesA, &b_map, barrier, column, slab * kSlab);
        if (++s == kStages) s = 0, phase ^= 1;
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Rows y + 8 i, columns x + {0..3, 16..19}.
  const int y = warp / 4 * 64 + lane / 4, x = warp % 4 * 32 + lane % 4 * 4;
  const unsigned turn = lane / 4 * 16;       // what the swizzle adds to a 16-byte chunk's place in these rows
  float sum[8][8], left[8][4], right[2][8];  // of a: four k-steps; of b: this one and the next
  const auto load_right = [&](float(&to)[8], unsigned from) {
    Load4(to, from);
    Load4(to + 4, from + 64);
  };
  unsigned a_at = base + y * 128, b_at = base + kBytesA + x * 4;
  Wait(full, 0);
#pragma unroll
  for (int i = 0; i < 8; ++i) Load4(left[i], a_at + turn + i * 1024);
  load_right(right[0], b_at);

  for (long long w = begin; w < end;) {
    const Part part = part_at(w);
    w += part.count;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[i][j] = 0.0f;
    }
    for (int slab = 0; slab < part.count; ++slab) {
      const int next = s + 1 == kStages ? 0 : s + 1;
      const unsigned next_slot = base + next * kStage;
#pragma unroll
      for (int step = 0; step < kSlab; ++step) {
        // The next operands are loaded under this step's products; after the last step, from the next slab.
        unsigned next_a = a_at + (((step / 4 + 1) * 16) ^ turn);
        if (step + 1 < kSlab) {
          load_right(right[(step + 1) % 2], b_at + (step + 1) * (kTile * 4));
        } else {
          if (w < end || slab + 1 < part.count) Wait(full + 8 * next, phase ^ (next == 0));
          a_at = next_slot + y * 128;
          b_at = next_slot + kBytesA + x * 4;
          next_a = a_at + turn;
          load_right(right[0], b_at);
        }
        // Four columns of all rows, there and back.
#pragma unroll
        for (int first = 0; first < 8; first += 4) {
#pragma unroll
          for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int j = first + (i % 2 == 0 ? e : 3 - e);
              sum[i][j] = fmaf(left[i][step % 4], right[step % 2][j], sum[i][j]);
            }
          }
        }
        if (step % 4 == 3) {
#pragma unroll
          for (int i = 0; i < 8; ++i) Load4(left[i], next_a + i * 1024);
        }
      }
      __syncwarp();
      if (lane == 0) Arrive(empty + 8 * s);
      s = next;
      phase ^= next == 0;
    }

    const auto meet = [] { asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory"); };
    // Where a block's sums stand while they wait: four of each thread in a row.
    const auto waiting = [&](int block, int i, int half) {
      return reinterpret_cast<float4*>(partial_sums) + ((static_cast<long long>(block) * 8 + i) * 2 + half) * kThreads +
             threadIdx.x;
    };
    if (part.first > 0) {  // begun by another block
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float* from = &sum[i][4 * h];
          __stcg(waiting(blockIdx.x, i, h), make_float4(from[0], from[1], from[2], from[3]));
        }
      }
      __threadfence();
      meet();
      if (threadIdx.x == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(ready + blockIdx.x) : "memory");
      continue;
    }
    // Others did the rest, each as its first part.
    for (int other = blockIdx.x + 1, rest = slabs - part.count; rest > 0; ++other) {
      rest -= static_cast<int>(min(static_cast<long long>(rest), begin_of(other + 1) - begin_of(other)));
      if (threadIdx.x == 0) {
        int there = 0;
        while (there == 0)
          asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(there) : "l"(ready + other) : "memory");
        ready[other] = 0;  // as it was found
      }
      meet();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float4 more = __ldcg(waiting(other, i, h));
          sum[i][4 * h] += more.x, sum[i][4 * h + 1] += more.y, sum[i][4 * h + 2] += more.z,
              sum[i][4 * h + 3] += more.w;
        }
      }
    }

    int row, column;
    place(part.tile, row, column);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (row + y + 8 * i >= m) continue;
      float* to = c + static_cast<long long>(row + y + 8 * i) * n + column + x;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float* from = &sum[i][4 * h];
        if (column + x + 16 * h < n)
          *reinterpret_cast<float4*>(to + 16 * h) = make_float4(from[0], from[1], from[2], from[3]);
      }
    }
  }
}

// What the copy engine cannot bring: rows that are no multiple of 16 bytes, and no products at all.
__global__ void any_shape(const float* a, const float* b, float* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0.0f;
  for (long long j = 0; j < k; ++j) sum = fmaf(a[i / n * k + j], b[j * n + i % n], sum);
  c[i] = sum;
}
