// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements hop_sums.h for inner hops: one warp per row, 16 or 32 bytes per lane, several rows in flight before the
// first is used. drawn_sums.cu does the outermost hop.
#include <type_traits>

#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_loads.cuh"
#include "gnn/cuda/kernels/grouped_hop_sums.h"
#include "gnn/cuda/kernels/hop_sum_rows.cuh"
#include "gnn/cuda/kernels/hop_sums.h"
#include "gnn/cuda/kernels/symmetric_scales.cuh"

namespace hone::gnn::cuda {
namespace {

using Form = HopRowForm;

constexpr int kBlock = 256;
constexpr int kBlocksEach = 3;  // blocks per multiprocessor, which limits the registers of a thread

int Blocks(int64_t rows) { return static_cast<int>((rows + kBlock / 32 - 1) / (kBlock / 32)); }

__global__ void DegreesKernel(GraphOnDevice graph, int number, const BatchHeader* header, const int32_t* nodes,
                              float* degrees) {
  const auto row = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= RowsAfter(header, number)) return;
  const int32_t node = nodes[row];
  degrees[row] = static_cast<float>(__ldg(graph.row_offsets + node + 1) - __ldg(graph.row_offsets + node));
}

// Calls take(j, raw, bits) for rows j = 0 … here - 1, at most 32, in this order. Lane j holds row j's `index`; raw is
// this lane's vector of the row, bits its byte of `kept`. A lane loads kAhead rows before it uses the first.
template <int kAhead, typename T, typename Take>
__device__ inline void EachRow(const T* rows, const uint8_t* kept, int32_t vectors, int32_t vector, bool in_row,
                               int32_t index, int32_t chunk, const Take& take) {
  for (int32_t j = 0; j < chunk; j += kAhead) {
    RawOf<T> raw[kAhead];
    uint32_t bits[kAhead] = {};
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int32_t row = __shfl_sync(kFullWarp, index, (j + a) % 32);
      if (!in_row || j + a >= chunk) continue;
      const int64_t at = static_cast<int64_t>(row) * vectors + vector;
      raw[a] = LoadRaw(rows + at * 8);
      bits[a] = kept != nullptr ? kept[at] : 0xffu;
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      if (j + a < chunk) take(j + a, raw[a], bits[a]);  // the whole warp calls `take`, because it may shuffle
    }
  }
}

template <typename T, typename Out, bool kMaximum, Form kForm, int kAhead>
__global__ void __launch_bounds__(kBlock, kBlocksEach)
    HopSumKernel(HopSumCall call, HopOnDevice hop, const T* z, const BatchHeader* header, Out* out) {
  const auto row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, call.number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = call.width / 8;
  const int32_t count = hop.counts[row];
  const int32_t* columns = hop.columns + static_cast<int64_t>(row) * hop.fanout;
  const bool symmetric = !kMaximum && call.kind == HopSum::kSymmetric;
  const float degree = symmetric ? call.degrees[row] : 0.0f;
  constexpr bool kThrough = kForm != Form::kPlain;
  const uint8_t* kept = kThrough ? call.through.kept : nullptr;
  for (int32_t first = 0; first < vectors; first += 32) {
    const int32_t vector = first + lane;
    const bool in_row = vector < vectors;
    const bool biased = kThrough && in_row && call.through.bias != nullptr;
    const Float8 bias = biased ? Load8(call.through.bias + vector * 8) : Float8{};
    Float8 sum = {};
    int32_t slots[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int32_t from = 0; from < count; from += 32) {
      const bool has_slot = from + lane < count;
      const int32_t column = has_slot ? columns[from + lane] : 0;
      const float weight = symmetric && has_slot ? SourceScale(call.degrees[column]) : 1.0f;
      EachRow<kAhead>(z, kept, vectors, vector, in_row, column, min(32, count - from),
                      [&](int j, const RawOf<T>& raw, uint32_t bits) {
                        const float w = __shfl_sync(kFullWarp, weight, j);
                        const int32_t source = __shfl_sync(kFullWarp, column, j);
                        if (!in_row) return;
                        Float8 x = Widen(raw);
                        if (kThrough) {
                          ReadThrough8<kForm>(call.through, bias, bits, static_cast<int64_t>(source) * vectors + vector,
                                              x);
                        }
                        if constexpr (kMaximum) {
#pragma unroll
                          for (int i = 0; i < 8; ++i) {
                            if (slots[i] >= 0 && !(x.v[i] > sum.v[i])) continue;
                            sum.v[i] = x.v[i];
                            slots[i] = from + j;
                          }
                        } else {
                          AddScaled8(w, x, sum);
                        }
                      });
    }
    if (!in_row) continue;
    const int64_t at = static_cast<int64_t>(row) * vectors + vector;
    if (kMaximum && call.winners != nullptr) {
      auto* winner_slots = reinterpret_cast<int4*>(call.winners + at * 8);
      winner_slots[0] = make_int4(slots[0], slots[1], slots[2], slots[3]);
      winner_slots[1] = make_int4(slots[4], slots[5], slots[6], slots[7]);
    }
    if (!kMaximum) Multiply8(SumScale(call.kind, degree, count), sum);
    if (symmetric) {
      Float8 own_row = Load8(z + at * 8);
      if (kThrough) ReadThrough8<kForm>(call.through, bias, kept != nullptr ? kept[at] : 0xffu, at, own_row);
      AddScaled8(OwnScale(degree), own_row, sum);
    }
    Store8(out + at * 8, sum);
  }
}

// kEach is the number of sources that a warp handles. At most one slot drew most sources, so the rows of all are loaded
// together.
template <typename T, bool kMaximum, Form kForm, int kEach>
__global__ void __launch_bounds__(kBlock, kBlocksEach)
    HopSumBackwardKernel(HopSumCall call, HopOnDevice hop, const T* grad_out, int32_t padded_sources,
                         const BatchHeader* header, T* grad_z) {
  const int32_t rows = RowsAfter(header, call.number), sources = RowsAfter(header, call.number + 1);
  const auto base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kEach;
  if (base >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = call.width / 8;
  const bool symmetric = !kMaximum && call.kind == HopSum::kSymmetric;
  // Place `at` of the sorted slots: the destination row, its slot, and the factor of the row's gradient.
  struct Slot {
    int32_t row = 0, slot = 0;
    float weight = 0;
  };
  const auto slot_at = [&](int32_t at) {
    const auto place = static_cast<int32_t>(hop.sorted_slots[at]);
    Slot slot{place / hop.fanout, place % hop.fanout, 0};
    if (!kMaximum) {
      slot.weight = SumScale(call.kind, symmetric ? call.degrees[slot.row] : 0.0f, hop.counts[slot.row]);
    }
    return slot;
  };
  const auto add_slot = [&](const Slot& slot, int32_t vector, const RawOf<T>& raw, Float8& sum) {
    const Float8 g = Widen(raw);
    if constexpr (kMaximum) {
      const auto* winner_slots =
          reinterpret_cast<const int4*>(call.winners + (static_cast<int64_t>(slot.row) * vectors + vector) * 8);
      const int4 low = __ldg(winner_slots), high = __ldg(winner_slots + 1);
      const int32_t slots[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] += slots[i] == slot.slot ? g.v[i] : 0.0f;
    } else {
      AddScaled8(slot.weight, g, sum);
    }
  };
  const auto from_lane = [](const Slot& own_slot, int first_slot) {
    return Slot{__shfl_sync(kFullWarp, own_slot.row, first_slot), __shfl_sync(kFullWarp, own_slot.slot, first_slot),
                __shfl_sync(kFullWarp, own_slot.weight, first_slot)};
  };

  // Lane i holds values of source base + i.
  const bool exists = lane < kEach && base + lane < sources;
  const int32_t own_begin = exists ? hop.first[base + lane] : 0, own_end = exists ? hop.end[base + lane] : 0;
  const float own_degree = exists && symmetric ? call.degrees[base + lane] : 0.0f;
  const Slot own_first = own_begin < own_end ? slot_at(own_begin) : Slot{};
  for (int32_t strip = 0; strip < vectors; strip += 32) {
    const int32_t vector = strip + lane;
    const bool in_row = vector < vectors;
    RawOf<T> raw[kEach];
    RowMark marks[kEach] = {};
#pragma unroll
    for (int a = 0; a < kEach; ++a) {
      const bool drawn = __shfl_sync(kFullWarp, own_end - own_begin, a) > 0;
      const int32_t row = __shfl_sync(kFullWarp, own_first.row, a);
      if (in_row && drawn) raw[a] = LoadRaw(grad_out + (static_cast<int64_t>(row) * vectors + vector) * 8);
      if (kForm == Form::kTwoSlopes && in_row && base + a < sources) {
        marks[a] = call.through.marks[static_cast<int64_t>(base + a) * vectors + vector];
      }
    }
#pragma unroll
    for (int a = 0; a < kEach; ++a) {
      const int32_t source = base + a;
      if (source >= padded_sources) break;
      const int32_t begin = __shfl_sync(kFullWarp, own_begin, a), end = __shfl_sync(kFullWarp, own_end, a);
      const float degree = __shfl_sync(kFullWarp, own_degree, a);
      const Slot first = from_lane(own_first, a);
      Float8 sum = {};
      if (in_row && begin < end) add_slot(first, vector, raw[a], sum);
      for (int32_t first_slot = begin + 1; first_slot < end; first_slot += 32) {
        const Slot slot = first_slot + lane < end ? slot_at(first_slot + lane) : Slot{};
        const int32_t chunk = min(32, end - first_slot);
        for (int j = 0; j < chunk; ++j) {
          const Slot slot_of_lane = from_lane(slot, j);
          if (in_row) {
            add_slot(slot_of_lane, vector,
                LoadRaw(grad_out + (static_cast<int64_t>(slot_of_lane.row) * vectors + vector) * 8), sum);
          }
        }
      }
      if (!in_row) continue;
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

// Returns whether a choice is one of this file's kernels, which give a row to each warp of a block of kBlock threads.
bool IsHere(const SumChoice& choice) { return choice.lanes == 32 && choice.block == kBlock; }

// Calls `with` with the number of rows or sources that the choice has a warp load together: 4 for rows of fp32.
template <typename T, typename With>
cudaError_t WithAhead(const SumChoice& choice, const With& with) {
  if constexpr (sizeof(T) == 2) {
    if (choice.ahead == 8) return with(std::integral_constant<int, 8>{});
  }
  return with(std::integral_constant<int, 4>{});
}

// Calls `with` with two constants: whether the kind is the maximum, and how rows are read.
template <typename With>
cudaError_t WithForm(const HopSumCall& call, const With& with) {
  const auto with_form = [&](auto maximum) {
    if (call.through.rows == nullptr) return with(maximum, std::integral_constant<Form, Form::kPlain>{});
    if (call.through.activation == Activation::kElu) return with(maximum, std::integral_constant<Form, Form::kElu>{});
    return with(maximum, std::integral_constant<Form, Form::kTwoSlopes>{});
  };
  return call.kind == HopSum::kMax ? with_form(std::true_type{}) : with_form(std::false_type{});
}

}  // namespace

cudaError_t EnqueueDegrees(const GraphOnDevice& graph, int number, int32_t rows, const BatchHeader* header,
                           const int32_t* nodes, float* degrees, cudaStream_t stream) {
  return Launch(DegreesKernel, (rows + kBlock - 1) / kBlock, kBlock, 0, stream, graph, number, header, nodes, degrees);
}

cudaError_t EnqueueHopSum(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* z,
                          const BatchHeader* header, Element out_element, void* out, cudaStream_t stream,
                          const SumChoice& choice) {
  if (!IsHere(choice) && GroupedHopSumFits(call, element, out_element)) {
    return EnqueueGroupedHopSum(choice, call, hop, z, header, out, stream);
  }
  const auto launch = [&]<typename T, typename Out>(T, Out) {
    return WithForm(call, [&]<typename Maximum, typename Through>(Maximum, Through) {
      return WithAhead<T>(choice, [&]<typename Ahead>(Ahead) {
        return Launch(HopSumKernel<T, Out, Maximum::value, Through::value, Ahead::value>, Blocks(hop.rows), kBlock, 0,
                      stream, call, hop, static_cast<const T*>(z), header, static_cast<Out*>(out));
      });
    });
  };
  if (element == Element::kFloat32) return launch(float{}, float{});
  return out_element == Element::kFloat32 ? launch(__nv_bfloat16{}, float{}) : launch(__nv_bfloat16{}, __nv_bfloat16{});
}

cudaError_t EnqueueHopSumBackward(const HopSumCall& call, const HopOnDevice& hop, Element element, const void* grad_out,
                                  int32_t padded_sources, const BatchHeader* header, void* grad_z, cudaStream_t stream,
                                  const SumChoice& choice) {
  if (!IsHere(choice) && GroupedHopSumFits(call, element, element)) {
    return EnqueueGroupedHopSumBackward(choice, call, hop, grad_out, padded_sources, header, grad_z, stream);
  }
  const auto launch = [&]<typename T>(T) {
    return WithForm(call, [&]<typename Maximum, typename Through>(Maximum, Through) {
      return WithAhead<T>(choice, [&]<typename Each>(Each) {
        return Launch(HopSumBackwardKernel<T, Maximum::value, Through::value, Each::value>,
                      Blocks((padded_sources + Each::value - 1) / Each::value), kBlock, 0, stream, call, hop,
                      static_cast<const T*>(grad_out), padded_sources, header, static_cast<T*>(grad_z));
      });
    });
  };
  return element == Element::kFloat32 ? launch(float{}) : launch(__nv_bfloat16{});
}

}  // namespace hone::gnn::cuda
