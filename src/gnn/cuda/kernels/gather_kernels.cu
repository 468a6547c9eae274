// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements gather_kernels.h with 16 or 32 bytes per lane, and as many rows in flight as registers allow. A gather is
// limited not by the bus but by the latency of each row, so loads come first and arithmetic after (row_loads.cuh).
#include "gnn/cuda/kernels/gather_kernels.h"

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 128;
constexpr int kWarps = kBlock / 32;
constexpr int kAhead = 5;  // rows that a warp loads before it adds the first

int Blocks(int64_t warps) { return static_cast<int>((warps + kWarps - 1) / kWarps); }

// Adds relu(x) to `to` where the bit of `kept_bits` is set, and returns which of these elements are above zero.
__device__ uint32_t AddActivated(uint32_t kept_bits, const Float8& x, Float8& to) {
  uint32_t passed = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const bool passes = x.v[i] > 0.0f && (kept_bits >> i & 1u) != 0;
    to.v[i] += passes ? x.v[i] : 0.0f;
    passed |= passes ? 1u << i : 0u;
  }
  return passed;
}

// Makes kEach adjacent bytes per thread.
template <int kEach>
__global__ void __launch_bounds__(kBlock)
    KeptBitsKernel(int number, int32_t vectors, DropoutOnLoad activation, const RunState* state,
                   const BatchHeader* header, const int32_t* nodes, uint8_t* kept) {
  const int32_t rows = header->valid != 0 ? header->hop_nodes[number] : 0;
  const auto at = static_cast<uint32_t>(blockIdx.x) * kBlock + threadIdx.x;
  const uint32_t threads = static_cast<uint32_t>(vectors) / kEach;
  const uint32_t row = at / threads, vector = at % threads * kEach;
  if (row >= static_cast<uint32_t>(rows)) return;
  const auto node = static_cast<uint32_t>(nodes[row]);
  const uint32_t place = activation.layer << 24 | activation.site << 16;
  const uint32_t kept_from = activation.threshold << 16;  // compares with the upper half of a word in place
  uint32_t bits = 0;
#pragma unroll
  for (uint32_t k = 0; k < kEach; ++k) {
    const PhiloxWords random_words =
        DropoutWords(state->seed ^ kDropoutDomain, {node, header->step, header->epoch, place | (vector + k)});
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if ((random_words[i] & 0xffffu) >= activation.threshold) bits |= 1u << (8 * k + 2 * i);
      if (random_words[i] >= kept_from) bits |= 2u << (8 * k + 2 * i);
    }
  }
  uint8_t* to = kept + static_cast<int64_t>(row) * vectors + vector;
  if constexpr (kEach == 4) {
    *reinterpret_cast<uint32_t*>(to) = bits;
  } else {
    *to = static_cast<uint8_t>(bits);
  }
}

__device__ void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}

// Gathers with kRowWarps warps per row: warp w of a row sums the slots w, w + kRowWarps, …
template <typename T, int kRowWarps>
__global__ void __launch_bounds__(kBlock, 8)
    GatherMeanKernel(HopOnDevice hop, int number, const T* z, int32_t vectors, float scale, const uint8_t* kept,
                     const BatchHeader* header, T* out, uint8_t* passed) {
  __shared__ float others[kRowWarps > 1 ? kRowWarps - 1 : 1][8][32];
  const auto warp = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const int32_t row = warp / kRowWarps;
  const int warp_of_row = warp % kRowWarps;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int slot = lane * kRowWarps + warp_of_row;
  // All loads are started at once, so that one wait is enough. Rows past the batch's, up to the envelope, have valid
  // columns and counts, perhaps of an earlier batch.
  const bool exists = row < hop.rows;
  const int32_t drawn = exists && slot < hop.fanout ? hop.columns[static_cast<int64_t>(row) * hop.fanout + slot] : -1;
  const int32_t count = exists ? hop.counts[row] : 0;
  const int32_t rows = header->valid != 0 ? header->hop_nodes[number] : 0;
  if (row >= rows) return;  // all warps of the row return
  const int32_t my_slots = (count - warp_of_row + kRowWarps - 1) / kRowWarps;
  const int32_t column = drawn < 0 ? 0 : drawn;
  T* to = out + static_cast<int64_t>(row) * vectors * 16;
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    RawOf<T> own_raw;
    uint32_t own_bits = 0xff;
    const bool takes_own_row = in_row && warp_of_row == kRowWarps - 1;
    const int64_t own_at = static_cast<int64_t>(row) * vectors + vector;
    if (takes_own_row) {
      own_raw = LoadRaw(z + own_at * 8);
      if (kept != nullptr) own_bits = kept[own_at];
    }
    Float8 sum = {};
    for (int j = 0; j < my_slots; j += kAhead) {
      RawOf<T> raw[kAhead];
      uint32_t bits[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const int32_t source = __shfl_sync(kFullWarp, column, (j + a) % 32);
        const int64_t at = static_cast<int64_t>(source) * vectors + vector;
        bits[a] = 0xff;
        if (in_row && j + a < my_slots) {
          raw[a] = LoadRaw(z + at * 8);
          if (kept != nullptr) bits[a] = kept[at];
        }
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const int32_t source = __shfl_sync(kFullWarp, column, (j + a) % 32);
        if (!in_row || j + a >= my_slots) continue;
        bits[a] = AddActivated(bits[a], Widen(raw[a]), sum);
        // Every reader of a source writes the same bits.
        if (passed != nullptr) passed[static_cast<int64_t>(source) * vectors + vector] = static_cast<uint8_t>(bits[a]);
      }
    }
    if (takes_own_row) {
      Float8 own_row = {};
      own_bits = AddActivated(own_bits, Widen(own_raw), own_row);
      if (passed != nullptr) passed[own_at] = static_cast<uint8_t>(own_bits);
      Scale8(scale, own_row);
      Store8(to + (vectors + vector) * 8, own_row);
    }
    if constexpr (kRowWarps > 1) {  // one block per row
      static_assert(kRowWarps == kWarps, "a row's warps are those of a block");
      if (first > 0) __syncthreads();
      if (warp_of_row > 0) {
#pragma unroll
        for (int i = 0; i < 8; ++i) others[warp_of_row - 1][i][lane] = sum.v[i];
      }
      __syncthreads();
      if (warp_of_row > 0) continue;
      for (int other = 0; other + 1 < kRowWarps; ++other) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += others[other][i][lane];
      }
    }
    if (!in_row) continue;
    Scale8(count > 0 ? scale / static_cast<float>(count) : 0.0f, sum);
    Store8(to + vector * 8, sum);
  }
}

// Each warp handles `kEach` neighboring sources. It looks up kLooked slots of each at once, and loads kEarly of them at
// a time, for two sources side by side. The remaining slots are loaded kTogether rows at a time: sources with low ids,
// which were drawn first, may have many.
template <typename T, int kEach, int kLooked, int kEarly, int kTogether>
__global__ void __launch_bounds__(kBlock)
    GatherMeanBackwardKernel(HopOnDevice hop, int number, const T* grad_out, const uint8_t* passed, int32_t vectors,
                             int32_t padded_sources, float scale, const BatchHeader* header, T* grad_z) {
  constexpr int kSide = 2;
  static_assert(kEach * kLooked <= 32 && kEach % kSide == 0, "a lane looks up a slot");
  static_assert(kLooked == kEarly || kLooked == 2 * kEarly);
  const bool valid = header->valid != 0;
  const int32_t rows = valid ? header->hop_nodes[number] : 0;
  const int32_t sources = valid ? header->hop_nodes[number + 1] : 0;
  const int32_t base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kEach;
  if (base >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  int32_t begin = 0, end = 0, looked_row = -1;
  float looked_weight = 0;
  if (lane < kEach * kLooked && base + lane / kLooked < sources) {
    begin = hop.first[base + lane / kLooked];
    end = hop.end[base + lane / kLooked];
    if (begin + lane % kLooked < end) {
      looked_row = static_cast<int32_t>(hop.sorted_slots[begin + lane % kLooked]) / hop.fanout;
      looked_weight = 1.0f / static_cast<float>(hop.counts[looked_row]);
    }
  }
  const auto row_at = [&](int32_t row, int32_t vector) { return grad_out + (static_cast<int64_t>(row) * 2 * vectors + vector) * 8; };
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    for (int s = 0; s < kEach; s += kSide) {
      RawOf<T> own_row[kSide], drawn[kSide][kEarly];
      uint32_t bits[kSide];
#pragma unroll
      for (int a = 0; a < kSide; ++a) {
        const int32_t source = base + s + a;
        bits[a] = in_row && source < sources ? passed[static_cast<int64_t>(source) * vectors + vector] : 0u;
        if (in_row && source < rows) own_row[a] = LoadRaw(row_at(source, vectors + vector));
#pragma unroll
        for (int k = 0; k < kEarly; ++k) {
          const int32_t row = __shfl_sync(kFullWarp, looked_row, (s + a) * kLooked + k);
          if (in_row && row >= 0) drawn[a][k] = LoadRaw(row_at(row, vector));
        }
      }
#pragma unroll
      for (int a = 0; a < kSide; ++a) {
        const int32_t source = base + s + a;
        Float8 sum = {};
        if (in_row && source < rows) sum = Widen(own_row[a]);
        const auto add = [&](int from, const RawOf<T>(&raw)[kEarly]) {
#pragma unroll
          for (int k = 0; k < kEarly; ++k) {
            const int32_t row = __shfl_sync(kFullWarp, looked_row, (s + a) * kLooked + from + k);
            const float weight = __shfl_sync(kFullWarp, looked_weight, (s + a) * kLooked + from + k);
            if (!in_row || row < 0) continue;
            const Float8 g = Widen(raw[k]);
#pragma unroll
            for (int i = 0; i < 8; ++i) sum.v[i] += weight * g.v[i];
          }
        };
        add(0, drawn[a]);
        if (kLooked > kEarly && __shfl_sync(kFullWarp, looked_row, (s + a) * kLooked + kEarly) >= 0) {
#pragma unroll
          for (int k = 0; k < kEarly; ++k) {
            const int32_t row = __shfl_sync(kFullWarp, looked_row, (s + a) * kLooked + kEarly + k);
            if (in_row && row >= 0) drawn[a][k] = LoadRaw(row_at(row, vector));
          }
          add(kEarly, drawn[a]);
        }
        const int32_t next_slot = __shfl_sync(kFullWarp, begin, (s + a) * kLooked) + kLooked;
        const int32_t stop = __shfl_sync(kFullWarp, end, (s + a) * kLooked);
        for (int32_t from = next_slot; from < stop; from += 32) {  // 32 slots a turn: one per lane, then broadcast
          int32_t slot_row = 0;
          float slot_weight = 0;
          if (from + lane < stop) {
            slot_row = static_cast<int32_t>(hop.sorted_slots[from + lane]) / hop.fanout;
            slot_weight = 1.0f / static_cast<float>(hop.counts[slot_row]);
          }
          const int32_t chunk = min(32, stop - from);
          for (int j = 0; j < chunk; j += kTogether) {
            RawOf<T> raw[kTogether];
#pragma unroll
            for (int k = 0; k < kTogether; ++k) {
              const int32_t row = __shfl_sync(kFullWarp, slot_row, j + k);
              if (in_row && j + k < chunk) raw[k] = LoadRaw(row_at(row, vector));
            }
#pragma unroll
            for (int k = 0; k < kTogether; ++k) {
              const float weight = __shfl_sync(kFullWarp, slot_weight, j + k);
              if (!in_row || j + k >= chunk) continue;
              const Float8 g = Widen(raw[k]);
#pragma unroll
              for (int i = 0; i < 8; ++i) sum.v[i] += weight * g.v[i];
            }
          }
        }
        if (!in_row || source >= padded_sources) continue;
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] = (bits[a] >> i & 1u) != 0 ? sum.v[i] * scale : 0.0f;
        Store8(grad_z + (static_cast<int64_t>(source) * vectors + vector) * 8, sum);
      }
    }
  }
}

template <typename T>
void LaunchGatherMean(const HopOnDevice& hop, int number, const T* z, int32_t width, float scale, const uint8_t* kept,
                      const BatchHeader* header, T* out, uint8_t* passed, cudaStream_t stream) {
  // Only the hop next to the seeds has the same envelope in every bucket, and results must not depend on the bucket.
  if (number == 0 && hop.rows <= 4096) {
    Launch(GatherMeanKernel<T, kWarps>, hop.rows, kBlock, 0, stream, hop, number, z, width / 8, scale, kept, header, out,
           passed);
  } else {
    Launch(GatherMeanKernel<T, 1>, Blocks(hop.rows), kBlock, 0, stream, hop, number, z, width / 8, scale, kept, header,
           out, passed);
  }
}

template <typename T>
void LaunchGatherMeanBackward(const HopOnDevice& hop, int number, const T* grad_out, const uint8_t* passed, int32_t width,
                              int32_t padded_sources, float scale, const BatchHeader* header, T* grad_z,
                              cudaStream_t stream) {
  const auto launch = [&](auto kernel, int32_t each) {
    Launch(kernel, Blocks((padded_sources + each - 1) / each), kBlock, 0, stream, hop, number, grad_out, passed,
           width / 8, padded_sources, scale, header, grad_z);
  };
  // If a source has several slots, the latency of each look-up dominates. If most sources have one slot, too few warps
  // in flight matter as well: kernels that load four slots at once need 80 registers, those that load one need 63. Both
  // give the same bits.
  const bool several = 4 * int64_t{hop.rows} * hop.fanout > 5 * int64_t{padded_sources};
  if (padded_sources <= 32768) {
    launch(GatherMeanBackwardKernel<T, 2, 4, 2, 4>, 2);
  } else if (several) {
    launch(GatherMeanBackwardKernel<T, 8, 4, 2, 4>, 8);
  } else {
    launch(GatherMeanBackwardKernel<T, 8, 1, 1, 2>, 8);
  }
}

}  // namespace

cudaError_t EnqueueActivationDropoutBits(int number, int32_t rows, int32_t width, const DropoutOnLoad& activation,
                            const RunState* state, const BatchHeader* header, const int32_t* nodes, uint8_t* kept,
                            cudaStream_t stream) {
  const int each = width / 8 % 4 == 0 ? 4 : 1;
  const int64_t threads = static_cast<int64_t>(rows) * (width / 8) / each;
  Launch(each == 4 ? KeptBitsKernel<4> : KeptBitsKernel<1>, static_cast<int>((threads + kBlock - 1) / kBlock), kBlock, 0,
         stream, number, width / 8, activation, state, header, nodes, kept);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueGatherMean(const HopOnDevice& hop, int number, Element element, const void* z, int32_t width,
                              float scale, const uint8_t* kept, const BatchHeader* header, void* out, uint8_t* passed,
                              cudaStream_t stream) {
  if (hop.fanout > kNarrowFanout) {
    return EnqueueWideGatherMean(hop, number, element, z, width, scale, kept, header, out, passed, stream);
  }
  if (element == Element::kFloat32) {
    LaunchGatherMean(hop, number, static_cast<const float*>(z), width, scale, kept, header, static_cast<float*>(out),
                     passed, stream);
  } else {
    LaunchGatherMean(hop, number, static_cast<const __nv_bfloat16*>(z), width, scale, kept, header,
                     static_cast<__nv_bfloat16*>(out), passed, stream);
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueGatherMeanBackward(const HopOnDevice& hop, int number, Element element, const void* grad_out,
                                      const uint8_t* passed, int32_t width, int32_t padded_sources, float scale,
                                      const BatchHeader* header, void* grad_z, cudaStream_t stream) {
  if (element == Element::kFloat32) {
    LaunchGatherMeanBackward(hop, number, static_cast<const float*>(grad_out), passed, width, padded_sources, scale,
                             header, static_cast<float*>(grad_z), stream);
  } else {
    LaunchGatherMeanBackward(hop, number, static_cast<const __nv_bfloat16*>(grad_out), passed, width, padded_sources,
                             scale, header, static_cast<__nv_bfloat16*>(grad_z), stream);
  }
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
