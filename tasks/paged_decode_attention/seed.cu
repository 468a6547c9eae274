// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor-core attention over pages. A block takes a stretch of one sequence and one head of keys, for all query heads of
// its group at once, so that each key and value is read once. Each of four warps has every fourth group of 16 tokens: it
// copies their rows to shared memory of its own three groups ahead, multiplies, and keeps a running maximum, sum and
// weighted sum; these are joined at the end. Where there are few sequences each is cut into stretches that a second kernel
// joins. Widths and groups that no tile fits take a plain kernel.
/*hone
[tune]
STAGES = [2, 3]
WAVES = [2, 4, 8]

[[workspace]]
name  = "part"
bytes = "batch * kv_heads * group * head_dim * max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads))) * 4"

[[workspace]]
name  = "lse"
bytes = "batch * kv_heads * group * max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads))) * 4"

[[launch]]
kernel = "attend<64>"
grid   = ["kv_heads * max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads)))", "batch"]
block  = ["128"]
shared = "max(4 * STAGES * 16 * 64 * 4, 4 * 16 * (64 + 2) * 4)"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "part", "lse", "kv_heads:i32", "group:i32",
          "page_size:i32", "max_pages:i32",
          "max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads))):i32",
          "scale:f32"]
when   = "head_dim == 64 && group > 0 && group <= 16 && page_size > 0"

[[launch]]
kernel = "attend<128>"
grid   = ["kv_heads * max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads)))", "batch"]
block  = ["128"]
shared = "max(4 * STAGES * 16 * 128 * 4, 4 * 16 * (128 + 2) * 4)"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "part", "lse", "kv_heads:i32", "group:i32",
          "page_size:i32", "max_pages:i32",
          "max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads))):i32",
          "scale:f32"]
when   = "head_dim == 128 && group > 0 && group <= 16 && page_size > 0"

[[launch]]
kernel = "attend_any"
grid   = ["kv_heads * group", "batch"]
block  = ["128"]
shared = "4 * head_dim * 4 + 64"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "kv_heads:i32", "group:i32", "head_dim:i32",
          "page_size:i32", "max_pages:i32", "scale:f32"]

[[launch]]
step   = 1
kernel = "join"
grid   = ["max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads))) > 1 && (head_dim == 64 || head_dim == 128) && group <= 16 ? batch * kv_heads * group : 0"]
block  = ["128"]
args   = ["part", "lse", "out", "head_dim:i32",
          "max(1, min(min(ceil_div(max_pages * page_size, 256), 1024), WAVES * sm_count / max(1, batch * kv_heads))):i32"]
*/
#include <cuda_bf16.h>

constexpr float kLog2E = 1.4426950408889634f;  // e^x is 2^(x log2 e), one instruction
constexpr int kWarps = 4, kTokens = 16;

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

// Shared memory of a warp: STAGES groups of 16 rows of keys, then of values. The chunk c of 8 elements of row r stands at
// c ^ (r % 8), so that eight rows at a chunk lie in different banks.
template <int kDim>
__global__ void __launch_bounds__(kWarps * 32)
    attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k_cache,
           const __nv_bfloat16* __restrict__ v_cache, const int* __restrict__ block_table,
           const int* __restrict__ seq_lens, __nv_bfloat16* __restrict__ out, float* __restrict__ part,
           float* __restrict__ lse, int kv_heads, int group, int page_size, int max_pages, int splits, float scale) {
  constexpr int kStages = HONE_TUNE_STAGES, kChunks = kDim / 8, kSteps = kDim / 16;
  constexpr int kRowBytes = kDim * 2, kStageBytes = kTokens * kRowBytes;
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int kv_head = blockIdx.x % kv_heads, split = blockIdx.x / kv_heads, b = blockIdx.y;
  const int heads = kv_heads * group, first_head = kv_head * group;
  const int length = seq_lens[b];
  // Stretches are whole rounds of the four warps.
  const int span = (length + splits - 1) / splits;
  const int stretch = (span + kWarps * kTokens - 1) / (kWarps * kTokens) * (kWarps * kTokens);
  const int begin = split * stretch, end = min(length, begin + stretch);
  const int rounds = begin < end ? (end - begin + kWarps * kTokens - 1) / (kWarps * kTokens) : 0;

  const unsigned mine = SharedAddress(shared) + warp * kStages * 2 * kStageBytes;
  const int* const table = block_table + static_cast<long long>(b) * max_pages;
  // Lanes 0 to 15 know the row of the token that they stand for; a round ahead of the copies, so that nobody waits for it.
  const auto row_of = [&](int round) {
    const int token = min(begin + (round * kWarps + warp) * kTokens + (lane & 15), length - 1);
    if (round >= rounds) return 0LL;
    const int page = token / page_size;
    return (static_cast<long long>(table[page]) * page_size + (token - page * page_size)) * kv_heads + kv_head;
  };
  long long next_row = row_of(0);
  const auto copy = [&](int round) {
    const long long row = next_row;
    next_row = row_of(round + 1);
    if (round < rounds) {
      const unsigned keys = mine + (round % kStages) * 2 * kStageBytes, values = keys + kStageBytes;
      const int first = begin + (round * kWarps + warp) * kTokens;
#pragma unroll
      for (int i = 0; i < kTokens * kChunks / 32; ++i) {
        const int r = (i * 32 + lane) / kChunks, c = (i * 32 + lane) % kChunks;
        const long long from = __shfl_sync(0xffffffffu, row, r) * kDim + c * 8;
        const unsigned to = static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16));
        const bool in_range = first + r < end;
        CopyAsync(keys + to, k_cache + from, in_range);
        CopyAsync(values + to, v_cache + from, in_range);
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  // Queries as the left factor: row g and row g + 8 of 16, of which those at or past `group` are zero.
  unsigned query[kSteps][4];
  const __nv_bfloat16* const rows = q + (static_cast<long long>(b) * heads + first_head) * kDim;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = g + (i & 1) * 8, column = s * 16 + (i >> 1) * 8 + t * 2;
      query[s][i] = row < group ? *reinterpret_cast<const unsigned*>(rows + row * kDim + column) : 0u;
    }
  }

  float sums[kChunks][4] = {};
  float most[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  const float factor = scale * kLog2E;
  for (int round = 0; round < rounds; ++round) {
    copy(round + kStages - 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1));
    __syncwarp();
    const unsigned keys = mine + (round % kStages) * 2 * kStageBytes, values = keys + kStageBytes;

    float scores[2][4] = {};
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      unsigned key[4];
      const int r = (lane >> 4) * 8 + (lane & 7), c = s * 2 + ((lane >> 3) & 1);
      LoadMatrices(key, keys + static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16)));
      Multiply(scores[0], query[s], key[0], key[1]);
      Multiply(scores[1], query[s], key[2], key[3]);
    }
    const int left = end - (begin + (round * kWarps + warp) * kTokens);  // tokens of this group that count
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[n][i] = n * 8 + t * 2 + (i & 1) < left ? scores[n][i] * factor : -INFINITY;
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = fmaxf(fmaxf(scores[0][2 * half], scores[0][2 * half + 1]),
                            fmaxf(scores[1][2 * half], scores[1][2 * half + 1]));
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
      const float now = fmaxf(most[half], largest);
      const float base = now == -INFINITY ? 0.0f : now;
      const float shrink = exp2f(most[half] - base);
      most[half] = now;
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = scores[n][2 * half + i];
          score = exp2f(score - base);
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
    const unsigned weights[4] = {Pair(scores[0][0], scores[0][1]), Pair(scores[0][2], scores[0][3]),
                                 Pair(scores[1][0], scores[1][1]), Pair(scores[1][2], scores[1][3])};
#pragma unroll
    for (int c = 0; c < kChunks; c += 2) {
      unsigned value[4];
      const int r = ((lane >> 3) & 1) * 8 + (lane & 7), at = c + (lane >> 4);
      LoadMatricesTransposed(value, values + static_cast<unsigned>(r * kRowBytes + ((at ^ (r & 7)) * 16)));
      Multiply(sums[c], weights, value[0], value[1]);
      Multiply(sums[c + 1], weights, value[2], value[3]);
    }
    __syncwarp();
  }
  asm volatile("cp.async.wait_all;");
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    total[half] += __shfl_xor_sync(0xffffffffu, total[half], 1);
    total[half] += __shfl_xor_sync(0xffffffffu, total[half], 2);
  }

  // The four warps' maxima, sums and weighted sums, joined.
  __syncthreads();
  float* const joined = reinterpret_cast<float*>(shared);  // [warp][16][kDim], then maxima and sums [warp][16]
  float* const maxima = joined + kWarps * 16 * kDim;
  float* const totals = maxima + kWarps * 16;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp * 16 + g + half * 8;
    if (t == 0) {
      maxima[row] = most[half];
      totals[row] = total[half];
    }
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      *reinterpret_cast<float2*>(joined + row * kDim + c * 8 + t * 2) =
          make_float2(sums[c][2 * half], sums[c][2 * half + 1]);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < group * (kDim / 2); i += kWarps * 32) {
    const int row = i / (kDim / 2), d = i % (kDim / 2) * 2;
    float largest = -INFINITY;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, maxima[w * 16 + row]);
    float sum = 0.0f, x = 0.0f, y = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float weight = largest == -INFINITY ? 0.0f : exp2f(maxima[w * 16 + row] - largest);
      const float2 both = *reinterpret_cast<const float2*>(joined + (w * 16 + row) * kDim + d);
      sum += weight * totals[w * 16 + row];
      x += weight * both.x;
      y += weight * both.y;
    }
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    const long long head = static_cast<long long>(b) * heads + first_head + row;
    if (splits == 1) {
      *reinterpret_cast<unsigned*>(out + head * kDim + d) = Pair(x * inverse, y * inverse);
    } else {
      *reinterpret_cast<float2*>(part + (head * splits + split) * kDim + d) = make_float2(x * inverse, y * inverse);
      if (d == 0) lse[head * splits + split] = sum > 0.0f ? largest + log2f(sum) : -INFINITY;
    }
  }
}

// A block joins the stretches of one head, 1024 at most: weights first, so that the loads that follow need not wait.
__global__ void join(const float* __restrict__ part, const float* __restrict__ lse, __nv_bfloat16* __restrict__ out,
                     int head_dim, int splits) {
  __shared__ float weights[1024];
  const long long head = blockIdx.x;
  for (int s = threadIdx.x; s < splits; s += blockDim.x) weights[s] = lse[head * splits + s];
  __syncthreads();
  float largest = -INFINITY;
  for (int s = 0; s < splits; ++s) largest = fmaxf(largest, weights[s]);
  for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
    float sum = 0.0f, value = 0.0f;
#pragma unroll 8
    for (int s = 0; s < splits; ++s) {
      const float weight = largest == -INFINITY ? 0.0f : exp2f(weights[s] - largest);
      sum += weight;
      value += weight * part[(head * splits + s) * head_dim + d];
    }
    out[head * head_dim + d] = __float2bfloat16(sum > 0.0f ? value / sum : 0.0f);
  }
}

// A block has one head of queries; each warp every fourth token.
__global__ void attend_any(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k_cache,
                           const __nv_bfloat16* __restrict__ v_cache, const int* __restrict__ block_table,
                           const int* __restrict__ seq_lens, __nv_bfloat16* __restrict__ out, int kv_heads, int group,
                           int head_dim, int page_size, int max_pages, float scale) {
  extern __shared__ float sums[];  // [warp][head_dim], then maxima and sums of the warps
  float* const maxima = sums + 4 * head_dim;
  float* const totals = maxima + 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, head = blockIdx.x, b = blockIdx.y;
  const long long row = static_cast<long long>(b) * kv_heads * group + head;
  const int length = seq_lens[b];
  float most = -INFINITY, total = 0.0f;
  for (int d = lane; d < head_dim; d += 32) sums[warp * head_dim + d] = 0.0f;
  for (int j = warp; j < length; j += 4) {
    const long long page = block_table[static_cast<long long>(b) * max_pages + j / page_size];
    const long long at = ((page * page_size + j % page_size) * kv_heads + head / group) * head_dim;
    float score = 0.0f;
    for (int d = lane; d < head_dim; d += 32) {
      score += __bfloat162float(q[row * head_dim + d]) * __bfloat162float(k_cache[at + d]);
    }
    for (int offset = 16; offset > 0; offset /= 2) score += __shfl_xor_sync(0xffffffffu, score, offset);
    score *= scale * kLog2E;
    const float now = fmaxf(most, score), shrink = exp2f(most - now), weight = exp2f(score - now);
    most = now;
    total = total * shrink + weight;
    for (int d = lane; d < head_dim; d += 32) {
      sums[warp * head_dim + d] = sums[warp * head_dim + d] * shrink + weight * __bfloat162float(v_cache[at + d]);
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
    out[row * head_dim + d] = __float2bfloat16(sum > 0.0f ? value / sum : 0.0f);
  }
}
