// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor cores in bfloat16 (mma m16n8k16). A block has 64 rows of one expert and 128 columns of y; there are as many blocks as could be
// needed however the rows are spread, and those beyond the last tile end at once. Both factors are copied 64 columns at a time to shared
// memory, STAGES deep. Rows that are no multiple of 16 bytes take a plain kernel.
/*hone
[tune]
STAGES = [3, 4]

[[launch]]
kernel = "multiply"
grid   = ["ceil_div(n, 128)", "ceil_div(rows, 64) + experts"]
block  = ["256"]
shared = "STAGES * (64 + 128) * 128"
args   = ["x", "w", "offsets", "y", "experts:i32", "n:i32", "k:i32"]
when   = "k % 8 == 0 && k > 0"

[[launch]]
kernel = "multiply_any"
grid   = ["ceil_div(n, 128)", "rows"]
block  = ["128"]
args   = ["x", "w", "offsets", "y", "experts:i32", "n:i32", "k:i32"]
*/
#include <cuda_bf16.h>

constexpr int kRows = 64, kColumns = 128, kDepth = 64;

__device__ __forceinline__ unsigned SharedAddress(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0));
}

__device__ __forceinline__ void LoadMatrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void Multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Shared memory: STAGES times 64 rows of x, then 128 rows of w, 128 bytes each. The chunk c of 16 bytes of row r stands at c ^ (r % 8), so
// that eight rows at a chunk lie in different banks. Eight warps: two times 32 rows, four times 32 columns.
__global__ void __launch_bounds__(256)
    multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const int* __restrict__ offsets,
             __nv_bfloat16* __restrict__ y, int experts, int n, int k) {
  constexpr int kStages = HONE_TUNE_STAGES, kStageBytes = (kRows + kColumns) * kDepth * 2;
  extern __shared__ __align__(128) unsigned char shared[];
  // The expert of this block's tile, and its first row and the row past its last.
  int expert = 0, tile = blockIdx.y, begin = 0, end = 0;
  for (int base = 0;; base += 32) {
    const int lane = threadIdx.x % 32, e = base + lane;
    const int from = e < experts ? offsets[e] : 0, to = e < experts ? offsets[e + 1] : 0;
    const int tiles = (to - from + kRows - 1) / kRows;
    int before = tiles;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, before, step);
      if (lane >= step) before += other;
    }
    const unsigned past = __ballot_sync(0xffffffffu, before > tile);
    if (past != 0) {
      const int first = __ffs(static_cast<int>(past)) - 1;
      const int earlier = __shfl_sync(0xffffffffu, before - tiles, first);
      expert = base + first;
      begin = __shfl_sync(0xffffffffu, from, first) + (tile - earlier) * kRows;
      end = __shfl_sync(0xffffffffu, to, first);
      break;
    }
    tile -= __shfl_sync(0xffffffffu, before, 31);
    if (base + 32 >= experts) return;
  }
  const __nv_bfloat16* const matrix = w + static_cast<long long>(expert) * n * k;
  const unsigned memory = SharedAddress(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int first_column = blockIdx.x * kColumns, warp_row = warp / 4 * 32, warp_column = warp % 4 * 32;
  const int steps = (k + kDepth - 1) / kDepth;

  const auto copy = [&](int step) {
    if (step < steps) {
      const unsigned stage = memory + step % kStages * kStageBytes;
#pragma unroll
      for (int i = 0; i < (kRows + kColumns) * 8 / 256; ++i) {
        const int r = (i * 256 + static_cast<int>(threadIdx.x)) / 8, chunk = threadIdx.x % 8, at = step * kDepth + chunk * 8;
        const bool left = r < kRows;
        const int row = left ? begin + r : first_column + r - kRows;
        const bool there = row < (left ? end : n) && at < k;
        const __nv_bfloat16* const from = (left ? x : matrix) + (there ? static_cast<long long>(row) * k + at : 0);
        CopyAsync(stage + static_cast<unsigned>(r * 128 + ((chunk ^ (r & 7)) * 16)), from, there);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  float sums[2][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    copy(step + kStages - 1);
    const unsigned left = memory + step % kStages * kStageBytes, right = left + kRows * 128;
#pragma unroll
    for (int s = 0; s < kDepth / 16; ++s) {
      unsigned factors[4][2], rows[2][4];
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        unsigned both[4];
        const int r = warp_column + j * 8 + (lane >> 4) * 8 + (lane & 7), chunk = s * 2 + ((lane >> 3) & 1);
        LoadMatrices(both, right + static_cast<unsigned>(r * 128 + ((chunk ^ (r & 7)) * 16)));
        factors[j][0] = both[0];
        factors[j][1] = both[1];
        factors[j + 1][0] = both[2];
        factors[j + 1][1] = both[3];
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int r = warp_row + i * 16 + ((lane >> 3) & 1) * 8 + (lane & 7), chunk = s * 2 + (lane >> 4);
        LoadMatrices(rows[i], left + static_cast<unsigned>(r * 128 + ((chunk ^ (r & 7)) * 16)));
#pragma unroll
        for (int j = 0; j < 4; ++j) Multiply(sums[i][j], rows[i], factors[j][0], factors[j][1]);
      }
    }
  }
  asm volatile("cp.async.wait_all;");
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = begin + warp_row + i * 16 + half * 8 + g;
      if (row >= end) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + warp_column + j * 8 + t * 2;
        __nv_bfloat16* const to = y + static_cast<long long>(row) * n + column;
        if (column < n) to[0] = __float2bfloat16(sums[i][j][2 * half]);
        if (column + 1 < n) to[1] = __float2bfloat16(sums[i][j][2 * half + 1]);
      }
    }
  }
}

__global__ void multiply_any(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const int* __restrict__ offsets,
                             __nv_bfloat16* __restrict__ y, int experts, int n, int k) {
  const int row = blockIdx.y, column = blockIdx.x * 128 + threadIdx.x;
  if (column >= n) return;
  int expert = 0;
  while (expert + 1 < experts && row >= offsets[expert + 1]) ++expert;
  const __nv_bfloat16* const left = x + static_cast<long long>(row) * k;
  const __nv_bfloat16* const right = w + (static_cast<long long>(expert) * n + column) * k;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += __bfloat162float(left[i]) * __bfloat162float(right[i]);
  y[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
