// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// transpose by whole 16-byte vectors, through a tile of DOWN rows and ACROSS columns in shared memory: a warp loads a block of
// 4 rows x 32 columns, 128 bytes of each row, and stores blocks of 4 columns x 32 rows. Vectors of the result's rows lie in
// shared memory at an index swizzled by the column, so that neither the elements put there nor the vectors taken from
// there conflict. A thread moves few vectors and finds its tile without a division: what counts at 4 MB is how soon the
// last load is under way, and above, that no more are under way than memory needs.
//
// Where rows do not start on 16-byte boundaries, elements go one by one, and each row of the result takes its piece
// from where a 32-byte sector of it begins: a tile reads seven rows more, and no sector is written by two blocks. Tiles
// run in bands of BAND tile rows, so that both matrices are touched in few pages at a time.
/*hone
constraints = ["DOWN * ACROSS / 4 >= BLOCK"]

[tune]
ACROSS = [32, 64]
DOWN = [32, 64]
BLOCK = [128, 256, 512]
DOWNWARD = [1, 0]
HINT = [0, 1, 2]
BAND = [4, 1, 16]

[[launch]]
kernel = "transpose<ACROSS, DOWN, BLOCK, DOWNWARD, HINT, 1>"
grid   = ["DOWNWARD == 1 ? ceil_div(rows, DOWN) : ceil_div(columns, ACROSS)", "DOWNWARD == 1 ? ceil_div(columns, ACROSS) : ceil_div(rows, DOWN)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows:i32", "columns:i32"]
when   = "max(rows, columns) <= 2000000000 && rows % DOWN == 0 && columns % ACROSS == 0 && (DOWNWARD == 1 ? ceil_div(columns, ACROSS) : ceil_div(rows, DOWN)) <= 65535"

[[launch]]
kernel = "transpose<ACROSS, DOWN, BLOCK, DOWNWARD, HINT, 0>"
grid   = ["DOWNWARD == 1 ? ceil_div(rows, DOWN) : ceil_div(columns, ACROSS)", "DOWNWARD == 1 ? ceil_div(columns, ACROSS) : ceil_div(rows, DOWN)"]
block  = ["BLOCK"]
args   = ["x", "out", "rows:i32", "columns:i32"]
when   = "max(rows, columns) <= 2000000000 && rows % 4 == 0 && columns % 4 == 0 && (DOWNWARD == 1 ? ceil_div(columns, ACROSS) : ceil_div(rows, DOWN)) <= 65535"

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

// HINT 1: loads and stores are the first to leave the caches. HINT 2: what is loaded is the last to leave L2, which then gives
// what is stored to memory sooner.
template <int kHint, typename Vector>
__device__ __forceinline__ Vector Load(const Vector* from) {
  if constexpr (kHint == 1) {
    return __ldcs(from);
  } else if constexpr (kHint == 2 && sizeof(Vector) == 16) {
    Vector v;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from), "l"(policy));
    return v;
  } else {
    return *from;
  }
}
template <int kHint, typename Vector>
__device__ __forceinline__ void Store(Vector* to, Vector value) {
  if constexpr (kHint == 1) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

}  // namespace

// rows and columns are multiples of 4; kWhole: of kDown and kAcross. kDownward: blocks that follow each other lie below each
// other, and not side by side.
template <int kAcross, int kDown, int kThreads, int kDownward, int kHint, int kWhole>
__global__ void __launch_bounds__(kThreads)
    transpose(const float* __restrict__ x, float* __restrict__ out, int rows, int columns) {
  constexpr int kWarps = kThreads / 32;
  constexpr int kEach = kAcross * kDown / 4 / kThreads;  // vectors a thread
  static_assert(kAcross % 32 == 0 && kDown % 32 == 0 && kEach * kThreads * 4 == kAcross * kDown, "warps move whole blocks");
  __shared__ float4 tile[kAcross * kDown / 4];  // [column][row / 4, swizzled]
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int first_row = static_cast<int>(kDownward ? blockIdx.x : blockIdx.y) * kDown;
  const int first_column = static_cast<int>(kDownward ? blockIdx.y : blockIdx.x) * kAcross;

  float4 v[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int block = warp + i * kWarps, r = block / (kAcross / 32) * 4 + lane / 8, c = block % (kAcross / 32) * 32 + lane % 8 * 4;
    const int row = first_row + r, column = first_column + c;
    if (!kWhole && (row >= rows || column >= columns)) continue;
    v[i] = Load<kHint>(reinterpret_cast<const float4*>(x + static_cast<long long>(row) * columns + column));
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int block = warp + i * kWarps, r = block / (kAcross / 32) * 4 + lane / 8, c = block % (kAcross / 32) * 32 + lane % 8 * 4;
    if (!kWhole && (first_row + r >= rows || first_column + c >= columns)) continue;
    float* to = reinterpret_cast<float*>(tile + c * (kDown / 4) + (r / 4 ^ c / 4 % 8)) + r % 4;
    to[0 * kDown] = v[i].x;
    to[1 * kDown] = v[i].y;
    to[2 * kDown] = v[i].z;
    to[3 * kDown] = v[i].w;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int block = warp + i * kWarps, c = block / (kDown / 32) * 4 + lane / 8, chunk = block % (kDown / 32) * 8 + lane % 8;
    const int row = first_row + 4 * chunk, column = first_column + c;
    if (!kWhole && (row >= rows || column >= columns)) continue;
    Store<kHint>(reinterpret_cast<float4*>(out + static_cast<long long>(column) * rows + row), tile[c * (kDown / 4) + (chunk ^ c / 4 % 8)]);
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
