// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor-core attention. A block takes 64 neighbouring tokens of one query head, 16 to a warp, and goes through the keys of their sequences in
// tiles of 64, which are copied to shared memory one tile ahead. A tile of tokens may lie in several sequences: each row counts the keys from
// the beginning of its own sequence to itself. The last tokens, which see most keys, come first. Widths that no tile fits take a plain kernel.
/*hone
[tune]
STAGES = [2, 3]

[[launch]]
kernel = "attend<64>"
grid   = ["kv_heads * group", "ceil_div(tokens, 64)"]
block  = ["128"]
shared = "STAGES * 2 * 64 * 64 * 2"
args   = ["q", "k", "v", "offsets", "out", "tokens:i32", "batch:i32", "kv_heads:i32", "group:i32", "scale:f32"]
when   = "head_dim == 64"

[[launch]]
kernel = "attend<128>"
grid   = ["kv_heads * group", "ceil_div(tokens, 64)"]
block  = ["128"]
shared = "STAGES * 2 * 64 * 128 * 2"
args   = ["q", "k", "v", "offsets", "out", "tokens:i32", "batch:i32", "kv_heads:i32", "group:i32", "scale:f32"]
when   = "head_dim == 128"

[[launch]]
kernel = "attend_any"
grid   = ["kv_heads * group", "tokens"]
block  = ["128"]
shared = "4 * head_dim * 4 + 32"
args   = ["q", "k", "v", "offsets", "out", "batch:i32", "kv_heads:i32", "group:i32", "head_dim:i32", "scale:f32"]
*/
#include <cuda_bf16.h>

constexpr float kLog2E = 1.4426950408889634f;  // e^x is 2^(x log2 e), one instruction
constexpr int kRows = 64, kKeys = 64, kThreads = 128;

__device__ __forceinline__ unsigned SharedAddress(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from, bool in_range) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(in_range ? 16 : 0));
}

__device__ __forceinline__ void LoadMatrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void LoadMatricesTransposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void Multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// The first token of the sequence of `token`; token + 1 if it belongs to none.
__device__ __forceinline__ int FirstOf(const int* __restrict__ offsets, int batch, int token) {
  int low = 0, high = batch + 1;  // the number of offsets at most `token` lies from low to high
  while (low < high) {
    const int middle = (low + high) / 2;
    if (offsets[middle] <= token) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 || low == batch + 1 ? token + 1 : offsets[low - 1];
}

// Shared memory: STAGES tiles of 64 rows of keys, then of values. The chunk c of 8 elements of row r stands at c ^ (r % 8), so that eight
// rows at a chunk lie in different banks.
template <int kDim>
__global__ void __launch_bounds__(kThreads)
    attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v,
           const int* __restrict__ offsets, __nv_bfloat16* __restrict__ out, int tokens, int batch, int kv_heads, int group, float scale) {
  constexpr int kStages = HONE_TUNE_STAGES, kChunks = kDim / 8, kSteps = kDim / 16;
  constexpr int kRowBytes = kDim * 2, kTileBytes = kKeys * kRowBytes;
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int head = blockIdx.x, kv_head = head / group;
  const int first_row = (static_cast<int>(gridDim.y) - 1 - static_cast<int>(blockIdx.y)) * kRows;
  const int last_row = min(first_row + kRows, tokens) - 1;
  const long long q_stride = static_cast<long long>(kv_heads) * group * kDim, k_stride = static_cast<long long>(kv_heads) * kDim;

  // The rows of this lane, and where their sequences begin. Sequences begin in order, so the first row's begins first.
  const int rows[2] = {first_row + warp * 16 + g, first_row + warp * 16 + g + 8};
  int starts[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) starts[half] = rows[half] < tokens ? FirstOf(offsets, batch, rows[half]) : tokens;
  const int latest = __reduce_max_sync(0xffffffffu, max(starts[0], starts[1]));
  const int begin = min(FirstOf(offsets, batch, first_row), last_row) / kKeys * kKeys;
  const int tiles = (last_row - begin) / kKeys + 1;

  const unsigned base = SharedAddress(shared);
  const auto copy = [&](int tile) {
    if (tile < tiles) {
      const unsigned keys = base + (tile % kStages) * 2 * kTileBytes, values = keys + kTileBytes;
#pragma unroll
      for (int i = 0; i < kKeys * kChunks / kThreads; ++i) {
        const int r = (i * kThreads + static_cast<int>(threadIdx.x)) / kChunks, c = (i * kThreads + static_cast<int>(threadIdx.x)) % kChunks;
        const int token = begin + tile * kKeys + r;
        const bool in_range = token <= last_row;
        const long long from = (in_range ? token : last_row) * k_stride + static_cast<long long>(kv_head) * kDim + c * 8;
        const unsigned to = static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16));
        CopyAsync(keys + to, k + from, in_range);
        CopyAsync(values + to, v + from, in_range);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  unsigned query[kSteps][4];
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = rows[i & 1], column = s * 16 + (i >> 1) * 8 + t * 2;
      query[s][i] = row < tokens ? *reinterpret_cast<const unsigned*>(q + row * q_stride + static_cast<long long>(head) * kDim + column) : 0u;
    }
  }
  const float factor = scale * kLog2E;
  float sums[kChunks][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};

  for (int tile = 0; tile < tiles; ++tile) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();  // the tile is there, and nobody reads the one that the next copy replaces
    copy(tile + kStages - 1);
    const int first_key = begin + tile * kKeys;
    // A warp whose rows all lie before this tile, or whose sequences all begin behind it, has nothing to add.
    if (first_key > first_row + warp * 16 + 15) continue;
    const unsigned keys = base + (tile % kStages) * 2 * kTileBytes, values = keys + kTileBytes;

    float scores[kKeys / 8][4] = {};
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int n = 0; n < kKeys / 16; ++n) {
        unsigned key[4];
        const int r = n * 16 + (lane >> 4) * 8 + (lane & 7), c = s * 2 + ((lane >> 3) & 1);
        LoadMatrices(key, keys + static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16)));
        Multiply(scores[2 * n], query[s], key[0], key[1]);
        Multiply(scores[2 * n + 1], query[s], key[2], key[3]);
      }
    }
    // Only a tile at an end of a sequence has keys that do not count for some row.
    if (first_key < latest || first_key + kKeys > first_row + warp * 16 + 1) {
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int key = first_key + n * 8 + t * 2 + i % 2;
          scores[n][i] = key >= starts[i / 2] && key <= rows[i / 2] ? scores[n][i] * factor : -INFINITY;
        }
      }
    } else {
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) scores[n][i] *= factor;
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = -INFINITY;
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
        largest = fmaxf(largest, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
      }
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
      const float now = fmaxf(most[half], largest);
      const float origin = now == -INFINITY ? 0.0f : now;
      const float shrink = exp2f(most[half] - origin);
      most[half] = now;
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = scores[n][2 * half + i];
          score = exp2f(score - origin);
          sum += score;
        }
      }
      total[half] = total[half] * shrink + sum;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        sums[c][2 * half] *= shrink;
        sums[c][2 * half + 1] *= shrink;
      }
    }
#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
      const unsigned weights[4] = {Pair(scores[2 * n][0], scores[2 * n][1]), Pair(scores[2 * n][2], scores[2 * n][3]),
                                   Pair(scores[2 * n + 1][0], scores[2 * n + 1][1]), Pair(scores[2 * n + 1][2], scores[2 * n + 1][3])};
#pragma unroll
      for (int c = 0; c < kChunks; c += 2) {
        unsigned value[4];
        const int r = n * 16 + ((lane >> 3) & 1) * 8 + (lane & 7), at = c + (lane >> 4);
        LoadMatricesTransposed(value, values + static_cast<unsigned>(r * kRowBytes + ((at ^ (r & 7)) * 16)));
        Multiply(sums[c], weights, value[0], value[1]);
        Multiply(sums[c + 1], weights, value[2], value[3]);
      }
    }
  }
  asm volatile("cp.async.wait_all;");
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    total[half] += __shfl_xor_sync(0xffffffffu, total[half], 1);
    total[half] += __shfl_xor_sync(0xffffffffu, total[half], 2);
    if (rows[half] >= tokens) continue;
    const float inverse = total[half] > 0.0f ? 1.0f / total[half] : 0.0f;
    __nv_bfloat16* const to = out + rows[half] * q_stride + static_cast<long long>(head) * kDim + t * 2;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      *reinterpret_cast<unsigned*>(to + c * 8) = Pair(sums[c][2 * half] * inverse, sums[c][2 * half + 1] * inverse);
    }
  }
}

// A block has one token of a query head; each warp every fourth key.
__global__ void attend_any(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v,
                           const int* __restrict__ offsets, __nv_bfloat16* __restrict__ out, int batch, int kv_heads, int group,
                           int head_dim, float scale) {
  extern __shared__ float sums[];  // [warp][head_dim], then maxima and sums of the warps
  float* const maxima = sums + 4 * head_dim;
  float* const totals = maxima + 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, head = blockIdx.x, token = blockIdx.y;
  const long long row = (static_cast<long long>(token) * kv_heads * group + head) * head_dim;
  float most = -INFINITY, total = 0.0f;
  for (int d = lane; d < head_dim; d += 32) sums[warp * head_dim + d] = 0.0f;
  for (int j = FirstOf(offsets, batch, token) + warp; j <= token; j += 4) {
    const long long at = (static_cast<long long>(j) * kv_heads + head / group) * head_dim;
    float score = 0.0f;
    for (int d = lane; d < head_dim; d += 32) score += __bfloat162float(q[row + d]) * __bfloat162float(k[at + d]);
    for (int offset = 16; offset > 0; offset /= 2) score += __shfl_xor_sync(0xffffffffu, score, offset);
    score *= scale * kLog2E;
    const float now = fmaxf(most, score), shrink = exp2f(most - now), weight = exp2f(score - now);
    most = now;
    total = total * shrink + weight;
    for (int d = lane; d < head_dim; d += 32) {
      sums[warp * head_dim + d] = sums[warp * head_dim + d] * shrink + weight * __bfloat162float(v[at + d]);
    }
  }
  if (lane == 0) {
    maxima[warp] = most;
    totals[warp] = total;
  }
  __syncthreads();
  const float largest = fmaxf(fmaxf(maxima[0], maxima[1]), fmaxf(maxima[2], maxima[3]));
  for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
    float sum = 0.0f, value = 0.0f;
    for (int w = 0; w < 4; ++w) {
      const float weight = largest == -INFINITY ? 0.0f : exp2f(maxima[w] - largest);
      sum += weight * totals[w];
      value += weight * sums[w * head_dim + d];
    }
    out[row + d] = __float2bfloat16(sum > 0.0f ? value / sum : 0.0f);
  }
}
