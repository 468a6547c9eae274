// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor-core attention over pages of compressed rows. A block takes a stretch of one sequence for 64 heads (16 where there are no more), so
// that a row is read once for all of them: 64 rows at a time lie in shared memory, the next 64 on their way. Eight warps share the scores of
// these rows; then each adds up 64 of the results' columns for all heads, with the weights of all rows, which pass through shared memory.
// Where there are few sequences each is cut into stretches that a second kernel joins. Other widths take a plain kernel.
/*hone
[tune]
WAVES = [1, 2]

[[workspace]]
name  = "part"
bytes = "batch * heads * rank * max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16)))) * 4"

[[workspace]]
name  = "lse"
bytes = "batch * heads * max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16)))) * 4"

[[launch]]
kernel = "attend<1>"
grid   = ["ceil_div(heads, 16) * max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16))))", "batch"]
block  = ["256"]
shared = "(16 + 2 * 64) * 1152 + 16 * (128 + 32)"
args   = ["q", "cache", "block_table", "seq_lens", "out", "part", "lse", "heads:i32", "page_size:i32", "max_pages:i32",
          "max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16)))):i32", "scale:f32"]
when   = "rank == 512 && rope == 64 && page_size > 0 && smem_optin >= 230400 && heads <= 16"

[[launch]]
kernel = "attend<4>"
grid   = ["ceil_div(heads, 64) * max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16))))", "batch"]
block  = ["256"]
shared = "(64 + 2 * 64) * 1152 + 64 * (128 + 16)"
args   = ["q", "cache", "block_table", "seq_lens", "out", "part", "lse", "heads:i32", "page_size:i32", "max_pages:i32",
          "max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16)))):i32", "scale:f32"]
when   = "rank == 512 && rope == 64 && page_size > 0 && smem_optin >= 230400"

[[launch]]
kernel = "attend_any"
grid   = ["heads", "batch"]
block  = ["128"]
shared = "4 * rank * 4 + 32"
args   = ["q", "cache", "block_table", "seq_lens", "out", "heads:i32", "rank:i32", "rope:i32", "page_size:i32", "max_pages:i32", "scale:f32"]

[[launch]]
step   = 1
kernel = "join"
grid   = ["max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16)))) > 1 && rank == 512 && rope == 64 && page_size > 0 && smem_optin >= 230400 ? batch * heads : 0"]
block  = ["128"]
args   = ["part", "lse", "out", "rank:i32", "max(1, min(min(ceil_div(max_pages * page_size, 128), 1024), WAVES * sm_count / max(1, batch * ceil_div(heads, heads > 16 ? 64 : 16)))):i32"]
*/
#include <cuda_bf16.h>

constexpr float kLog2E = 1.4426950408889634f;  // e^x is 2^(x log2 e), one instruction
constexpr int kRank = 512, kWidth = 576, kChunks = kWidth / 8, kRowBytes = kWidth * 2, kTokens = 64, kWarps = 8;

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

// Where chunk c of 8 elements of a row stands, so that eight rows at a chunk lie in different banks: rows of q and of the cache, and the rows
// of 64 weights.
__device__ __forceinline__ unsigned Place(int r, int c) { return static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16)); }
__device__ __forceinline__ unsigned WeightPlace(int r, int c) { return static_cast<unsigned>(r * kTokens * 2 + ((c ^ (r & 7)) * 16)); }

// kTiles groups of 16 heads: 4 or 1. Shared memory: the heads' queries, twice 64 rows of the cache, weights [head][64] as bfloat16, and for
// each head a float from each group of warps that shares its scores.
template <int kTiles>
__global__ void __launch_bounds__(kWarps * 32, 1)
    attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ cache, const int* __restrict__ block_table,
           const int* __restrict__ seq_lens, __nv_bfloat16* __restrict__ out, float* __restrict__ part, float* __restrict__ lse, int heads,
           int page_size, int max_pages, int splits, float scale) {
  constexpr int kHeads = 16 * kTiles, kTileBytes = kTokens * kRowBytes;
  // A warp scores 32 heads and 16 rows, or 16 heads and 8 rows.
  constexpr int kOwn = kTiles == 4 ? 2 : 1, kEights = kOwn, kGroups = kTokens / (8 * kEights);
  constexpr int kChains = kOwn == 2 ? 1 : 4;  // sums that need not wait for one another
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int own_tile = warp / kGroups * kOwn, group = warp % kGroups;
  const int head_blocks = (heads + kHeads - 1) / kHeads;
  const int first_head = blockIdx.x % head_blocks * kHeads, split = blockIdx.x / head_blocks, b = blockIdx.y;
  const int length = seq_lens[b];
  const int span = (length + splits - 1) / splits, stretch = (span + kTokens - 1) / kTokens * kTokens;
  const int begin = split * stretch, end = min(length, begin + stretch);
  const int rounds = begin < end ? (end - begin + kTokens - 1) / kTokens : 0;

  const unsigned queries = SharedAddress(shared), rows = queries + kHeads * kRowBytes, weights = rows + 2 * kTileBytes;
  float* const exchange = reinterpret_cast<float*>(shared + kHeads * kRowBytes + 2 * kTileBytes + kHeads * kTokens * 2);

  for (int r = warp; r < kHeads; r += kWarps) {
    const bool in_range = first_head + r < heads;
    const __nv_bfloat16* const from = q + (static_cast<long long>(b) * heads + (in_range ? first_head + r : 0)) * kWidth;
    for (int c = lane; c < kChunks; c += 32) CopyAsync(queries + Place(r, c), from + c * 8, in_range);
  }
  // A warp copies every eighth row of a round. Lane i looks up where the i-th of them lies, a round ahead.
  const int* const table = block_table + static_cast<long long>(b) * max_pages;
  const auto look_up = [&](int round) {
    if (round >= rounds) return 0;
    const int token = min(begin + round * kTokens + warp + lane % 8 * kWarps, end - 1), page = token / page_size;
    return table[page] * page_size + (token - page * page_size);
  };
  int places = look_up(0);
  const auto copy = [&](int round) {
    if (round < rounds) {
      const unsigned to = rows + round % 2 * kTileBytes;
#pragma unroll 2
      for (int i = 0; i < kTokens / kWarps; ++i) {
        const int r = warp + i * kWarps;
        const bool in_range = begin + round * kTokens + r < end;
        const __nv_bfloat16* const from = cache + static_cast<long long>(__shfl_sync(0xffffffffu, places, i)) * kWidth;
        for (int c = lane; c < kChunks; c += 32) CopyAsync(to + Place(r, c), from + c * 8, in_range);
      }
      places = look_up(round + 1);
    }
    asm volatile("cp.async.commit_group;");
  };
  copy(0);

  const float factor = scale * kLog2E;
  float sums[kTiles][8][4] = {}, most[kTiles][2], total[kOwn][2] = {};
#pragma unroll
  for (int i = 0; i < kTiles; ++i) most[i][0] = most[i][1] = -INFINITY;
  for (int round = 0; round < rounds; ++round) {
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();  // the rows are there, and nobody reads those that the next copy replaces
    copy(round + 1);
    const unsigned now_rows = rows + round % 2 * kTileBytes;

    float chains[kChains][kOwn][kEights][4] = {};
    if constexpr (kOwn == 2) {
#pragma unroll 4
      for (int s = 0; s < kWidth / 16; ++s) {
        unsigned key[4], query[kOwn][4];
        LoadMatrices(key, now_rows + Place(group * 16 + (lane >> 4) * 8 + (lane & 7), s * 2 + ((lane >> 3) & 1)));
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
          LoadMatrices(query[i], queries + Place((own_tile + i) * 16 + (lane & 15), s * 2 + (lane >> 4)));
#pragma unroll
          for (int j = 0; j < kEights; ++j) Multiply(chains[0][i][j], query[i], key[2 * j], key[2 * j + 1]);
        }
      }
    } else {
#pragma unroll 3
      for (int s = 0; s < kWidth / 16; s += 4) {
#pragma unroll
        for (int two = 0; two < 4; two += 2) {
          unsigned key[4], query[4];
          LoadMatrices(key, now_rows + Place(group * 8 + (lane & 7), (s + two) * 2 + (lane >> 3)));
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            LoadMatrices(query, queries + Place(lane & 15, (s + two + i) * 2 + (lane >> 4)));
            Multiply(chains[(two + i) % kChains][0][0], query, key[2 * i], key[2 * i + 1]);
          }
        }
      }
    }
    float (&scores)[kOwn][kEights][4] = chains[0];
    const int left = end - (begin + round * kTokens);  // rows of this round that count
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float largest = -INFINITY;
#pragma unroll
        for (int j = 0; j < kEights; ++j) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& score = scores[i][j][2 * half + e];
#pragma unroll
            for (int c = 1; c < kChains; ++c) score += chains[c][i][j][2 * half + e];
            score = (group * kEights + j) * 8 + t * 2 + e < left ? score * factor : -INFINITY;
            largest = fmaxf(largest, score);
          }
        }
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
        if (t == 0) exchange[((own_tile + i) * 16 + g + half * 8) * kGroups + group] = largest;
      }
    }
    __syncthreads();
    float shrink[kTiles][2];
    bool changed = false;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float now = most[i][half];
#pragma unroll
        for (int k = 0; k < kGroups; k += 4) {
          const float4 four = *reinterpret_cast<const float4*>(exchange + (i * 16 + g + half * 8) * kGroups + k);
          now = fmaxf(fmaxf(now, fmaxf(four.x, four.y)), fmaxf(four.z, four.w));
        }
        // The first row of a round always counts, so this is a number.
        shrink[i][half] = exp2f(most[i][half] - now);
        changed = changed || now != most[i][half];
        most[i][half] = now;
      }
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // A choice between two registers, where an index would put the array into memory.
        const float now = kOwn == 2 && own_tile > 0 ? most[(2 + i) % kTiles][half] : most[i][half];
        total[i][half] *= kOwn == 2 && own_tile > 0 ? shrink[(2 + i) % kTiles][half] : shrink[i][half];
#pragma unroll
        for (int j = 0; j < kEights; ++j) {
          const float first = exp2f(scores[i][j][2 * half] - now), second = exp2f(scores[i][j][2 * half + 1] - now);
          total[i][half] += first + second;
          const unsigned to = weights + WeightPlace((own_tile + i) * 16 + g + half * 8, group * kEights + j) + t * 4;
          asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(Pair(first, second)) : "memory");
        }
      }
    }
    if (__any_sync(0xffffffffu, changed)) {
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
#pragma unroll
        for (int c = 0; c < 8; ++c) {
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[i][c][e] *= shrink[i][e / 2];
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kTokens / 16; ++s) {
      unsigned weight[kTiles][4];
#pragma unroll
      for (int i = 0; i < kTiles; ++i) LoadMatrices(weight[i], weights + WeightPlace(i * 16 + (lane & 15), s * 2 + (lane >> 4)));
#pragma unroll
      for (int c = 0; c < 8; c += 2) {
        unsigned value[4];
        LoadMatricesTransposed(value, now_rows + Place(s * 16 + (lane & 15), warp * 8 + c + (lane >> 4)));
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          Multiply(sums[i][c], weight[i], value[0], value[1]);
          Multiply(sums[i][c + 1], weight[i], value[2], value[3]);
        }
      }
    }
  }
  asm volatile("cp.async.wait_all;");
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      total[i][half] += __shfl_xor_sync(0xffffffffu, total[i][half], 1);
      total[i][half] += __shfl_xor_sync(0xffffffffu, total[i][half], 2);
      if (t == 0) exchange[((own_tile + i) * 16 + g + half * 8) * kGroups + group] = total[i][half];
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + g + half * 8;
      if (first_head + row >= heads) continue;
      float sum = 0.0f;
#pragma unroll
      for (int k = 0; k < kGroups; ++k) sum += exchange[row * kGroups + k];
      const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
      const long long head = static_cast<long long>(b) * heads + first_head + row;
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const int d = warp * 64 + c * 8 + t * 2;
        const float x = sums[i][c][2 * half] * inverse, y = sums[i][c][2 * half + 1] * inverse;
        if (splits == 1) {
          *reinterpret_cast<unsigned*>(out + head * kRank + d) = Pair(x, y);
        } else {
          *reinterpret_cast<float2*>(part + (head * splits + split) * kRank + d) = make_float2(x, y);
        }
      }
      if (splits > 1 && warp == 0 && t == 0) lse[head * splits + split] = sum > 0.0f ? most[i][half] + log2f(sum) : -INFINITY;
    }
  }
}

// A block joins the stretches of one head, 1024 at most: weights first, so that the loads that follow need not wait.
__global__ void join(const float* __restrict__ part, const float* __restrict__ lse, __nv_bfloat16* __restrict__ out, int rank, int splits) {
  __shared__ float weights[1024];
  const long long head = blockIdx.x;
  for (int s = threadIdx.x; s < splits; s += blockDim.x) weights[s] = lse[head * splits + s];
  __syncthreads();
  float largest = -INFINITY;
  for (int s = 0; s < splits; ++s) largest = fmaxf(largest, weights[s]);
  for (int d = threadIdx.x; d < rank; d += blockDim.x) {
    float sum = 0.0f, value = 0.0f;
#pragma unroll 8
    for (int s = 0; s < splits; ++s) {
      const float weight = largest == -INFINITY ? 0.0f : exp2f(weights[s] - largest);
      sum += weight;
      value += weight * part[(head * splits + s) * rank + d];
    }
    out[head * rank + d] = __float2bfloat16(sum > 0.0f ? value / sum : 0.0f);
  }
}

// A block has one head; each warp every fourth row.
__global__ void attend_any(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ cache, const int* __restrict__ block_table,
                           const int* __restrict__ seq_lens, __nv_bfloat16* __restrict__ out, int heads, int rank, int rope, int page_size,
                           int max_pages, float scale) {
  extern __shared__ float sums[];  // [warp][rank], then maxima and sums of the warps
  float* const maxima = sums + 4 * rank;
  float* const totals = maxima + 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, b = blockIdx.y, width = rank + rope;
  const long long head = static_cast<long long>(b) * heads + blockIdx.x;
  const int length = seq_lens[b];
  float most = -INFINITY, total = 0.0f;
  for (int d = lane; d < rank; d += 32) sums[warp * rank + d] = 0.0f;
  for (int j = warp; j < length; j += 4) {
    const long long page = block_table[static_cast<long long>(b) * max_pages + j / page_size];
    const long long at = (page * page_size + j % page_size) * width;
    float score = 0.0f;
    for (int d = lane; d < width; d += 32) score += __bfloat162float(q[head * width + d]) * __bfloat162float(cache[at + d]);
    for (int offset = 16; offset > 0; offset /= 2) score += __shfl_xor_sync(0xffffffffu, score, offset);
    score *= scale * kLog2E;
    const float now = fmaxf(most, score), shrink = exp2f(most - now), weight = exp2f(score - now);
    most = now;
    total = total * shrink + weight;
    for (int d = lane; d < rank; d += 32) {
      sums[warp * rank + d] = sums[warp * rank + d] * shrink + weight * __bfloat162float(cache[at + d]);
    }
  }
  if (lane == 0) {
    maxima[warp] = most;
    totals[warp] = total;
  }
  __syncthreads();
  const float largest = fmaxf(fmaxf(maxima[0], maxima[1]), fmaxf(maxima[2], maxima[3]));
  for (int d = threadIdx.x; d < rank; d += blockDim.x) {
    float sum = 0.0f, value = 0.0f;
    for (int w = 0; w < 4; ++w) {
      const float weight = largest == -INFINITY ? 0.0f : exp2f(maxima[w] - largest);
      sum += weight * totals[w];
      value += weight * sums[w * rank + d];
    }
    out[head * rank + d] = __float2bfloat16(sum > 0.0f ? value / sum : 0.0f);
  }
}
