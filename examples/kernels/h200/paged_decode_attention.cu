// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// paged_decode_attention with equal work for every block. All sequences together are a row of groups of 16 tokens, and
// each team of blocks, one for each head of keys, has an equal stretch of it, wherever sequences end: a block goes
// through the pieces of its stretch one after another. Each of its four warps has every fourth group, and its copies
// are always STAGES - 1 groups ahead of its products, across pieces too. A piece that is a whole sequence is written as
// it is; others leave their maximum, sum and weighted sum, which a second kernel joins. Keys and values are read once,
// by tensor cores from shared memory. Widths and groups that no tile fits take a plain kernel.
/*hone
constraints = ["PER_SM * (4 * STAGES * 8192 + 4 * 8 * 520 + 1024) <= 233472"]

[tune]
STAGES = [2, 3]
PER_SM = [2, 1]
JOIN_WARPS = [8, 16, 4]

[[workspace]]
name  = "part"
bytes = "kv_heads * group * head_dim * 4 * (batch + min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads))))"

[[workspace]]
name  = "lse"
bytes = "kv_heads * group * 4 * (batch + min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads))))"

[[workspace]]
name  = "spans"
bytes = "batch * 8"

[[launch]]
kernel = "attend<128, false>"
grid   = ["kv_heads * min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads)))"]
block  = ["128"]
shared = "4 * STAGES * 16 * 128 * 4 + 4 * 8 * (128 * 4 + 8)"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "part", "lse", "spans", "batch:i32", "kv_heads:i32",
          "group:i32", "page_size:i32", "max_pages:i32",
          "min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads))):i32",
          "scale:f32"]
when   = "head_dim == 128 && group > 0 && group <= 8 && page_size > 0"

[[launch]]
kernel = "attend<128, true>"
grid   = ["kv_heads * min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads)))"]
block  = ["128"]
shared = "4 * STAGES * 16 * 128 * 4 + 4 * 16 * (128 * 4 + 8)"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "part", "lse", "spans", "batch:i32", "kv_heads:i32",
          "group:i32", "page_size:i32", "max_pages:i32",
          "min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads))):i32",
          "scale:f32"]
when   = "head_dim == 128 && group > 0 && group <= 16 && page_size > 0"

[[launch]]
kernel = "attend<64, false>"
grid   = ["kv_heads * min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads)))"]
block  = ["128"]
shared = "4 * STAGES * 16 * 64 * 4 + 4 * 8 * (64 * 4 + 8)"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "part", "lse", "spans", "batch:i32", "kv_heads:i32",
          "group:i32", "page_size:i32", "max_pages:i32",
          "min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads))):i32",
          "scale:f32"]
when   = "head_dim == 64 && group > 0 && group <= 8 && page_size > 0"

[[launch]]
kernel = "attend<64, true>"
grid   = ["kv_heads * min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads)))"]
block  = ["128"]
shared = "4 * STAGES * 16 * 64 * 4 + 4 * 16 * (64 * 4 + 8)"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "part", "lse", "spans", "batch:i32", "kv_heads:i32",
          "group:i32", "page_size:i32", "max_pages:i32",
          "min(batch * ceil_div(max(1, max_pages * page_size), 16), max(1, PER_SM * sm_count / max(1, kv_heads))):i32",
          "scale:f32"]
when   = "head_dim == 64 && group > 0 && group <= 16 && page_size > 0"

[[launch]]
kernel = "attend_any"
grid   = ["kv_heads * group", "batch"]
block  = ["128"]
shared = "4 * head_dim * 4 + 64"
args   = ["q", "k_cache", "v_cache", "block_table", "seq_lens", "out", "kv_heads:i32", "group:i32", "head_dim:i32",
          "page_size:i32", "max_pages:i32", "scale:f32"]

# Where few sequences are cut into many pieces, a block joins those of a head; else a warp does.
[[launch]]
step   = 1
pdl    = true
kernel = "join<JOIN_WARPS>"
grid   = ["(head_dim == 64 || head_dim == 128) && group <= 16 && page_size > 0 ? batch * kv_heads * group : 0"]
block  = ["32 * JOIN_WARPS"]
args   = ["part", "lse", "spans", "out", "batch:i32", "kv_heads:i32", "group:i32", "head_dim:i32"]
when   = "batch * kv_heads * 6 <= PER_SM * sm_count"

[[launch]]
step   = 1
pdl    = true
kernel = "join<1>"
grid   = ["(head_dim == 64 || head_dim == 128) && group <= 16 && page_size > 0 ? ceil_div(batch * kv_heads * group, 4) : 0"]
block  = ["128"]
args   = ["part", "lse", "spans", "out", "batch:i32", "kv_heads:i32", "group:i32", "head_dim:i32"]
*/
#include <cuda_bf16.h>

constexpr float kLog2E = 1.4426950408889634f;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kTokens = 16;

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

__device__ __forceinline__ void LoadMatricesTransposed(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void Multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Stretches of 16 tokens that a sequence has; one without tokens has an empty one, for which zeros are written.
__device__ __forceinline__ int Groups(int length) { return max(1, (length + kTokens - 1) / kTokens); }

// Shared memory: for each warp STAGES groups of 16 rows of keys, then of values, then what the warps join: sums, maxima
// and totals of each head. The chunk c of 8 elements of row r stands at c ^ (r % 8), so that eight rows at a chunk lie
// in different banks. kWide: more than 8 heads to a group.
template <int kDim, bool kWide>
__global__ void __launch_bounds__(128)
    attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k_cache,
           const __nv_bfloat16* __restrict__ v_cache, const int* __restrict__ block_table,
           const int* __restrict__ seq_lens, __nv_bfloat16* __restrict__ out, float* __restrict__ part,
           float* __restrict__ lse, int* __restrict__ spans, int batch, int kv_heads, int group, int page_size,
           int max_pages, int most_teams, float scale) {
  constexpr int kStages = HONE_TUNE_STAGES, kChunks = kDim / 8, kSteps = kDim / 16, kRowHalves = kWide ? 2 : 1;
  constexpr int kRowBytes = kDim * 2, kStageBytes = kTokens * kRowBytes, kRowsAtOnce = 32 / kChunks;
  extern __shared__ __align__(128) unsigned char shared[];
  cudaTriggerProgrammaticLaunchCompletion();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int team = blockIdx.x / kv_heads, kv_head = blockIdx.x % kv_heads;
  const int heads = kv_heads * group, first_head = kv_head * group;

  // The block's stretch, and the sequence in which it begins: lanes have consecutive sequences.
  const int each = (batch + 31) / 32, from = min(batch, lane * each), to = min(batch, from + each);
  int own = 0;
  for (int i = from; i < to; ++i) own += Groups(seq_lens[i]);
  int sum = own;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(kAll, sum, distance);
    if (lane >= distance) sum += other;
  }
  const int all = __shfl_sync(kAll, sum, 31), teams = min(most_teams, all);
  if (team >= teams) return;
  const int begin = static_cast<int>(static_cast<long long>(all) * team / teams);
  const int end = static_cast<int>(static_cast<long long>(all) * (team + 1) / teams);
  const int which = __ffs(static_cast<int>(__ballot_sync(kAll, sum > begin))) - 1;
  int sequence = which * each, before = __shfl_sync(kAll, sum - own, which);  // groups before the sequence
  for (int next; (next = before + Groups(seq_lens[sequence])) <= begin; before = next) ++sequence;

  // Where a warp is: at its groups, every fourth of a piece's, and where it has none left in this piece, at the piece's
  // end.
  struct Place {
    int sequence, piece_begin, piece_end, group;  // groups of the whole row, `group` this warp's
    int length, first;                            // tokens of the sequence, its first group
  };
  const auto piece_from = [&](int of, int at, int first) {
    Place p;
    p.sequence = of;
    p.first = first;
    p.length = seq_lens[of];
    p.piece_begin = at;
    p.piece_end = min(end, first + Groups(p.length));
    p.group = at + warp;
    return p;
  };
  const auto next_piece = [&](const Place& p) { return piece_from(p.sequence + 1, p.piece_end, p.piece_end); };

  // The copies' place: a row of the cache is looked up a round before it is copied, so that nobody waits for it. A
  // round in which a warp has no group copies nothing.
  const unsigned mine = SharedAddress(shared) + warp * kStages * 2 * kStageBytes;
  const bool whole_pages = page_size % kTokens == 0;  // then a group's rows lie in one page
  Place ahead = piece_from(sequence, begin, before);
  bool more = true;
  int ahead_row = 0;
  const auto look_up = [&] {
    const int ahead_token = (ahead.group - ahead.first) * kTokens;
    if (ahead.group >= ahead.piece_end || ahead.length <= 0) return;
    const int token = whole_pages ? ahead_token : min(ahead_token + (lane & 15), ahead.length - 1);
    const int page = token / page_size;
    ahead_row =
        block_table[static_cast<long long>(ahead.sequence) * max_pages + page] * page_size + (token - page * page_size);
  };
  look_up();
  const int chunk = lane % kChunks, row_of_lane = lane / kChunks;
  const auto copy = [&](int round) {
    if (more) {
      const unsigned keys = mine + (round % kStages) * 2 * kStageBytes, values = keys + kStageBytes;
      if (ahead.group < ahead.piece_end) {
        const int left = ahead.length - (ahead.group - ahead.first) * kTokens;
#pragma unroll
        for (int i = 0; i < kTokens / kRowsAtOnce; ++i) {
          const int r = i * kRowsAtOnce + row_of_lane;
          const int row = whole_pages ? ahead_row + r : __shfl_sync(kAll, ahead_row, r);
          const bool there = r < left;
          const long long from = there ? (static_cast<long long>(row) * kv_heads + kv_head) * kDim + chunk * 8 : 0;
          const unsigned to = static_cast<unsigned>(r * kRowBytes + ((chunk ^ (r & 7)) * 16));
          CopyAsync(keys + to, k_cache + from, there);
          CopyAsync(values + to, v_cache + from, there);
        }
      }
      ahead.group += 4;
      if (ahead.group - warp >= ahead.piece_end) {
        more = ahead.piece_end < end;
        if (more) ahead = next_piece(ahead);
      }
      if (more) look_up();
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  Place here = piece_from(sequence, begin, before);
  unsigned query[kSteps][4];
  const auto load_query = [&] {
    const __nv_bfloat16* const rows = q + (static_cast<long long>(here.sequence) * heads + first_head) * kDim;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = g + (i & 1) * 8, column = s * 16 + (i >> 1) * 8 + t * 2;
        const bool there = row < group && (kWide || (i & 1) == 0);
        query[s][i] = there ? *reinterpret_cast<const unsigned*>(rows + row * kDim + column) : 0u;
      }
    }
  };
  load_query();

  float sums[kChunks][4] = {};
  float most[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  const float factor = scale * kLog2E;
  for (int round = 0;; ++round) {
    copy(round + kStages - 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1));
    __syncwarp();
    if (here.group < here.piece_end) {
      const unsigned keys = mine + (round % kStages) * 2 * kStageBytes, values = keys + kStageBytes;
      const int left = here.length - (here.group - here.first) * kTokens;  // tokens of this group that count

      float scores[2][4] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        unsigned key[4];
        const int r = (lane >> 4) * 8 + (lane & 7), c = s * 2 + ((lane >> 3) & 1);
        LoadMatrices(key, keys + static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16)));
        Multiply(scores[0], query[s], key[0], key[1]);
        Multiply(scores[1], query[s], key[2], key[3]);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          scores[n][i] = n * 8 + t * 2 + (i & 1) < left ? scores[n][i] * factor : -INFINITY;
        }
      }
#pragma unroll
      for (int half = 0; half < kRowHalves; ++half) {
        float largest = fmaxf(fmaxf(scores[0][2 * half], scores[0][2 * half + 1]),
                              fmaxf(scores[1][2 * half], scores[1][2 * half + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 2));
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
      const unsigned weights[4] = {Pair(scores[0][0], scores[0][1]), kWide ? Pair(scores[0][2], scores[0][3]) : 0u,
                                   Pair(scores[1][0], scores[1][1]), kWide ? Pair(scores[1][2], scores[1][3]) : 0u};
#pragma unroll
      for (int c = 0; c < kChunks; c += 2) {
        unsigned value[4];
        const int r = ((lane >> 3) & 1) * 8 + (lane & 7), at = c + (lane >> 4);
        LoadMatricesTransposed(value, values + static_cast<unsigned>(r * kRowBytes + ((at ^ (r & 7)) * 16)));
        Multiply(sums[c], weights, value[0], value[1]);
        Multiply(sums[c + 1], weights, value[2], value[3]);
      }
    }
    __syncwarp();

    here.group += 4;
    if (here.group - warp < here.piece_end) continue;
    // The end of a piece: the four warps' maxima, totals and sums are joined.
    constexpr int kRows = kRowHalves * 8;
    float* const joined = reinterpret_cast<float*>(shared + 4 * kStages * 2 * kStageBytes);  // [warp][kRows][kDim]
    float* const maxima = joined + 4 * kRows * kDim;
    float* const totals = maxima + 4 * kRows;
#pragma unroll
    for (int half = 0; half < kRowHalves; ++half) {
      total[half] += __shfl_xor_sync(kAll, total[half], 1);
      total[half] += __shfl_xor_sync(kAll, total[half], 2);
      const int row = warp * kRows + g + half * 8;
      if (g + half * 8 < group) {
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
      most[half] = -INFINITY;
      total[half] = 0.0f;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) sums[c][2 * half] = sums[c][2 * half + 1] = 0.0f;
    }
    __syncthreads();
    const bool from_start = here.piece_begin == here.first;
    const bool ends = here.piece_end == here.first + Groups(here.length);
    for (int i = threadIdx.x; i < group * (kDim / 2); i += 128) {
      const int row = i / (kDim / 2), d = i % (kDim / 2) * 2;
      float largest = -INFINITY;
#pragma unroll
      for (int w = 0; w < 4; ++w) largest = fmaxf(largest, maxima[w * kRows + row]);
      float sum = 0.0f, x = 0.0f, y = 0.0f;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float weight = largest == -INFINITY ? 0.0f : exp2f(maxima[w * kRows + row] - largest);
        const float2 both = *reinterpret_cast<const float2*>(joined + (w * kRows + row) * kDim + d);
        sum += weight * totals[w * kRows + row];
        x += weight * both.x;
        y += weight * both.y;
      }
      const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
      if (from_start && ends) {
        *reinterpret_cast<unsigned*>(out + (static_cast<long long>(here.sequence) * heads + first_head + row) * kDim +
                                     d) = Pair(x * inverse, y * inverse);
      } else {  // no two pieces of a head have the same team + sequence
        const long long at = (static_cast<long long>(team) + here.sequence) * heads + first_head + row;
        *reinterpret_cast<float2*>(part + at * kDim + d) = make_float2(x * inverse, y * inverse);
        if (d == 0) lse[at] = sum > 0.0f ? largest + log2f(sum) : -INFINITY;
      }
    }
    if (kv_head == 0 && threadIdx.x == 0) {
      if (from_start) spans[2 * here.sequence] = team;
      if (ends) spans[2 * here.sequence + 1] = team;
    }
    if (here.piece_end >= end) break;
    here = next_piece(here);
    load_query();
    __syncthreads();  // nobody writes for the next piece before all have read
  }
  asm volatile("cp.async.wait_all;");
}

// Joins the pieces of one head: kWarps warps share them, or, if 1, each of a block's four has a head of its own.
template <int kWarps>
__global__ void __launch_bounds__(kWarps == 1 ? 128 : 32 * kWarps)
    join(const float* __restrict__ part, const float* __restrict__ lse, const int* __restrict__ spans,
         __nv_bfloat16* __restrict__ out, int batch, int kv_heads, int group, int head_dim) {
  __shared__ float4 joined[kWarps * 32];
  __shared__ float sums[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, heads = kv_heads * group;
  const int at = kWarps == 1 ? blockIdx.x * 4 + warp : blockIdx.x;
  cudaGridDependencySynchronize();
  if (at >= batch * heads) return;
  const int sequence = at / heads, head = at % heads;
  const int first = spans[2 * sequence], pieces = spans[2 * sequence + 1] - first + 1;
  if (pieces == 1) return;  // written by the warp that had all of it
  const long long row = (static_cast<long long>(first) + sequence) * heads + head;
  float largest = -INFINITY;
  for (int p = lane; p < pieces; p += 32) largest = fmaxf(largest, lse[row + static_cast<long long>(p) * heads]);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, distance));
  }
  float sum = 0.0f;
  float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const bool has = lane * 4 < head_dim;
#pragma unroll 4
  for (int p = kWarps == 1 ? 0 : warp; p < pieces; p += kWarps) {
    const long long piece = row + static_cast<long long>(p) * heads;
    const float weight = largest == -INFINITY ? 0.0f : exp2f(lse[piece] - largest);
    const float4 four = has ? *reinterpret_cast<const float4*>(part + piece * head_dim + lane * 4)
                            : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    sum += weight;
    value.x += weight * four.x;
    value.y += weight * four.y;
    value.z += weight * four.z;
    value.w += weight * four.w;
  }
  if constexpr (kWarps > 1) {
    joined[threadIdx.x] = value;
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
#pragma unroll
    for (int w = 1; w < kWarps; ++w) {
      const float4 other = joined[w * 32 + lane];
      sum += sums[w];
      value.x += other.x;
      value.y += other.y;
      value.z += other.z;
      value.w += other.w;
    }
  }
  if (!has) return;
  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
  *reinterpret_cast<uint2*>(out + static_cast<long long>(at) * head_dim + lane * 4) =
      make_uint2(Pair(value.x * inverse, value.y * inverse), Pair(value.z * inverse, value.w * inverse));
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
