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
// Rows longer than a block's registers: a group of blocks shares a row, unit by unit side by side, so that memory is read and
// written in long runs. In each block some warps take statistics of what has come, others write results of a row whose
// statistics the group has told, and fill the ring behind them: neither waits for the other's row. Two numbers a member
// travel in words of eight bytes with the number of their round, so that no fence is needed, which would wait for all results
// under way; a few warps more do nothing but tell and ask, each a round in turn, for an answer takes microseconds.
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
kernel = "softmax_flow<256, 14, 4, 3, 4>"
grid   = ["sm_count"]
block  = ["640"]
shared = "14336 * 16"
args   = ["x", "out", "words", "arrivals", "rows:i64", "d / 4:i32", "ceil_div(d / 4, 4096):i32"]
when   = "d % 4 == 0 && rows > 0 && ceil_div(d / 4, 4096) <= sm_count && d <= 200000"
cooperative = true

[[launch]]
kernel = "softmax_flow<256, 18, 3, 4, 4>"
grid   = ["sm_count"]
block  = ["640"]
shared = "13824 * 16"
args   = ["x", "out", "words", "arrivals", "rows:i64", "d / 4:i32", "ceil_div(d / 4, 6144):i32"]
when   = "d % 4 == 0 && rows > 0 && ceil_div(d / 4, 6144) <= sm_count"
cooperative = true

[[launch]]
kernel = "softmax_flow<256, 18, 3, 4, 4>"
grid   = ["sm_count"]
block  = ["640"]
shared = "13824 * 16"
args   = ["x", "out", "words", "arrivals", "rows:i64", "d / 4:i32", "ceil_div(d / 4, 11520):i32"]
when   = "d % 4 == 0 && rows > 0 && ceil_div(d / 4, 11520) <= sm_count"
cooperative = true

[[launch]]
kernel = "softmax_two_passes"
grid   = ["d > 0 ? min(rows, 2147483647) : 0"]
block  = ["1024"]
args   = ["x", "out", "rows:i64", "d:i64"]

[[workspace]]
name  = "words"
bytes = "sm_count * 64 * 16"
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

// The numbers of a round, each beside the round's name: neither needs the other's or a fence to be believed.
struct Told {
  unsigned long long max, second;
  __device__ bool Of(unsigned round) const {
    return static_cast<unsigned>(max) == round && static_cast<unsigned>(second) == round;
  }
};
__device__ __forceinline__ unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
// The simulator's threads take turns.
__device__ __forceinline__ void Pause() {
#ifdef HONE_SIM
  __nanosleep(20);
#endif
}
// Within a block, to whom the ring belongs is told with it.
__device__ __forceinline__ void TellBlock(Told* p, float max, float second, unsigned round) {
  asm volatile("st.release.cta.shared.v2.u64 [%0], {%1, %2};" ::"r"(SharedAddress(p)), "l"(Word(max, round)),
               "l"(Word(second, round))
               : "memory");
}
__device__ __forceinline__ Told AwaitBlock(const Told* p, unsigned round) {
  Told t;
  for (;;) {
    asm volatile("ld.acquire.cta.shared.v2.u64 {%0, %1}, [%2];" : "=l"(t.max), "=l"(t.second) : "r"(SharedAddress(p)) : "memory");
    if (t.Of(round)) return t;
    Pause();
  }
}
__device__ __forceinline__ void TellGroup(Told* p, float max, float second, unsigned round) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(Word(max, round)), "l"(Word(second, round))
               : "memory");
}
__device__ __forceinline__ Told AwaitGroup(const Told* p, unsigned round) {
  Told t;
  for (;;) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(t.max), "=l"(t.second) : "l"(p) : "memory");
    if (t.Of(round)) return t;
    Pause();
  }
}

// Opens for the phases 0, 1, 0, 1, ... as its copies arrive. The simulator has neither bulk copies nor their barriers: there
// the warp copies, and the gate counts.
struct Gate {
  unsigned long long state;

  __device__ void Init() {
#ifdef HONE_SIM
    state = 0;
#else
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(SharedAddress(&state)) : "memory");
#endif
  }
  // Called by a warp: `count` vectors, at most 0 for none.
  __device__ void Copy(float4* to, const float4* from, int count, int lane, unsigned long long policy) {
#ifdef HONE_SIM
    for (int i = lane; i < count; i += 32) to[i] = from[i];
    __syncwarp();
    __threadfence_block();
    if (lane == 0) atomicAdd(&state, 1ull);
#else
    if (lane != 0) return;
    const unsigned gate = SharedAddress(&state);
    if (count > 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(gate), "r"(count * 16) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
              SharedAddress(to)),
          "l"(from), "r"(count * 16), "r"(gate), "l"(policy)
          : "memory");
    } else {
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(gate) : "memory");
    }
#endif
  }
  __device__ void Await(unsigned phase) {
#ifdef HONE_SIM
    unsigned long long now;
    do {
      Pause();
      asm volatile("ld.acquire.cta.shared.u64 %0, [%1];" : "=l"(now) : "r"(SharedAddress(&state)) : "memory");
    } while ((now & 1) == phase);
#else
    unsigned open;
    do {
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(open)
          : "r"(SharedAddress(&state)), "r"(phase)
          : "memory");
    } while (open == 0);
#endif
  }
};

// What is read or written goes before anything else out of L2, where nobody asks for it again.
__device__ __forceinline__ unsigned long long SoonForgotten() {
  unsigned long long policy = 0;
#ifndef HONE_SIM
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}
__device__ __forceinline__ void Write(float4* to, float4 v, unsigned long long policy) {
#ifdef HONE_SIM
  __stcs(to, v);
#else
  asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w), "l"(policy)
               : "memory");
#endif
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

// A group of at least `fewest` blocks a row, of more where rows are few; grid: one block an SM. A unit is kUnit * kBlock
// vectors of a block, and the group takes a row unit by unit, its blocks side by side. kBlock threads take statistics, kBlock
// write, and kTellers warps tell: each a round in turn. A warp of the first and one of the second have a ring of their own, of
// kUnits units, which the second fills; kStart units of it at first, so that the first rows are not behind the last of the
// ring. All blocks are resident: cooperative.
//   words [groups][kWords][members], arrivals [groups]; both zero before and after
// Slots are not reused too soon. A warp takes statistics of round r when the second has let go of what lay in that place of
// the ring before: D = kUnits / units rounds ago, and had been told of that round by then. So its block's parts of that round
// had been read, and every member's word, and every member had been told of round r - 2 D: kUnits slots of a block and
// 2 * kUnits of the group are enough.
template <int kBlock, int kUnits, int kUnit, int kStart, int kTellers>
__global__ void __launch_bounds__(2 * kBlock + 32 * kTellers, 1)
    softmax_flow(const float* __restrict__ x, float* __restrict__ out, Told* all_words, unsigned* arrivals, long long rows,
                 int vectors, int fewest) {
  constexpr int kWarps = kBlock / 32, kStep = kUnit * kBlock, kWarpStep = kUnit * 32;
  constexpr int kWords = kUnits <= 16 ? 32 : 64;
  constexpr int kThreads = 2 * kBlock + 32 * kTellers;
  static_assert(kWarps <= 32 && 2 * kUnits <= kWords && kStart <= kUnits, "a lane a warp; slots as said above");
  extern __shared__ float4 ring[];         // [kUnits][kWarps][kWarpStep]
  __shared__ Gate copied[kUnits][kWarps];  // into the ring
  __shared__ Told parts[kUnits][kWarps];   // of a round: a warp's maximum and sum
  __shared__ Told known[kUnits];           // of a round: the row's maximum, and one over its sum
  const int blocks = gridDim.x, members = max(fewest, blocks / static_cast<int>(min(rows, static_cast<long long>(blocks))));
  const int groups = blocks / members;
  if (blockIdx.x >= groups * members) return;
  const int group = blockIdx.x % groups, member = blockIdx.x / groups;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int units = (vectors + members * kStep - 1) / (members * kStep);              // of a round
  const int chunk = ((vectors + members * units - 1) / (members * units) + 7) / 8 * 8;  // of a block in a unit: whole lines
  const int stride = members * chunk;
  const int rounds = static_cast<int>((rows - group + groups - 1) / groups);
  for (int i = thread; i < kUnits * kWarps; i += kThreads) {
    copied[0][i].Init();
    TellBlock(&parts[0][i], 0, 0, 0);
  }
  if (thread < kUnits) TellBlock(&known[thread], 0, 0, 0);
#ifndef HONE_SIM
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  __syncthreads();

  if (thread >= 2 * kBlock) {
    Told* const words = all_words + group * kWords * members;
    for (int round = thread / 32 - 2 * kWarps; round < rounds; round += kTellers) {
      Running all;
      if (lane < kWarps) {
        const Told part = AwaitBlock(&parts[round % kUnits][lane], round + 1);
        all.max = ValueOf(part.max);
        all.sum = ValueOf(part.second);
      }
      all = WarpJoin(all);
      Told* const theirs = words + round % kWords * members;
      if (lane == 0) TellGroup(theirs + member, all.max, all.sum, round + 1);
      all = Running();
      for (int i = lane; i < members; i += 32) {
        const Told word = AwaitGroup(theirs + i, round + 1);
        const float largest = fmaxf(all.max, ValueOf(word.max));
        all.sum = all.sum * Exp(all.max - largest) + ValueOf(word.second) * Exp(ValueOf(word.max) - largest);
        all.max = largest;
      }
      all = WarpJoin(all);
      __syncwarp();
      if (lane == 0) TellBlock(&known[round % kUnits], all.max, 1.0f / all.sum, round + 1);
    }
    // Nobody reads a word after his arrival: the last puts them back.
    __syncwarp();
    const unsigned before = __shfl_sync(kWarp, lane == 0 ? atomicAdd(arrivals + group, 1u) : 0, 0);
    if (before == members * kTellers - 1) {
      for (int i = lane; i < min(rounds, kWords) * members; i += 32) TellGroup(words + i, 0, 0, 0);
      if (lane == 0) arrivals[group] = 0;
    }
    return;
  }

  const bool writes = thread < kBlock;
  const int warp = thread / 32 % kWarps;
  const int begin = member * chunk + warp * kWarpStep;      // in a row's first unit
  const int most = min(kWarpStep, chunk - warp * kWarpStep);  // of a unit; may be negative
  float4* const own_ring = ring + warp * kWarpStep;
  int slot = 0, phase = 0;  // of the unit at hand
  const auto next_slot = [&] {
    if (++slot == kUnits) {
      slot = 0;
      phase ^= 1;
    }
  };

  if (!writes) {
    for (int round = 0; round < rounds; ++round) {
      Running mine;
#pragma unroll 1
      for (int j = 0, at = begin; j < units; ++j, at += stride) {
        copied[slot][warp].Await(phase);
        const int left = min(most, vectors - at) - lane;
        const float4* from = own_ring + slot * kStep + lane;
        float4 v[kUnit];
        float largest = mine.max;
#pragma unroll
        for (int u = 0; u < kUnit; ++u) {
          v[u] = make_float4(kLowest, kLowest, kLowest, kLowest);
          if (u * 32 < left) v[u] = from[u * 32];
          largest = fmaxf(largest, Largest(v[u]));
        }
        mine.sum *= Exp(mine.max - largest);
        mine.max = largest;
#pragma unroll
        for (int u = 0; u < kUnit; ++u) {
          if (u * 32 < left) mine.sum += ExpSum(v[u], mine.max);
        }
        next_slot();
      }
      __syncwarp();
      mine = WarpJoin(mine);
      if (lane == 0) TellBlock(&parts[round % kUnits][warp], mine.max, mine.sum, round + 1);
    }
    return;
  }

  const unsigned long long policy = SoonForgotten();
  const long long first = group * static_cast<long long>(vectors) + begin;
  const long long to_next_row = static_cast<long long>(groups) * vectors - units * static_cast<long long>(stride);
  const float4* copy_from = reinterpret_cast<const float4*>(x) + first;
  int copy_slot = 0, copy_unit = 0, copy_round = 0, copy_at = begin;
  const auto copy_next = [&] {
    if (copy_round == rounds) return;
    copied[copy_slot][warp].Copy(own_ring + copy_slot * kStep, copy_from, min(most, vectors - copy_at), lane, policy);
    copy_slot = copy_slot + 1 == kUnits ? 0 : copy_slot + 1;
    copy_from += stride;
    copy_at += stride;
    if (++copy_unit == units) {
      copy_unit = 0;
      copy_at = begin;
      copy_from += to_next_row;
      ++copy_round;
    }
  };
#pragma unroll 1
  for (int i = 0; i < kUnits; ++i) {
    if (i >= kStart && copy_round < rounds) copied[i - kStart][warp].Await(0);
    copy_next();
  }

  float4* to = reinterpret_cast<float4*>(out) + first + lane;
  for (int round = 0; round < rounds; ++round, to += to_next_row) {
    const Told told = AwaitBlock(&known[round % kUnits], round + 1);
    Running all;
    all.max = ValueOf(told.max);
    const float scale = ValueOf(told.second);
#pragma unroll 1
    for (int j = 0, at = begin; j < units; ++j, at += stride, to += stride) {
      copied[slot][warp].Await(phase);
      // Into the place read a step before, whose results have left the registers: loads from shared memory wait in a queue
      // behind stores to global memory, where a bulk copy does not stand, and would overtake those of this step.
      __syncwarp();
      if (round + j > 0) copy_next();
      const int left = min(most, vectors - at) - lane;
      const float4* from = own_ring + slot * kStep + lane;
      float4 v[kUnit];
#pragma unroll
      for (int u = 0; u < kUnit; ++u) {
        if (u * 32 < left) v[u] = from[u * 32];
      }
#pragma unroll
      for (int u = 0; u < kUnit; ++u) {
        if (u * 32 < left) Write(to + u * 32, Scaled(v[u], all, scale), policy);
      }
      next_slot();
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
