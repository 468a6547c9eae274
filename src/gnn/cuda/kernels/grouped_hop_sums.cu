// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements grouped_hop_sums.h. All lanes of a warp run the loops of its longest row, because they shuffle together;
// a lane whose own row has ended loads and adds nothing.
#include <type_traits>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/kernels/grouped_hop_sums.h"
#include "gnn/cuda/kernels/hop_sum_rows.cuh"
#include "gnn/cuda/kernels/symmetric_scales.cuh"

namespace hone::gnn::cuda {
namespace {

using T = __nv_bfloat16;
constexpr int kMostThreads = 256;
constexpr int kBlocksEach = 3;  // blocks per multiprocessor, which limits the registers of a thread

// Returns the largest of the numbers that the warp's groups of kLanes lanes hold.
template <int kLanes>
__device__ inline int32_t MostOfGroups(int32_t own_count) {
#pragma unroll
  for (int offset = kLanes; offset < 32; offset *= 2)
    own_count = max(own_count, __shfl_xor_sync(kFullWarp, own_count, offset));
  return own_count;
}

template <HopRowForm kForm, int kLanes, int kAhead>
__global__ void __launch_bounds__(kMostThreads, kBlocksEach)
    GroupedHopSumKernel(HopSumCall call, HopOnDevice hop, const T* z, const BatchHeader* header, T* out) {
  const auto thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const int32_t rows = RowsAfter(header, call.number);
  const int lane = static_cast<int>(threadIdx.x % 32), part = lane % kLanes, group = lane - part;
  if ((thread - lane) / kLanes >= rows) return;  // the whole warp returns
  const int32_t row = thread / kLanes;
  const bool exists = row < rows;
  const int32_t vectors = call.width / 8;
  const int32_t count = exists ? hop.counts[row] : 0;
  const int32_t longest_row = MostOfGroups<kLanes>(count);
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  const bool symmetric = call.kind == HopSum::kSymmetric;
  const float degree = symmetric && exists ? call.degrees[row] : 0.0f;
  constexpr bool kThrough = kForm != HopRowForm::kPlain;
  const uint8_t* kept = kThrough ? call.through.kept : nullptr;
  for (int32_t first = 0; first < vectors; first += kLanes) {
    const int32_t vector = first + part;
    const bool in_row = exists && vector < vectors;
    const bool biased = kThrough && in_row && call.through.bias != nullptr;
    const Float8 bias = biased ? Load8(call.through.bias + vector * 8) : Float8{};
    Float8 sum = {};
    for (int32_t from = 0; from < longest_row; from += kLanes) {
      const bool has_slot = from + part < count;
      const int32_t column = has_slot ? columns[from + part] : 0;
      const float weight = symmetric && has_slot ? SourceScale(call.degrees[column]) : 1.0f;
      const int32_t chunk = min(kLanes, longest_row - from), own_chunk = count - from;
      for (int32_t j = 0; j < chunk; j += kAhead) {
        RawOf<T> raw[kAhead];
        uint32_t bits[kAhead] = {};
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          const int32_t source = __shfl_sync(kFullWarp, column, group + (j + a) % kLanes);
          if (!in_row || j + a >= own_chunk) continue;
          const int64_t at = static_cast<int64_t>(source) * vectors + vector;
          raw[a] = LoadRaw(z + at * 8);
          bits[a] = kept != nullptr ? kept[at] : 0xffu;
        }
#pragma unroll
        for (int a = 0; a < kAhead; ++a) {
          const float w = __shfl_sync(kFullWarp, weight, group + (j + a) % kLanes);
          const int32_t source = __shfl_sync(kFullWarp, column, group + (j + a) % kLanes);
          if (!in_row || j + a >= own_chunk || j + a >= kLanes) continue;
          Float8 x = Widen(raw[a]);
          if (kThrough) {
            ReadThrough8<kForm>(call.through, bias, bits[a], static_cast<int64_t>(source) * vectors + vector, x);
          }
          AddScaled8(w, x, sum);
        }
      }
    }
    if (!in_row) continue;
    const int64_t at = static_cast<int64_t>(row) * vectors + vector;
    Multiply8(SumScale(call.kind, degree, count), sum);
    if (symmetric) {
      Float8 own_row = Load8(z + at * 8);
      if (kThrough) ReadThrough8<kForm>(call.through, bias, kept != nullptr ? kept[at] : 0xffu, at, own_row);
      AddScaled8(OwnScale(degree), own_row, sum);
    }
    Store8(out + at * 8, sum);
  }
}

// A group handles kEach neighboring sources. At most one slot drew most sources, so the rows of all are loaded
// together.
template <HopRowForm kForm, int kLanes, int kEach>
__global__ void __launch_bounds__(kMostThreads, kBlocksEach)
    GroupedHopSumBackwardKernel(HopSumCall call, HopOnDevice hop, const T* grad_out, int32_t padded_sources,
                                const BatchHeader* header, T* grad_z) {
  static_assert(kEach <= kLanes, "a lane of the group holds a source's values");
  const int32_t rows = RowsAfter(header, call.number), sources = RowsAfter(header, call.number + 1);
  const auto thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const int lane = static_cast<int>(threadIdx.x % 32), part = lane % kLanes, group = lane - part;
  if ((thread - lane) / kLanes * kEach >= padded_sources) return;  // the whole warp returns
  const int32_t base = thread / kLanes * kEach;
  const int32_t vectors = call.width / 8;
  const bool symmetric = call.kind == HopSum::kSymmetric;
  // Place `at` of the sorted slots: the destination row, and the factor of the row's gradient.
  struct Slot {
    int32_t row = 0;
    float weight = 0;
  };
  const auto slot_at = [&](int32_t at) {
    const int32_t row = static_cast<int32_t>(hop.sorted_slots[at]) / hop.fanout;
    return Slot{row, SumScale(call.kind, symmetric ? call.degrees[row] : 0.0f, hop.counts[row])};
  };
  const auto handed = [](const Slot& own_slot, int from) {
    return Slot{__shfl_sync(kFullWarp, own_slot.row, from), __shfl_sync(kFullWarp, own_slot.weight, from)};
  };

  // Lane i of a group holds values of source base + i.
  const bool exists = part < kEach && base + part < sources;
  const int32_t own_begin = exists ? hop.first[base + part] : 0, own_end = exists ? hop.end[base + part] : 0;
  const float own_degree = exists && symmetric ? call.degrees[base + part] : 0.0f;
  const Slot own_first = own_begin < own_end ? slot_at(own_begin) : Slot{};
  for (int32_t strip = 0; strip < vectors; strip += kLanes) {
    const int32_t vector = strip + part;
    const bool in_row = vector < vectors;
    RawOf<T> raw[kEach];
    RowMark marks[kEach] = {};
#pragma unroll
    for (int a = 0; a < kEach; ++a) {
      const bool drawn = __shfl_sync(kFullWarp, own_end - own_begin, group + a) > 0;
      const int32_t row = __shfl_sync(kFullWarp, own_first.row, group + a);
      if (in_row && drawn) raw[a] = LoadRaw(grad_out + (static_cast<int64_t>(row) * vectors + vector) * 8);
      if (kForm == HopRowForm::kTwoSlopes && in_row && base + a < sources) {
        marks[a] = call.through.marks[static_cast<int64_t>(base + a) * vectors + vector];
      }
    }
#pragma unroll
    for (int a = 0; a < kEach; ++a) {
      const int32_t source = base + a;
      const int32_t begin = __shfl_sync(kFullWarp, own_begin, group + a);
      const int32_t end = __shfl_sync(kFullWarp, own_end, group + a);
      const float degree = __shfl_sync(kFullWarp, own_degree, group + a);
      const Slot first = handed(own_first, group + a);
      Float8 sum = {};
      if (in_row && begin < end) AddScaled8(first.weight, Widen(raw[a]), sum);
      const int32_t longest_row = MostOfGroups<kLanes>(end - begin - 1);
      for (int32_t done = 0; done < longest_row; done += kLanes) {
        const int32_t from = begin + 1 + done;
        const Slot slot = from + part < end ? slot_at(from + part) : Slot{};
        const int32_t chunk = min(kLanes, longest_row - done);
        for (int j = 0; j < chunk; ++j) {
          const Slot one = handed(slot, group + j);
          if (!in_row || from + j >= end) continue;
          AddScaled8(one.weight, Widen(LoadRaw(grad_out + (static_cast<int64_t>(one.row) * vectors + vector) * 8)),
                     sum);
        }
      }
      if (!in_row || source >= padded_sources) continue;
      const int64_t at = static_cast<int64_t>(source) * vectors + vector;
      if (source < sources) {
        if (symmetric) {
          Multiply8(SourceScale(degree), sum);
          if (source < rows) AddScaled8(OwnScale(degree), Load8(grad_out + at * 8), sum);
        }
        BackThrough8<T, kForm>(call.through, marks[a], at, vector, sum);
      }
      Store8(grad_z + at * 8, sum);
    }
  }
}

// Calls with(form, lanes, ahead), constants that say which instance the choice is.
template <typename With>
cudaError_t WithInstance(const SumChoice& choice, const HopSumCall& call, const With& with) {
  const auto with_ahead = [&](auto form, auto lanes) {
    return choice.ahead == 8 ? with(form, lanes, std::integral_constant<int, 8>{})
                             : with(form, lanes, std::integral_constant<int, 4>{});
  };
  const auto with_lanes = [&](auto form) {
    if (choice.lanes == 8) return with_ahead(form, std::integral_constant<int, 8>{});
    if (choice.lanes == 16) return with_ahead(form, std::integral_constant<int, 16>{});
    return with_ahead(form, std::integral_constant<int, 32>{});
  };
  return call.through.rows == nullptr ? with_lanes(std::integral_constant<HopRowForm, HopRowForm::kPlain>{})
                                      : with_lanes(std::integral_constant<HopRowForm, HopRowForm::kTwoSlopes>{});
}

int BlocksFor(int64_t groups, const SumChoice& choice) {
  const int64_t each = choice.block / choice.lanes;
  return static_cast<int>((groups + each - 1) / each);
}

}  // namespace

bool GroupedHopSumFits(const HopSumCall& call, Element element, Element out_element) {
  return call.kind != HopSum::kMax && element == Element::kBFloat16 && out_element == Element::kBFloat16 &&
         (call.through.rows == nullptr || call.through.activation != Activation::kElu);
}

cudaError_t EnqueueGroupedHopSum(const SumChoice& choice, const HopSumCall& call, const HopOnDevice& hop, const void* z,
                                 const BatchHeader* header, void* out, cudaStream_t stream) {
  return WithInstance(choice, call, [&]<typename Form, typename Lanes, typename Ahead>(Form, Lanes, Ahead) {
    return Launch(GroupedHopSumKernel<Form::value, Lanes::value, Ahead::value>, BlocksFor(hop.rows, choice),
                  choice.block, 0, stream, call, hop, static_cast<const T*>(z), header, static_cast<T*>(out));
  });
}

cudaError_t EnqueueGroupedHopSumBackward(const SumChoice& choice, const HopSumCall& call, const HopOnDevice& hop,
                                         const void* grad_out, int32_t padded_sources, const BatchHeader* header,
                                         void* grad_z, cudaStream_t stream) {
  return WithInstance(choice, call, [&]<typename Form, typename Lanes, typename Each>(Form, Lanes, Each) {
    const int64_t groups = (padded_sources + Each::value - 1) / Each::value;
    return Launch(GroupedHopSumBackwardKernel<Form::value, Lanes::value, Each::value>, BlocksFor(groups, choice),
                  choice.block, 0, stream, call, hop, static_cast<const T*>(grad_out), padded_sources, header,
                  static_cast<T*>(grad_z));
  });
}

}  // namespace hone::gnn::cuda
