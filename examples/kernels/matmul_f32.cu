// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// matmul_f32 in plain float32 (FFMA only). A thread keeps 8 x TN results; the four-by-four quadrants it owns lie apart
// so that a warp's reads of shared memory are conflict-free broadcasts. Two buffers in shared memory and two sets of
// operands in registers: the next step's operands are loaded under this one's multiplications, with one barrier a slab.
// Tiles run in bands of BAND rows, whose part of `b` stays in the second-level cache.
/*hone
constraints = ["RESIDENT == 1 || TN == 8"]

[tune]
TN = [16, 8]
SLAB = [8, 16]
RESIDENT = [1, 2]
BAND = [8, 4, 16]

[[launch]]
kernel = "matmul_f32<TN, SLAB, RESIDENT, true>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 16 * TN)"]
block  = ["256"]
shared = "2 * SLAB * (132 + 16 * TN) * 4"
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32", "BAND:i32"]
when   = "n % 4 == 0 && k % 4 == 0 && m < 1000000000 && n < 1000000000 && k < 1000000000"

[[launch]]
kernel = "matmul_f32<8, 8, 1, false>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
shared = "2 * 8 * (132 + 128) * 4"
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32", "BAND:i32"]
*/

namespace {

constexpr int kRows = 128;    // of a block's tile: two warps of eight lanes of eight rows
constexpr int kThreads = 256;

// Four elements of `row` from `column` on; zeros outside rows x columns. kVector: `columns` and `column` are multiples
// of 4.
template <bool kVector>
__device__ __forceinline__ float4 Load4(const float* __restrict__ matrix, int row, int column, int rows, int columns) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows) return v;
  const float* from = matrix + static_cast<long long>(row) * columns + column;
  if (kVector) {
    if (column < columns) v = __ldg(reinterpret_cast<const float4*>(from));
  } else {
    if (column + 0 < columns) v.x = from[0];
    if (column + 1 < columns) v.y = from[1];
    if (column + 2 < columns) v.z = from[2];
    if (column + 3 < columns) v.w = from[3];
  }
  return v;
}

}  // namespace

// a [m, k], b [k, n], c [m, n]. Shared memory: two of {a transposed [kSlab][kRows + 4], b [kSlab][16 * kTn]}.
template <int kTn, int kSlab, int kResident, bool kVector>
__global__ void __launch_bounds__(kThreads, kResident)
    matmul_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
               int band) {
  constexpr int kColumns = 16 * kTn;                             // four warps of four lanes of kTn columns
  constexpr int kPitch = kRows + 4;                              // spreads the transposed stores over the banks
  constexpr int kBuffer = kSlab * (kPitch + kColumns);           // floats
  constexpr int kLoadsA = kRows * kSlab / 4 / kThreads;          // float4 a thread and slab
  constexpr int kLoadsB = kColumns * kSlab / 4 / kThreads;
  extern __shared__ __align__(16) float shared[];

  // Bands of `band` tile rows, column by column within one.
  const int tiles_down = (m + kRows - 1) / kRows, tiles_across = (n + kColumns - 1) / kColumns;
  const int in_band = band * tiles_across;
  const int first_band_row = static_cast<int>(blockIdx.x) / in_band * band;
  const int band_rows = min(band, tiles_down - first_band_row);
  const int within = static_cast<int>(blockIdx.x) % in_band;
  const int first_row = (first_band_row + within % band_rows) * kRows;
  const int first_column = within / band_rows * kColumns;

  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  // Rows y + {0..3, 32..35}, columns x + 16 j + {0..3}.
  const int y = warp / 4 * 64 + lane / 4 * 4;
  const int x = warp % 4 * (4 * kTn) + lane % 4 * 4;

  float4 next_a[kLoadsA], next_b[kLoadsB];
  const auto fetch = [&](int step) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int at = thread + i * kThreads;
      next_a[i] = Load4<kVector>(a, first_row + at / (kSlab / 4), step + at % (kSlab / 4) * 4, m, k);
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const int at = thread + i * kThreads;
      next_b[i] = Load4<kVector>(b, step + at / (kColumns / 4), first_column + at % (kColumns / 4) * 4, k, n);
    }
  };
  const auto store = [&](float* buffer) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int at = thread + i * kThreads;
      float* to = buffer + at % (kSlab / 4) * 4 * kPitch + at / (kSlab / 4);
      to[0] = next_a[i].x;
      to[kPitch] = next_a[i].y;
      to[2 * kPitch] = next_a[i].z;
      to[3 * kPitch] = next_a[i].w;
    }
    float* b_part = buffer + kSlab * kPitch;
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) reinterpret_cast<float4*>(b_part)[thread + i * kThreads] = next_b[i];
  };

  float sum[8][kTn] = {};
  float left[2][8], right[2][kTn];
  const auto operands = [&](const float* buffer, int step, int set) {
    const float* a_step = buffer + step * kPitch + y;
    const float* b_step = buffer + kSlab * kPitch + step * kColumns + x;
    *reinterpret_cast<float4*>(&left[set][0]) = *reinterpret_cast<const float4*>(a_step);
    *reinterpret_cast<float4*>(&left[set][4]) = *reinterpret_cast<const float4*>(a_step + 32);
#pragma unroll
    for (int j = 0; j < kTn / 4; ++j) {
      *reinterpret_cast<float4*>(&right[set][4 * j]) = *reinterpret_cast<const float4*>(b_step + 16 * j);
    }
  };

  const int slabs = (k + kSlab - 1) / kSlab;
  if (slabs > 0) {
    fetch(0);
    store(shared);
  }
  __syncthreads();
  if (slabs > 0) operands(shared, 0, 0);
  for (int slab = 0; slab < slabs; ++slab) {
    const float* here = shared + slab % 2 * kBuffer;
    float* there = shared + (slab + 1) % 2 * kBuffer;
    const bool more = slab + 1 < slabs;
    if (more) fetch((slab + 1) * kSlab);
#pragma unroll
    for (int s = 0; s < kSlab; ++s) {
      if (s + 1 < kSlab) {
        operands(here, s + 1, (s + 1) % 2);
      } else if (more) {
        store(there);
        __syncthreads();
        operands(there, 0, (s + 1) % 2);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < kTn; ++j) sum[i][j] += left[s % 2][i] * right[s % 2][j];
      }
    }
  }

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = first_row + y + i % 4 + i / 4 * 32;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < kTn / 4; ++j) {
      const int column = first_column + x + 16 * j;
      float* to = c + static_cast<long long>(row) * n + column;
      const float* from = &sum[i][4 * j];
      if (kVector) {
        if (column < n) *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (column + e < n) to[e] = from[e];
        }
      }
    }
  }
}
