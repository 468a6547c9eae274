// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/transpose.cu with the bindings that were fastest on an H200, by shape.
//
// transpose by whole 16-byte vectors: a thread loads four rows' float4, turns the 4 x 4 block in its registers, and
// lays it down in shared memory as rows of the result. The chunk index is swizzled by the column block, so that neither
// storing columns of chunks nor loading rows of them conflicts. Rows of a tile are 128 to 512 bytes both ways.
//
// Where rows do not start on 16-byte boundaries, elements go one by one, and each row of the result takes its piece
// from where a 32-byte sector of it begins: a tile reads seven rows more, and no sector is written by two blocks. Tiles
// run in bands of BAND tile rows, so that both matrices are touched in few pages at a time.
/*hone
constraints = ["TILE * TILE / 16 >= BLOCK"]

[tune]
TILE = [64]
BLOCK = [256, 128]
BAND = [4, 1]

[[launch]]
kernel = "transpose<TILE, BLOCK>"
grid   = ["ceil_div(rows, TILE) * ceil_div(columns, TILE)"]
block  = ["BLOCK"]
shared = "TILE * TILE * 4"
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "(columns <= 512) && (rows % 4 == 0 && columns % 4 == 0)"
with   = { TILE = 64, BLOCK = 128, BAND = 4 }

[[launch]]
kernel = "transpose_unaligned"
grid   = ["ceil_div(rows, 64) * ceil_div(columns, 64)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "columns <= 512"
with   = { TILE = 64, BLOCK = 128, BAND = 4 }

[[launch]]
kernel = "transpose<TILE, BLOCK>"
grid   = ["ceil_div(rows, TILE) * ceil_div(columns, TILE)"]
block  = ["BLOCK"]
shared = "TILE * TILE * 4"
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "(columns > 10710) && (rows % 4 == 0 && columns % 4 == 0)"
with   = { TILE = 64, BLOCK = 128, BAND = 1 }

[[launch]]
kernel = "transpose_unaligned"
grid   = ["ceil_div(rows, 64) * ceil_div(columns, 64)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "columns > 10710"
with   = { TILE = 64, BLOCK = 128, BAND = 1 }

[[launch]]
kernel = "transpose<TILE, BLOCK>"
grid   = ["ceil_div(rows, TILE) * ceil_div(columns, TILE)"]
block  = ["BLOCK"]
shared = "TILE * TILE * 4"
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "(rows % 4 != 0 || columns % 4 != 0) && (rows % 4 == 0 && columns % 4 == 0)"
with   = { TILE = 64, BLOCK = 256, BAND = 1 }

[[launch]]
kernel = "transpose_unaligned"
grid   = ["ceil_div(rows, 64) * ceil_div(columns, 64)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "rows % 4 != 0 || columns % 4 != 0"
with   = { TILE = 64, BLOCK = 256, BAND = 1 }

[[launch]]
kernel = "transpose<TILE, BLOCK>"
grid   = ["ceil_div(rows, TILE) * ceil_div(columns, TILE)"]
block  = ["BLOCK"]
shared = "TILE * TILE * 4"
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
when   = "rows % 4 == 0 && columns % 4 == 0"

[[launch]]
kernel = "transpose_unaligned"
grid   = ["ceil_div(rows, 64) * ceil_div(columns, 64)"]
block  = ["32", "8"]
args   = ["x", "out", "rows:i64", "columns:i64", "BAND:i32"]
*/

namespace {

struct Tile {
  long long row, column;  // of its first element in x
};

// Tile `block` of tiles of `size`, in bands of `band` tile rows, column by column within one.
__device__ __forceinline__ Tile TileOf(long long block, long long rows, long long columns, int size, int band) {
  const long long down = (rows + size - 1) / size, across = (columns + size - 1) / size;
  const long long first = block / (band * across) * band;
  const long long height = min(static_cast<long long>(band), down - first);
  const long long within = block % (band * across);
  return {(first + within % height) * size, within / height * size};
}

}  // namespace

// rows and columns are multiples of 4. Shared memory: kTile x kTile / 4 chunks of 16 bytes.
template <int kTile, int kThreads>
__global__ void __launch_bounds__(kThreads)
    transpose(const float* __restrict__ x, float* __restrict__ out, long long rows, long long columns, int band) {
  constexpr int kChunks = kTile / 4;                     // of a row
  constexpr int kBlocks = kChunks * kChunks / kThreads;  // 4 x 4 blocks a thread
  extern __shared__ float4 tile[];                       // [column][row / 4, swizzled]
  const Tile at = TileOf(blockIdx.x, rows, columns, kTile, band);

  float4 v[kBlocks][4];
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
    const int i = static_cast<int>(threadIdx.x) + b * kThreads, r = i / kChunks, c = i % kChunks;
    const long long row = at.row + 4 * r, column = at.column + 4 * c;
    if (row >= rows || column >= columns) continue;
#pragma unroll
    for (int e = 0; e < 4; ++e) v[b][e] = __ldcs(reinterpret_cast<const float4*>(x + (row + e) * columns + column));
  }
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
    const int i = static_cast<int>(threadIdx.x) + b * kThreads, r = i / kChunks, c = i % kChunks;
    if (at.row + 4 * r >= rows || at.column + 4 * c >= columns) continue;
    float4* to = tile + 4 * c * kChunks + (r ^ (c % 8));
    to[0 * kChunks] = make_float4(v[b][0].x, v[b][1].x, v[b][2].x, v[b][3].x);
    to[1 * kChunks] = make_float4(v[b][0].y, v[b][1].y, v[b][2].y, v[b][3].y);
    to[2 * kChunks] = make_float4(v[b][0].z, v[b][1].z, v[b][2].z, v[b][3].z);
    to[3 * kChunks] = make_float4(v[b][0].w, v[b][1].w, v[b][2].w, v[b][3].w);
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < 4 * kBlocks; ++s) {
    const int i = static_cast<int>(threadIdx.x) + s * kThreads, column = i / kChunks, chunk = i % kChunks;
    if (at.row + 4 * chunk >= rows || at.column + column >= columns) continue;
    __stcs(reinterpret_cast<float4*>(out + (at.column + column) * rows + at.row + 4 * chunk),
           tile[column * kChunks + (chunk ^ (column / 4 % 8))]);
  }
}

// Any rows and columns; `out` starts on a 32-byte boundary. 32 x 8 threads.
__global__ void __launch_bounds__(256) transpose_unaligned(const float* __restrict__ x, float* __restrict__ out,
                                                           long long rows, long long columns, int band) {
  constexpr int kTile = 64, kSector = 8;  // a sector: elements
  __shared__ float tile[kTile + kSector][kTile + 1];
  const Tile at = TileOf(blockIdx.x, rows, columns, kTile, band);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);

  float v[(kTile + kSector) / 8][2];  // zeros outside of x
#pragma unroll
  for (int s = 0; s < (kTile + kSector) / 8; ++s) {
    const long long row = at.row + warp + 8 * s;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const long long column = at.column + lane + 32 * e;
      v[s][e] = row < rows && column < columns ? __ldg(x + row * columns + column) : 0.0f;
    }
  }
#pragma unroll
  for (int s = 0; s < (kTile + kSector) / 8; ++s) {
#pragma unroll
    for (int e = 0; e < 2; ++e) tile[warp + 8 * s][lane + 32 * e] = v[s][e];
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < kTile / 8; ++s) {
    const int c = warp + 8 * s;
    const long long column = at.column + c;
    if (column >= columns) break;
    // Elements from the row's start to its first whole sector belong to the first tile.
    const int skew = static_cast<int>(-static_cast<unsigned>(column) * static_cast<unsigned>(rows) % kSector);
    float* to = out + column * rows + at.row;
    if (at.row == 0 && lane < skew && lane < rows) __stcs(to + lane, tile[lane][c]);
#pragma unroll
    for (int e = 0; e < kTile / 32; ++e) {
      const int r = skew + lane + 32 * e;
      if (at.row + r < rows) __stcs(to + r, tile[r][c]);
    }
  }
}
