// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor cores on 8-bit floats (mma m16n8k32). A block has kRows rows of c and 128 columns or fewer, which share the
// scales of b; it copies 128 columns of both factors at a time to shared memory, STAGES deep, multiplies, and adds each
// block's sums to its results in float32, times their scales. Few rows take narrower blocks, so that every
// multiprocessor has some. Shapes whose rows are not whole blocks of k take a plain kernel.
/*hone
[tune]
STAGES = [4, 3]
SMALL = [64, 128]
COLUMNS = [64, 128]
WARPS = [16, 8]

[[launch]]
kernel = "multiply<64>"
grid   = ["ceil_div(n, COLUMNS)", "ceil_div(m, 64)"]
block  = ["COLUMNS * 2"]
shared = "STAGES * (64 + COLUMNS) * 128"
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
when   = "k % 128 == 0 && k > 0 && m <= SMALL"

[[launch]]
kernel = "multiply<128>"
grid   = ["ceil_div(n, 128)", "ceil_div(m, 128)"]
block  = ["WARPS * 32"]
shared = "STAGES * (128 + 128) * 128"
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
when   = "k % 128 == 0 && k > 0"

[[launch]]
kernel = "multiply_any"
grid   = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block  = ["32", "8"]
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
*/
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int kBlock = 128;  // numbers that share a scale

// Columns of c of a thread block, and its warps.
template <int kRows>
constexpr int kColumnsOf = kRows == 64 ? HONE_TUNE_COLUMNS : 128;
template <int kRows>
constexpr int kWarpsOf = kRows == 64 ? HONE_TUNE_COLUMNS / 16 : HONE_TUNE_WARPS;

__device__ __forceinline__ unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

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
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Shared memory: STAGES times kRows rows of a, then kColumns rows of b, 128 bytes each. The chunk c of 16 bytes of row
// r stands at c ^ (r % 8), so that eight rows at a chunk lie in different banks. A warp has 32 columns.
template <int kRows>
__global__ void __launch_bounds__(kWarpsOf<kRows> * 32)
    multiply(const __nv_fp8_e4m3* __restrict__ a, const float* __restrict__ a_scale,
             const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ b_scale, __nv_bfloat16* __restrict__ c,
             int m, int n, int k) {
  constexpr int kColumns = kColumnsOf<kRows>, kThreads = kWarpsOf<kRows> * 32, kAcross = kColumns / 32;
  constexpr int kWarpRows = kRows / (kWarpsOf<kRows> / kAcross), kTiles = kWarpRows / 16;
  constexpr int kStages = HONE_TUNE_STAGES, kStageBytes = (kRows + kColumns) * kBlock;
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned memory = SharedAddress(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
  const int warp_row = warp / kAcross * kWarpRows, warp_column = warp % kAcross * 32;
  const int blocks = k / kBlock;

  const auto copy = [&](int block) {
    if (block < blocks) {
      const unsigned stage = memory + block % kStages * kStageBytes;
#pragma unroll
      for (int i = 0; i < (kRows + kColumns) * 8 / kThreads; ++i) {
        const int r = (i * kThreads + static_cast<int>(threadIdx.x)) / 8, chunk = threadIdx.x % 8;
        const bool left = r < kRows;
        const int row = left ? first_row + r : first_column + r - kRows;
        const bool there = row < (left ? m : n);
        const unsigned char* from = reinterpret_cast<const unsigned char*>(left ? a : b) +
                                    static_cast<long long>(there ? row : 0) * k + block * kBlock + chunk * 16;
        CopyAsync(stage + static_cast<unsigned>(r * kBlock + ((chunk ^ (r & 7)) * 16)), from, there);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  float sums[kTiles][4][4] = {};
  for (int block = 0; block < blocks; ++block) {
    // Scales of this thread's rows, asked for before they are needed.
    float scale[kTiles][2];
    const float of_columns = b_scale[static_cast<long long>(first_column / kBlock) * blocks + block];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first_row + warp_row + i * 16 + half * 8 + g;
        scale[i][half] = row < m ? a_scale[static_cast<long long>(row) * blocks + block] : 0.0f;
      }
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    copy(block + kStages - 1);
    const unsigned left = memory + block % kStages * kStageBytes, right = left + kRows * kBlock;
    float part[kTiles][4][4] = {};
#pragma unroll 1
    for (int s = 0; s < kBlock / 32; ++s) {
      unsigned factors[4][2];
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        unsigned both[4];
        const int r = warp_column + j * 8 + (lane >> 4) * 8 + (lane & 7), chunk = s * 2 + ((lane >> 3) & 1);
        LoadMatrices(both, right + static_cast<unsigned>(r * kBlock + ((chunk ^ (r & 7)) * 16)));
        factors[j][0] = both[0];
        factors[j][1] = both[1];
        factors[j + 1][0] = both[2];
        factors[j + 1][1] = both[3];
      }
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        unsigned rows[4];
        const int r = warp_row + i * 16 + ((lane >> 3) & 1) * 8 + (lane & 7), chunk = s * 2 + (lane >> 4);
        LoadMatrices(rows, left + static_cast<unsigned>(r * kBlock + ((chunk ^ (r & 7)) * 16)));
#pragma unroll
        for (int j = 0; j < 4; ++j) Multiply(part[i][j], rows, factors[j][0], factors[j][1]);
      }
    }
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float both = scale[i][half] * of_columns;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          sums[i][j][2 * half] += part[i][j][2 * half] * both;
          sums[i][j][2 * half + 1] += part[i][j][2 * half + 1] * both;
        }
      }
    }
  }
  asm volatile("cp.async.wait_all;");
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + warp_row + i * 16 + half * 8 + g;
      if (row >= m) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + warp_column + j * 8 + t * 2;
        __nv_bfloat16* const to = c + static_cast<long long>(row) * n + column;
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
        if (n % 2 == 0) {
          if (column < n) *reinterpret_cast<__nv_bfloat162*>(to) = pair;
        } else {
          if (column < n) to[0] = pair.x;
          if (column + 1 < n) to[1] = pair.y;
        }
      }
    }
  }
}

__global__ void multiply_any(const __nv_fp8_e4m3* __restrict__ a, const float* __restrict__ a_scale,
                             const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ b_scale,
                             __nv_bfloat16* __restrict__ c, int m, int n, int k) {
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || column >= n) return;
  const int blocks = (k + kBlock - 1) / kBlock;
  float sum = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    float part = 0.0f;
    for (int i = block * kBlock; i < min(k, (block + 1) * kBlock); ++i) {
      part += static_cast<float>(a[static_cast<long long>(row) * k + i]) *
              static_cast<float>(b[static_cast<long long>(column) * k + i]);
    }
    sum += part * a_scale[static_cast<long long>(row) * blocks + block] *
           b_scale[static_cast<long long>(column / kBlock) * blocks + block];
  }
  c[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
