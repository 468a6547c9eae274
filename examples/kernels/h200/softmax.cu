// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// examples/kernels/softmax.cu with the bindings that were fastest on an H200, by shape.
//
// softmax that reads every row from memory once, whatever its length. Ways to keep a row on the chip meanwhile: a warp's
// registers, a block's registers, and the shared memory of several SMs.
//
// Short rows that are no whole number of vectors come and go in chunks of FLAT rows, which are: the chunk lies in shared
// memory between, and no sector is written by two.
//
// Rows longer than a block's registers: GROUP blocks share a row; each copies its slice into a ring of UNITS times UNIT slots
// a thread (a slot is 16 bytes, copied and read by the same thread, so no barrier guards it). Every step takes a unit of a
// later row for its statistics, writes a unit of the row at hand and copies into its slots: loads, exponentials and stores
// go on at once, and warps need not keep pace. A slice's maximum and sum are known to the group a whole row before they are
// needed, where two slices fit into the ring; WIDE blocks share a row of which only one does, and take turns at statistics and
// results. Each of the two numbers travels in a word of eight bytes with the number of its round, so that no fence is needed,
// which would wait for all results under way, and is asked for before it is needed, for the answer takes 1 us.
/*hone
[[launch]]
kernel = "softmax_flat<4, 8>"
grid   = ["ceil_div(rows, 8)"]
block  = ["128"]
shared = "8 * d * 4"
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 != 0 && d <= 128"

[[launch]]
kernel = "softmax_flat<12, 8>"
grid   = ["ceil_div(rows, 8)"]
block  = ["128"]
shared = "8 * d * 4"
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 != 0 && d <= 384"

[[launch]]
kernel = "softmax_warp<4>"
grid   = ["d > 0 ? ceil_div(rows, 4) : 0"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d <= 128"

[[launch]]
kernel = "softmax_warp<12>"
grid   = ["ceil_div(rows, 4)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d <= 384"

[[launch]]
kernel = "softmax_block<1>"
grid   = ["min(rows, 2147483647)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 == 0 && d <= 512"

[[launch]]
kernel = "softmax_block<2>"
grid   = ["min(rows, 2147483647)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 == 0 && d <= 1024"

[[launch]]
kernel = "softmax_block<4>"
grid   = ["min(rows, 2147483647)"]
block  = ["128"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 == 0 && d <= 2048"

[[launch]]
kernel = "softmax_block<2>"
grid   = ["min(rows, 2147483647)"]
block  = ["512"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 == 0 && d <= 4096"

[[launch]]
kernel = "softmax_block<8>"
grid   = ["min(rows, 2147483647)"]
block  = ["256"]
args   = ["x", "out", "rows:i64", "d:i32"]
when   = "d % 4 == 0 && d <= 8192"

[[launch]]
kernel = "softmax_flow<256, 14, 4, 6, 2>"
grid   = ["min(rows, sm_count / 6) * 6"]
block  = ["256"]
shared = "14 * 1024 * 16"
args   = ["x", "out", "words", "arrivals", "rows:i64", "d / 4:i32"]
when   = "d % 4 == 0 && rows > 0 && sm_count >= 6 && 2 * ceil_div(ceil_div(d / 4, 6), 1024) < 14"
cooperative = true

[[launch]]
kernel = "softmax_ring<512, 28, 12, 1>"
grid   = ["min(rows, sm_count / 12) * 12"]
block  = ["512"]
shared = "14 * 1024 * 16"
args   = ["x", "out", "words", "arrivals", "rows:i64", "d / 4:i32"]
when   = "d % 4 == 0 && rows > 0 && sm_count >= 12 && ceil_div(ceil_div(d / 4, 12), 512) <= 28"
cooperative = true

[[launch]]
kernel = "softmax_two_passes"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "out", "rows:i64", "d:i64"]

[[workspace]]
name  = "words"
bytes = "sm_count * 4 * 16"
zero  = true

[[workspace]]
name  = "arrivals"
bytes = "sm_count * 4"
zero  = true
*/
#include <cuda_pipeline_primitives.h>

namespace {

constexpr unsigned kWarp = 0xffffffffu;
// Stands for minus infinity, but differences of two of them are 0 and not NaN.
constexpr float kLowest = -3.402823466e38f;

// The numbers seen so far: their maximum, and the sum of exp(number - maximum).
struct Running {
  float max = kLowest;
  float sum = 0.0f;
};

// One exponential a lane: first the largest of the warp, then the sum.
__device__ __forceinline__ Running WarpJoin(Running mine) {
  Running all;
  all.max = mine.max;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) all.max = fmaxf(all.max, __shfl_xor_sync(kWarp, all.max, offset));
  all.sum = mine.sum * __expf(mine.max - all.max);
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) all.sum += __shfl_xor_sync(kWarp, all.sum, offset);
  return all;
}

// In every thread. `lanes` has 64 floats; the block is whole warps.
__device__ __forceinline__ Running BlockJoin(Running mine, float* lanes) {
  mine = WarpJoin(mine);
  const int lane = threadIdx.x % 32;
  if (lane == 0) {
    lanes[threadIdx.x / 32] = mine.max;
    lanes[32 + threadIdx.x / 32] = mine.sum;
  }
  __syncthreads();
  Running all;
  if (lane < blockDim.x / 32) {
    all.max = lanes[lane];
    all.sum = lanes[32 + lane];
  }
  all = WarpJoin(all);
  __syncthreads();  // `lanes` may be used again
  return all;
}

__device__ __forceinline__ float Largest(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
// Without the steps that keep results under 1e-38.
__device__ __forceinline__ float Exp(float v) {
  float e;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(v * 1.44269504f));
  return e;
}
__device__ __forceinline__ float ExpSum(float4 v, float max) {
  return Exp(v.x - max) + Exp(v.y - max) + (Exp(v.z - max) + Exp(v.w - max));
}
__device__ __forceinline__ float4 Scaled(float4 v, Running all, float scale) {
  return make_float4(Exp(v.x - all.max) * scale, Exp(v.y - all.max) * scale, Exp(v.z - all.max) * scale,
                     Exp(v.w - all.max) * scale);
}

// A number with the round it belongs to: written and read whole.
__device__ __forceinline__ unsigned long long Word(float value, unsigned round) {
  return static_cast<unsigned long long>(__float_as_uint(value)) << 32 | round;
}
__device__ __forceinline__ float ValueOf(unsigned long long word) {
  return __uint_as_float(static_cast<unsigned>(word >> 32));
}

template <int kNewest>
__device__ __forceinline__ void WaitForAllButExactly() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}
// The instruction takes a constant: one that is not more.
__device__ __forceinline__ void WaitForAllBut(int newest) {
  if (newest >= 3) {
    WaitForAllButExactly<3>();
  } else if (newest == 2) {
    WaitForAllButExactly<2>();
  } else if (newest == 1) {
    WaitForAllButExactly<1>();
  } else {
    WaitForAllButExactly<0>();
  }
}

// The instruction takes a constant: a multiple of four that is not more.
__device__ __forceinline__ void WaitForAllButFours(int newest) {
  switch (newest > 0 ? newest / 4 : 0) {
    case 0: WaitForAllButExactly<0>(); break;
    case 1: WaitForAllButExactly<4>(); break;
    case 2: WaitForAllButExactly<8>(); break;
    case 3: WaitForAllButExactly<12>(); break;
    case 4: WaitForAllButExactly<16>(); break;
    case 5: WaitForAllButExactly<20>(); break;
    default: WaitForAllButExactly<24>(); break;
  }
}

}  // namespace

// A warp a row; d <= 32 * kEach.
template <int kEach>
__global__ void softmax_warp(const float* __restrict__ x, float* __restrict__ out, long long rows, int d) {
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  const float* from = x + row * d;
  float v[kEach];
  float largest = kLowest;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    v[i] = lane + 32 * i < d ? __ldcs(from + lane + 32 * i) : kLowest;
    largest = fmaxf(largest, v[i]);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(kWarp, largest, offset));
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    v[i] = __expf(v[i] - largest);
    if (lane + 32 * i < d) sum += v[i];
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kWarp, sum, offset);
  const float scale = 1.0f / sum;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (lane + 32 * i < d) __stcs(out + row * d + lane + 32 * i, v[i] * scale);
  }
}

// kRows rows a block, a multiple of four so that they are whole vectors together; d <= 32 * kEach.
template <int kEach, int kRows>
__global__ void softmax_flat(const float* __restrict__ x, float* __restrict__ out, long long rows, int d) {
  extern __shared__ float4 chunk[];
  const long long first = static_cast<long long>(blockIdx.x) * kRows;
  const int here = static_cast<int>(min(static_cast<long long>(kRows), rows - first));
  const int elements = here * d, vectors = elements / 4;
  const float* from = x + first * d;
  float* to = out + first * d;
  float* flat = reinterpret_cast<float*>(chunk);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), lane = thread % 32;
  for (int i = thread; i < vectors; i += threads) {
    __pipeline_memcpy_async(chunk + i, reinterpret_cast<const float4*>(from) + i, sizeof(float4));
  }
  __pipeline_commit();
  if (thread < elements % 4) flat[vectors * 4 + thread] = from[vectors * 4 + thread];
  WaitForAllButExactly<0>();
  __syncthreads();
  for (int row = thread / 32; row < here; row += threads / 32) {
    float* line = flat + row * d;
    float v[kEach];
    float largest = kLowest;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      v[i] = lane + 32 * i < d ? line[lane + 32 * i] : kLowest;
      largest = fmaxf(largest, v[i]);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(kWarp, largest, offset));
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      v[i] = __expf(v[i] - largest);
      if (lane + 32 * i < d) sum += v[i];
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kWarp, sum, offset);
    const float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (lane + 32 * i < d) line[lane + 32 * i] = v[i] * scale;
    }
  }
  __syncthreads();
  for (int i = thread; i < vectors; i += threads) __stcs(reinterpret_cast<float4*>(to) + i, chunk[i]);
  if (thread < elements % 4) to[vectors * 4 + thread] = flat[vectors * 4 + thread];
}

// A block a row, which stays in registers; d is a multiple of 4 and d / 4 <= kEach * blockDim.x.
template <int kEach>
__global__ void softmax_block(const float* __restrict__ x, float* __restrict__ out, long long rows, int d) {
  __shared__ float lanes[64];
  const int vectors = d / 4;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float4* from = reinterpret_cast<const float4*>(x + row * d);
    float4* to = reinterpret_cast<float4*>(out + row * d);
    float4 v[kEach];
    Running mine;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      v[i] = at < vectors ? __ldcs(from + at) : make_float4(kLowest, kLowest, kLowest, kLowest);
      mine.max = fmaxf(mine.max, Largest(v[i]));
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (threadIdx.x + i * blockDim.x < vectors) mine.sum += ExpSum(v[i], mine.max);
    }
    const Running all = BlockJoin(mine, lanes);
    const float scale = 1.0f / all.sum;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vectors) __stcs(to + at, Scaled(v[i], all, scale));
    }
  }
}

// kGroup blocks a row; a thread's share of kAhead slices is less than the ring. All blocks are resident: cooperative.
//   words [groups][4][kGroup][2]: a slice's maximum and sum, each with its round; arrivals [groups]; both zero before and after
template <int kBlock, int kUnits, int kUnit, int kGroup, int kAhead>
__global__ void __launch_bounds__(kBlock)
    softmax_flow(const float* __restrict__ x, float* __restrict__ out, unsigned long long* all_words, unsigned* arrivals,
                 long long rows, int vectors) {
  static_assert(kGroup <= 32 && kAhead <= 2, "a lane a member; four rounds at once");
  constexpr int kWarps = kBlock / 32, kStep = kUnit * kBlock;
  extern __shared__ float4 ring[];  // [kUnits][kUnit][kBlock]
  __shared__ unsigned long long parts[4][kWarps];  // of a warp: maximum and sum
  __shared__ unsigned parted[4];                   // warps that have left their part, from the start
  const int groups = gridDim.x / kGroup;
  const int group = blockIdx.x / kGroup, member = blockIdx.x % kGroup;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int slice = (vectors + kGroup - 1) / kGroup;
  const int begin = member * slice;
  const int count = min(slice, vectors - begin);                              // may be negative
  const int units = (slice + kStep - 1) / kStep;                              // of a thread, the same in every block
  const int own = thread < count ? (count - thread + kBlock - 1) / kBlock : 0;  // vectors
  const float4* const first = reinterpret_cast<const float4*>(x) + group * static_cast<long long>(vectors) + begin + thread;
  const long long to_next_row = static_cast<long long>(groups) * vectors;
  float4* const ring_begin = ring + thread;
  float4* const ring_end = ring_begin + kUnits * kStep;
  const int rounds = static_cast<int>((rows - group + groups - 1) / groups);
  volatile unsigned long long* words = all_words + group * 4 * kGroup * 2;
  if (thread < 4) parted[thread] = 0;
  for (int i = thread; i < 4 * kWarps; i += kBlock) parts[0][i] = 0;
  __syncthreads();

  // Each step copies a unit and commits, copy or not, so that "all but the newest n" names a unit.
  const float4* copy_from = first;
  float4* copy_to = ring_begin;
  int copy_unit = 0, copy_round = 0, copy_own = rounds > 0 ? own : 0;
  const auto copy_next = [&] {
    const int left = copy_own - copy_unit * kUnit;
#pragma unroll
    for (int u = 0; u < kUnit; ++u) {
      if (u < left) __pipeline_memcpy_async(copy_to + u * kBlock, copy_from + u * kBlock, sizeof(float4));
    }
    __pipeline_commit();
    copy_to += kStep;
    copy_from += kStep;
    if (copy_to == ring_end) copy_to = ring_begin;
    if (++copy_unit == units) {
      copy_unit = 0;
      copy_from += to_next_row - units * kStep;
      if (++copy_round >= rounds) copy_own = 0;
    }
  };
  for (int i = 0; i < kUnits; ++i) copy_next();

  // Statistics of the slice that comes after those known.
  Running mine;
  const float4* look_from = ring_begin;
  int look_round = 0, look_own = rounds > 0 ? own : 0;
  const auto look_at = [&](int unit) {
    const int left = look_own - unit * kUnit;
    if (left > 0) {
      float4 v[kUnit];
#pragma unroll
      for (int u = 0; u < kUnit; ++u) {
        v[u] = make_float4(kLowest, kLowest, kLowest, kLowest);
        if (u < left) v[u] = look_from[u * kBlock];
      }
      float largest = Largest(v[0]);
#pragma unroll
      for (int u = 1; u < kUnit; ++u) largest = fmaxf(largest, Largest(v[u]));
      if (largest > mine.max) {
        mine.sum *= Exp(mine.max - largest);
        mine.max = largest;
      }
#pragma unroll
      for (int u = 0; u < kUnit; ++u) mine.sum += ExpSum(v[u], mine.max);
    }
    look_from += kStep;
    if (look_from == ring_end) look_from = ring_begin;
  };
  // The last warp to come joins the parts and tells the group.
  const auto publish = [&] {
    if (look_round < rounds) {
      const int slot = look_round % 4;
      mine = WarpJoin(mine);
      unsigned before = 0;
      if (lane == 0) {
        atomicExch(&parts[slot][warp], Word(mine.max, __float_as_uint(mine.sum)));
        asm volatile("fence.acq_rel.cta;" ::: "memory");
        before = atomicAdd(&parted[slot], 1u);
      }
      before = __shfl_sync(kWarp, before, 0);
      if (before % kWarps == kWarps - 1) {
        asm volatile("fence.acq_rel.cta;" ::: "memory");
        mine = Running();
        if (lane < kWarps) {
          const unsigned long long part = atomicAdd(&parts[slot][lane], 0ull);
          mine.max = ValueOf(part);
          mine.sum = __uint_as_float(static_cast<unsigned>(part));
        }
        mine = WarpJoin(mine);
        if (lane < 2) words[(slot * kGroup + member) * 2 + lane] = Word(lane == 0 ? mine.max : mine.sum, look_round + 1);
      }
      mine = Running();
    }
    if (++look_round >= rounds) look_own = 0;
  };
  for (int i = 0; i < kAhead; ++i) {
    for (int j = 0; j < units; ++j) {
      WaitForAllBut(kUnits - 1 - i * units - j);
      look_at(j);
    }
    publish();
  }

  const int newer = kUnits - 1 - kAhead * units;
  const float4* write_from = ring_begin;
  float4* to = reinterpret_cast<float4*>(out) + (first - reinterpret_cast<const float4*>(x));
  // Of a member, a lane each. Asked for some units before they are needed, for the answer takes long.
  constexpr int kFetch = kUnit >= 4 ? 1 : 2;
  unsigned long long max_word = 0, sum_word = 0;
  const auto fetch = [&](int round) {
    const volatile unsigned long long* theirs = words + (round % 4 * kGroup + lane) * 2;
    max_word = theirs[0];
    sum_word = theirs[1];
  };
  for (int round = 0; round < rounds; ++round, to += to_next_row - units * kStep) {
    Running all;
    if (lane < kGroup) {
      while (static_cast<unsigned>(max_word) != round + 1 || static_cast<unsigned>(sum_word) != round + 1) fetch(round);
      all.max = ValueOf(max_word);
      all.sum = ValueOf(sum_word);
    }
    all = WarpJoin(all);
    const float scale = 1.0f / all.sum;
#pragma unroll 1
    for (int j = 0; j < units; ++j) {
      if (j + kFetch == units && lane < kGroup) fetch(round + 1);
      WaitForAllBut(newer);
      look_at(j);
      const int left = own - j * kUnit;
      if (left >= kUnit) {
        float4 v[kUnit];
#pragma unroll
        for (int u = 0; u < kUnit; ++u) v[u] = write_from[u * kBlock];
#pragma unroll
        for (int u = 0; u < kUnit; ++u) __stcs(to + u * kBlock, Scaled(v[u], all, scale));
      } else {
#pragma unroll 1
        for (int u = 0; u < left; ++u) __stcs(to + u * kBlock, Scaled(write_from[u * kBlock], all, scale));
      }
      to += kStep;
      write_from += kStep;
      if (write_from == ring_end) write_from = ring_begin;
      copy_next();  // into the slots just read
    }
    publish();
  }

  // The last to leave puts the words back.
  __syncthreads();
  if (thread < 32) {
    unsigned left = thread == 0 ? atomicAdd(arrivals + group, 1u) : 0;
    left = __shfl_sync(kWarp, left, 0);
    if (left == kGroup - 1) {
      for (int i = thread; i < 4 * kGroup * 2; i += 32) words[i] = 0;
      if (thread == 0) arrivals[group] = 0;
    }
  }
}

// For slices of which two do not fit: one after the other, statistics are taken of a slice, and results written while the next
// are copied. On an H200 faster than softmax_flow there.
// kGroup blocks a row; a thread's share of kAhead slices is at most kPieces vectors. All blocks are resident: cooperative.
//   partials [groups][4][kGroup] of a Running, each part with its round; arrivals [groups]; both zero before and after
template <int kBlock, int kPieces, int kGroup, int kAhead>
__global__ void __launch_bounds__(kBlock)
    softmax_ring(const float* __restrict__ x, float* __restrict__ out, ulonglong2* partials, unsigned* arrivals,
                 long long rows, int vectors) {
  static_assert(kGroup <= 32 && kAhead <= 2, "a lane a member; four rounds at once");
  extern __shared__ float4 ring[];  // [kPieces][kBlock]
  __shared__ float lanes[64];
  __shared__ Running known[2];  // of the whole row, in even and odd rounds
  const int groups = gridDim.x / kGroup;
  const int group = blockIdx.x / kGroup, member = blockIdx.x % kGroup;
  const int slice = (vectors + kGroup - 1) / kGroup;
  const int begin = member * slice;
  const int count = min(slice, vectors - begin);     // may be negative
  const int pieces = (slice + kBlock - 1) / kBlock;  // of a thread, the same in every block
  float4* mine_in_ring = ring + threadIdx.x;
  volatile unsigned long long* words = reinterpret_cast<unsigned long long*>(partials + group * 4 * kGroup);

  // What is copied next: piece `next_piece` of row `next_row` into slot `next_slot`. Each step commits, copy or not, so
  // that "all but the newest n" names a piece.
  long long next_row = group;
  int next_piece = 0, next_slot = 0;
  int unread = 0;  // pieces copied whose statistics are not taken
  const auto copy_next = [&] {
    const int at = next_piece * kBlock + static_cast<int>(threadIdx.x);
    if (next_row < rows && at < count) {
      const float4* from = reinterpret_cast<const float4*>(x) + next_row * vectors + begin + at;
      __pipeline_memcpy_async(mine_in_ring + next_slot * kBlock, from, sizeof(float4));
    }
    __pipeline_commit();
    ++unread;
    next_slot = next_slot + 1 == kPieces ? 0 : next_slot + 1;
    if (++next_piece == pieces) {
      next_piece = 0;
      next_row += groups;
    }
  };
  for (int i = 0; i < kPieces; ++i) copy_next();

  // Statistics of this slice of the next row, for the group to know.
  unsigned stat_round = 0;
  int stat_slot = 0;
  const auto publish_next = [&] {
    if (group + static_cast<long long>(stat_round) * groups >= rows) return;
    Running mine;
    for (int j = 0; j < pieces; j += 4) {
      WaitForAllButFours(unread - min(4, pieces - j));
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (j + u >= pieces) break;
        if ((j + u) * kBlock + static_cast<int>(threadIdx.x) < count) {
          const float4 v = mine_in_ring[stat_slot * kBlock];
          const float largest = Largest(v);
          if (largest > mine.max) {
            mine.sum *= __expf(mine.max - largest);
            mine.max = largest;
          }
          mine.sum += ExpSum(v, mine.max);
        }
        stat_slot = stat_slot + 1 == kPieces ? 0 : stat_slot + 1;
        --unread;
      }
    }
    const Running all = BlockJoin(mine, lanes);
    if (threadIdx.x < 2) {
      words[(stat_round % 4 * kGroup + member) * 2 + threadIdx.x] =
          Word(threadIdx.x == 0 ? all.max : all.sum, stat_round + 1);
    }
    ++stat_round;
  };
  for (int i = 0; i < kAhead; ++i) publish_next();

  int first_slot = 0;  // of the row at hand
  unsigned round = 0;
  for (long long row = group; row < rows; row += groups, ++round) {
    if (threadIdx.x < 32) {
      Running part;
      if (threadIdx.x < kGroup) {
        const volatile unsigned long long* from = words + (round % 4 * kGroup + threadIdx.x) * 2;
        unsigned long long max_word, sum_word;
        do {
          max_word = from[0];
          sum_word = from[1];
        } while (static_cast<unsigned>(max_word) != round + 1 || static_cast<unsigned>(sum_word) != round + 1);
        part.max = ValueOf(max_word);
        part.sum = ValueOf(sum_word);
      }
      part = WarpJoin(part);
      if (threadIdx.x == 0) known[round % 2] = part;
    }
    __syncthreads();
    const Running all = known[round % 2];

    const float scale = 1.0f / all.sum;
    float4* to = reinterpret_cast<float4*>(out) + row * vectors + begin;
    for (int j = 0; j < pieces; ++j) {
      const int at = j * kBlock + static_cast<int>(threadIdx.x);
      if (at < count) __stcs(to + at, Scaled(mine_in_ring[first_slot * kBlock], all, scale));
      first_slot = first_slot + 1 == kPieces ? 0 : first_slot + 1;
      copy_next();  // into the slot just read
    }
    publish_next();
  }

  // The last to leave puts the words back.
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned left = threadIdx.x == 0 ? atomicAdd(arrivals + group, 1u) : 0;
    left = __shfl_sync(kWarp, left, 0);
    if (left == kGroup - 1) {
      for (int i = threadIdx.x; i < 4 * kGroup * 2; i += 32) words[i] = 0;
      if (threadIdx.x == 0) arrivals[group] = 0;
    }
  }
}

// Any d: a block a row, read twice.
__global__ void softmax_two_passes(const float* __restrict__ x, float* __restrict__ out, long long rows, long long d) {
  __shared__ float lanes[64];
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * d;
    Running mine;
    for (long long i = threadIdx.x; i < d; i += blockDim.x) {
      const float v = from[i];
      if (v > mine.max) {
        mine.sum *= __expf(mine.max - v);
        mine.max = v;
      }
      mine.sum += __expf(v - mine.max);
    }
    const Running all = BlockJoin(mine, lanes);
    const float scale = 1.0f / all.sum;
    for (long long i = threadIdx.x; i < d; i += blockDim.x) out[row * d + i] = __expf(from[i] - all.max) * scale;
  }
}
