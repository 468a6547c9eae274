// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements attention_kernels.h.
//
// A group of 16 or 32 lanes handles one destination and holds rows of up to 256 columns, eight columns per lane. The
// group loads up to six items at once, sums up their logits, and uses the rows again while they are in its registers.
// Wider rows are handled by whole warps in column blocks, and are read once for the logits and again for the sums.
//
// Every sum has one order, whatever the envelope. Within a destination it is the order of items. For `folded` it is the
// order of a group's destinations, of a block's groups, and of the blocks, whose number is fixed.
#include "gnn/cuda/kernels/attention_kernels.h"

#include <algorithm>
#include <type_traits>

#include "gnn/cuda/base/async_copies.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/pick_slot.cuh"
#include "gnn/cuda/kernels/attention_rows.cuh"
#include "gnn/cuda/sample/wide_sample_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kBlockColumns = 256;  // columns that a warp reads at once
constexpr int kBitsBlocks = 132;    // number of blocks that make dropout's bits: one per multiprocessor of an H100
constexpr int kJoinLanes = 32;      // threads that add up the blocks' partial sums of one column

// Returns how many sources a warp of SourceGradientKernel handles.
template <typename T>
constexpr int SourcesAWarp(bool one_head) {
  return !one_head ? 2 : sizeof(T) == 2 ? 4 : 2;
}
int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }
__host__ __device__ int GroupsABlock(int32_t width) { return kBlock / (width <= 128 ? 16 : 32); }
// Returns the largest number of blocks that share the destinations of a backward pass: as many as 132 multiprocessors
// hold at once.
__host__ __device__ constexpr int GradientBlocks(int32_t width) { return width <= 128 ? 396 : 264; }

__device__ float WarpSum(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
  return x;
}
__device__ float WarpMax(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, offset));
  return x;
}
// Returns leaky_relu(x), whose slope below zero is `slope`.
__device__ float LeakyRelu(float slope, float x) { return x > 0.0f ? x : slope * x; }

// A destination as its group of lanes sees it, with all look-ups done at once. A group past the batch's rows has no
// items, but executes the same steps.
template <typename Rows, typename Group, int kItems>
struct GroupRow {
  Items items;
  int32_t source = -1;  // source of the lane's item among the first kItems
  __device__ GroupRow(const Rows& rows, const Slots& slots, const Group& group, int32_t row, bool active)
      : items{slots.sources, 0, 0} {
    if (!active) return;
    items = ItemsOf(slots, row, rows.Self(row));
    if (group.item > 0 && group.item < kItems && group.item <= slots.fanout) source = __ldg(items.sources + group.item - 1);
  }
  // Returns the place of the lane's item, number first + group.item, and sets *counts to whether the destination
  // attends to it.
  __device__ int32_t Place(const Rows& rows, const Group& group, int32_t first, bool* attends) const {
    const int32_t item = first + group.item;
    *attends = group.item < kItems && item < items.count;
    if (!*attends) return 0;
    const int32_t node = item == 0 ? items.self : first == 0 ? source : __ldg(items.sources + item - 1);
    *attends = item == 0 || node != items.self;
    return rows.Place(node);
  }
  // Loads items first, first + 1, …, all in flight before the first is needed; items that do not exist are zeros.
  __device__ void Load(const Rows& rows, const Group& group, int32_t first, int32_t row_place, bool in_row,
                       int32_t (&at)[kItems], typename Rows::Made (&x)[kItems]) const {
    typename Rows::Fetched fetched[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      at[i] = group.Of(i, row_place);
      fetched[i] = {};
      if (in_row && first + i < items.count) fetched[i] = rows.Fetch(at[i], group.part);
    }
#pragma unroll
    for (int i = 0; i < kItems; ++i) x[i] = rows.Make(fetched[i]);
  }
};
// Whether a destination's rows are copied to shared memory while the previous destination is processed. This is done
// for scattered rows of two bytes per element, which are the graph's features, if all of a destination's rows fit at
// once.
template <typename Rows, bool kWhole>
constexpr bool kCopied = Rows::kOfGraph && kWhole && sizeof(typename Rows::Made) == sizeof(uint4);
// The size of a warp's copy of one turn, in 16-byte words: 32 for each item and 32 for each of the row's gradients, one
// or one for each head. A lane's words of successive items are 32 apart.
template <int kItems, int kGrads = 1>
constexpr int kCopyStride = (kItems + kGrads) * 32;
template <int kItems, int kGrads = 1>
constexpr int kCopyBytes = kWarps * 2 * kCopyStride<kItems, kGrads> * static_cast<int>(sizeof(uint4));

// Walks over the destinations of a group, one per turn. A turn's rows are copied while the previous turn's are
// processed; meanwhile the look-ups of the next turn are in flight.
template <typename Rows, typename Group, int kItems, int kGrads = 1>
struct CopiedTurns {
  static constexpr int kStride = kCopyStride<kItems, kGrads>;
  const Rows& rows;
  const Slots& slots;
  const Group& group;
  int32_t all_rows, stride, vectors;
  uint4* ring;  // this lane's words of two copies in shared memory
  int32_t row;  // row of the turn being copied
  GroupRow<Rows, Group, kItems> copied, later;
  bool attends = false;  // whether the destination attends to the lane's item, in the turn being copied
  int ring_half = 0;     // half of the ring to which the current turn is copied

  __device__ CopiedTurns(const Rows& copied_rows, const Slots& slots_of, const Group& by, int32_t first_row, int32_t end, int32_t step,
                         int32_t row_vectors, uint4* to)
      : rows(copied_rows), slots(slots_of), group(by), all_rows(end), stride(step), vectors(row_vectors), ring(to), row(first_row),
        copied(copied_rows, slots_of, by, first_row, first_row < end),
        later(copied_rows, slots_of, by, first_row + step, first_row + step < end) {}
  __device__ bool in_row() const { return row < all_rows && group.part < vectors; }
  // Whether the rows in memory have the lane's part.
  __device__ bool stored() const {
    if constexpr (Rows::kAppendsOne) return group.part < rows.stored;
    return true;
  }
  // Puts the ones of [x, 1] into the turn before the one being copied, whose copies must have ended. Each lane reads
  // only the words that it has copied itself, so that nothing else need wait.
  __device__ void PutOnes() const {
    if constexpr (Rows::kAppendsOne) {
      if (group.part != rows.one / 8) return;
      uint4* const to = ring + (ring_half ^ 1) * kStride;
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        typename Rows::Made x;
        if (stored()) x.words = to[i * 32];
        SetOne(rows.one % 8, x);
        to[i * 32] = x.words;
      }
    }
  }
  // Starts the copy of the turn's rows and of `grad`, the gradient of its row; null: without a gradient. With several
  // gradients, `grads` of them follow one another.
  __device__ void Start(const __nv_bfloat16* grad, int32_t grads = 1) {
    const int32_t row_place = copied.Place(rows, group, 0, &attends);
    uint4* to = ring + ring_half * kStride;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int32_t at = group.Of(i, row_place);
      if (in_row() && stored() && i < copied.items.count) StartCopy16(to + i * 32, rows.features.At(at) + group.part * 8);
    }
    if constexpr (kGrads == 1) {
      if (in_row() && grad != nullptr) StartCopy16(to + kItems * 32, grad + group.part * 8);
    } else {
#pragma unroll
      for (int g = 0; g < kGrads; ++g) {
        if (in_row() && g < grads) StartCopy16(to + (kItems + g) * 32, grad + (g * vectors + group.part) * 8);
      }
    }
    CommitCopies();
  }
  // Moves to the next turn, whose copy Start must then begin.
  __device__ void Advance() {
    row += stride;
    copied = later;
    later = {rows, slots, group, row + stride, row + stride < all_rows};
    ring_half ^= 1;
  }
  // Returns the lane's part of an item of the turn before the one being copied; zeros if `has_item` is false.
  __device__ typename Rows::Made Item(bool has_item, int i) const {
    typename Rows::Made x;
    if (has_item) x.words = ring[(ring_half ^ 1) * kStride + i * 32];
    return x;
  }
  // Returns the lane's part of gradient g of the turn before the one being copied; zeros if `has_item` is false.
  __device__ Float8 TakeGradient(bool has_item, int g = 0) const {
    return has_item ? WidenRaw8(Raw8<__nv_bfloat16>{ring[(ring_half ^ 1) * kStride + (kItems + g) * 32]}) : Float8{};
  }
};

// Returns the larger of the counts of a warp's groups, of which there are one or two.
template <int kParts>
__device__ int32_t WarpMaxCount(int32_t count) {
  return kParts == 32 ? count : max(count, __shfl_xor_sync(kFullWarp, count, 16));
}
// Returns the number of values that LaneGroup works on for `items` items: the next power of two.
constexpr int PaddedItems(int items) { return items <= 8 ? 8 : 16; }

// Computes the softmax over a destination's items and their weighted sum in one pass: rows stay in registers while
// their weights are found, kItems at a time. kWhole: no destination has more than kItems items.
template <typename Rows, typename Out, int kParts, int kItems, bool kWhole>
__global__ void __launch_bounds__(kBlock, kItems > 8 ? 2 : kWhole ? 4 : 3)
    AttentionKernel(Rows rows, Slots slots, int number, AttentionShape shape, const float* folded,
                    const BatchHeader* header, AttentionWeightsOnDevice weights, Out* out) {
  using Group = LaneGroup<kParts, PaddedItems(kItems)>;
  const int32_t all_rows = RowsAfter(header, number);
  const int32_t thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (thread / 32 * (32 / kParts) >= all_rows) return;
  const int32_t row = thread / kParts;
  const bool active = row < all_rows;
  const Group group(static_cast<int>(threadIdx.x % 32));
  const bool in_row = active && group.part < shape.width / 8;
  const GroupRow<Rows, Group, kItems> current(rows, slots, group, row, active);
  const int32_t count = current.items.count, max_count = WarpMaxCount<kParts>(count);
  const ItemValues stored_weights = ValuesOf(weights.slots, weights.self, shape.heads, slots, row, shape.heads);

  for (int32_t h = 0; h < shape.heads; ++h) {
    const float* as_source = folded + static_cast<int64_t>(h) * shape.width + group.part * 8;
    const Float8 source_vector = in_row ? Load8(as_source) : Float8{};
    const Float8 destination_vector =
        in_row ? Load8(as_source + static_cast<int64_t>(shape.heads) * shape.width) : Float8{};
    float destination_score = 0, max_logit = -INFINITY,
          weight_sum = 0;  // the score as a destination, a term of each of its logits
    Float8 sum = {};
    for (int32_t first = 0; kWhole ? first == 0 : first < max_count; first += kItems) {
      bool attends = false;
      const int32_t row_place = current.Place(rows, group, first, &attends);
      int32_t at[kItems];
      typename Rows::Made x[kItems];
      current.Load(rows, group, first, row_place, in_row, at, x);
      if (h == 0 && weights.passes != nullptr) {
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          if (in_row && first + i < count) rows.NotePassing(weights.passes, at[i], group.part, x[i]);
        }
      }
      float dots[PaddedItems(kItems)] = {};
#pragma unroll
      for (int i = 0; i < kItems; ++i) dots[i] = Dot8(source_vector, WidenRaw8(x[i]));
      if (first == 0) destination_score = rows.Scale() * group.Sum(Dot8(destination_vector, WidenRaw8(x[0])));
      const float score = rows.Scale() * group.SumByItem(dots) + destination_score,
                  logit = LeakyRelu(shape.negative_slope, score);
      const float new_max = fmaxf(max_logit, group.MaxOfItems(attends ? logit : -INFINITY));
      float weight = attends ? __expf(logit - new_max) : 0.0f;
      if (kWhole) {
        weight /= group.SumOfItems(weight);
      } else {
        const float rescale = first == 0 ? 0.0f : __expf(max_logit - new_max);
        weight_sum = weight_sum * rescale + group.SumOfItems(weight);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] *= rescale;
      }
      max_logit = new_max;
#pragma unroll
      for (int i = 0; i < kItems; ++i) WidenAgain(x[i]);
      const float scaled = rows.Scale() * weight;
#pragma unroll
      for (int i = 0; i < kItems; ++i) AddScaled8(group.Of(i, scaled), WidenRaw8(x[i]), sum);
      const int32_t item = first + group.item;
      if (group.speaks() && group.item < kItems && item < count) {
        stored_weights.At(item, h) = !kWhole ? score : score > 0.0f ? weight : -weight;
      }
    }
    if (!kWhole) {
      const float inverse = 1.0f / weight_sum;
      for (int32_t item = group.item; group.speaks() && group.item < kItems && item < count; item += kItems) {
        float& value = stored_weights.At(item, h);  // this lane stored it above
        const float alpha =
            current.items.Counts(item) ? __expf(LeakyRelu(shape.negative_slope, value) - max_logit) * inverse : 0.0f;
        value = value > 0.0f ? alpha : -alpha;
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] *= inverse;
    }
    if (in_row) Store8(out + (static_cast<int64_t>(row) * shape.heads + h) * shape.width + group.part * 8, sum);
  }
}

// Does AttentionKernel's work where rows are copied ahead: a group handles one destination after another.
template <typename Rows, typename Out, int kParts, int kItems>
__global__ void __launch_bounds__(kBlock, 3)
    CopiedAttentionKernel(Rows rows, Slots slots, int number, AttentionShape shape, const float* folded,
                          const BatchHeader* header, AttentionWeightsOnDevice weights, Out* out) {
  using Group = LaneGroup<kParts, PaddedItems(kItems)>;
  const int32_t all_rows = RowsAfter(header, number);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Group group(lane);
  const int32_t vectors = shape.width / 8;
  const int32_t first_row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / kParts);
  const int32_t stride = static_cast<int32_t>(gridDim.x) * (kBlock / kParts);
  int32_t warp_row = first_row - lane / kParts;  // all lanes of a warp take equally many turns
  if (warp_row >= all_rows) return;
  CopiedTurns<Rows, Group, kItems> turns(rows, slots, group, first_row, all_rows, stride, vectors,
                                         DynamicShared<uint4>() + threadIdx.x / 32 * (2 * kCopyStride<kItems>) + lane);
  turns.Start(nullptr);
#pragma unroll 1
  for (; warp_row < all_rows; warp_row += stride) {
    const int32_t row = turns.row, count = turns.copied.items.count;
    const bool in_row = turns.in_row(), attends = turns.attends;
    const ItemValues stored_weights = ValuesOf(weights.slots, weights.self, shape.heads, slots, row, shape.heads);
    turns.Advance();
    turns.Start(nullptr);
    AwaitCopies<1>();
    turns.PutOnes();
    typename Rows::Made x[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) x[i] = turns.Item(in_row && i < count, i);
    for (int32_t h = 0; h < shape.heads; ++h) {
      const float* as_source = folded + static_cast<int64_t>(h) * shape.width + group.part * 8;
      const Float8 source_vector = in_row ? Load8(as_source) : Float8{};
      const Float8 destination_vector =
          in_row ? Load8(as_source + static_cast<int64_t>(shape.heads) * shape.width) : Float8{};
      float dots[PaddedItems(kItems)] = {};
#pragma unroll
      for (int i = 0; i < kItems; ++i) dots[i] = Dot8(source_vector, WidenRaw8(x[i]));
      const float destination_score = group.Sum(Dot8(destination_vector, WidenRaw8(x[0])));
      const float score = group.SumByItem(dots) + destination_score, logit = LeakyRelu(shape.negative_slope, score);
      const float max_logit = group.MaxOfItems(attends ? logit : -INFINITY);
      float weight = attends ? __expf(logit - max_logit) : 0.0f;
      weight /= group.SumOfItems(weight);
#pragma unroll
      for (int i = 0; i < kItems; ++i) WidenAgain(x[i]);
      Float8 sum = {};
#pragma unroll
      for (int i = 0; i < kItems; ++i) AddScaled8(group.Of(i, weight), WidenRaw8(x[i]), sum);
      if (group.speaks() && group.item < kItems && group.item < count) {
        stored_weights.At(group.item, h) = score > 0.0f ? weight : -weight;
      }
      if (in_row) Store8(out + (static_cast<int64_t>(row) * shape.heads + h) * shape.width + group.part * 8, sum);
    }
  }
}

// Adds up the warps' sums for up to kBlockColumns columns of `folded`'s gradient, and stores the block's sum in
// `partial`. `lane_sum` holds the columns part * 8 … part * 8 + 7 of this warp's sum, if `stores`. All threads call it.
__device__ void StoreBlockSum(float (&warp_sums)[kWarps][kBlockColumns], const Float8& lane_sum, bool stores, int part,
                              int32_t columns, float* partial) {
  if (stores) Store8(&warp_sums[threadIdx.x / 32][part * 8], lane_sum);
  __syncthreads();
  if (static_cast<int32_t>(threadIdx.x) < columns) {
    float sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += warp_sums[w][threadIdx.x];
    partial[threadIdx.x] = sum;
  }
  __syncthreads();
}

// Computes the gradients of the logits of every destination, and each block's partial sum of `folded`'s gradient.
// Let d be the products of grad_out with the items (`dot`), e their mean weighted by alpha (`expected`), and s the
// slopes of leaky_relu. Then a logit's gradient is alpha (d - e) s. A stored alpha is negative where its logit was
// below zero.
template <typename Rows, typename Grad, int kParts, int kItems, bool kWhole>
__global__ void __launch_bounds__(kBlock, kItems > 8 || !kWhole ? 2 : 3)
    LogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                        AttentionWeightsOnDevice weights, const Grad* grad_out, AttentionGradients gradients) {
  __shared__ float warp_sums[kWarps][kBlockColumns];
  using Group = LaneGroup<kParts, PaddedItems(kItems)>;
  constexpr int kGroups = kBlock / kParts;
  const int32_t all_rows = RowsAfter(header, number);
  if (static_cast<int32_t>(blockIdx.x) * kGroups >= all_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Group group(lane);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x * kGroups + threadIdx.x / kParts);
  const int32_t warp_row = first_row - lane / kParts;  // all lanes of a warp take equally many turns
  float* partial = gradients.partials + static_cast<int64_t>(blockIdx.x) * 2 * heads * shape.width;

  for (int32_t h = 0; h < heads; ++h) {
    Float8 grad_source = {}, grad_destination = {};
    const int32_t stride = GradientBlocks(shape.width) * kGroups;
    GroupRow<Rows, Group, kItems> next_destination(rows, slots, group, first_row, first_row < all_rows);
    for (int32_t turn = 0; warp_row + turn < all_rows; turn += stride) {
      const int32_t row = first_row + turn;
      const bool active = row < all_rows, in_row = active && group.part < vectors;
      const GroupRow<Rows, Group, kItems> current = next_destination;
      next_destination = GroupRow<Rows, Group, kItems>(rows, slots, group, row + stride, row + stride < all_rows);
      const int32_t count = current.items.count, max_count = WarpMaxCount<kParts>(count);
      const ItemValues alphas = ValuesOf(weights.slots, weights.self, heads, slots, row, heads);
      const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
      const Float8 g =
          in_row ? Load8(grad_out + (static_cast<int64_t>(row) * heads + h) * shape.width + group.part * 8) : Float8{};
      float expected = 0, total = 0;
      Float8 slopes = {};              // with several chunks of items: their sum by alpha s
      typename Rows::Made item0 = {};  // with several chunks: item 0
      for (int32_t first = 0; kWhole ? first == 0 : first < max_count; first += kItems) {
        bool attends = false;
        const int32_t row_place = current.Place(rows, group, first, &attends);
        const int32_t item = first + group.item;
        const bool exists = group.item < kItems && item < count;
        const float alpha = exists ? alphas.At(item, h) : 0.0f;
        int32_t at[kItems];
        typename Rows::Made x[kItems];
        current.Load(rows, group, first, row_place, in_row, at, x);
        float dots[PaddedItems(kItems)] = {};
#pragma unroll
        for (int i = 0; i < kItems; ++i) dots[i] = Dot8(g, WidenRaw8(x[i]));
        const float dot = rows.Scale() * group.SumByItem(dots);
        expected += group.SumOfItems(fabsf(alpha) * dot);
#pragma unroll
        for (int i = 0; i < kItems; ++i) WidenAgain(x[i]);
        const float slope_factor = fabsf(alpha) * (alpha < 0.0f ? shape.negative_slope : 1.0f);
        if (kWhole) {
          const float value = slope_factor * (dot - expected);
          if (group.speaks() && exists) gradient.At(item, h) = value;
          total = group.SumOfItems(value);
          const float scaled = rows.Scale() * value;
#pragma unroll
          for (int i = 0; i < kItems; ++i) AddScaled8(group.Of(i, scaled), WidenRaw8(x[i]), grad_source);
          AddScaled8(rows.Scale() * total, WidenRaw8(x[0]), grad_destination);
        } else {
          if (group.speaks() && exists) gradient.At(item, h) = dot;
          const float scaled = rows.Scale() * slope_factor;
#pragma unroll
          for (int i = 0; i < kItems; ++i) {
            const Float8 value = WidenRaw8(x[i]);
            AddScaled8(group.Of(i, scaled * dot), value, grad_source);
            AddScaled8(group.Of(i, scaled), value, slopes);
          }
          if (first == 0) item0 = x[0];
        }
      }
      if (!kWhole) {
        AddScaled8(-expected, slopes, grad_source);
        for (int32_t item = group.item; group.speaks() && group.item < kItems && item < count; item += kItems) {
          const float alpha = alphas.At(item, h);
          float& value = gradient.At(item, h);  // this lane stored it above
          value = fabsf(alpha) * (alpha < 0.0f ? shape.negative_slope : 1.0f) * (value - expected);
          total += value;
        }
        total = group.Of(0, group.SumOfItems(total));
        AddScaled8(rows.Scale() * total, WidenRaw8(item0), grad_destination);
      }
      if (active && group.part == 0) gradient.self[heads + h] = total;
    }
#pragma unroll
    for (int i = 0; i < 8 && kParts == 16; ++i) {
      grad_source.v[i] += __shfl_xor_sync(kFullWarp, grad_source.v[i], 16);
      grad_destination.v[i] += __shfl_xor_sync(kFullWarp, grad_destination.v[i], 16);
    }
    const bool stores = lane < kParts && group.part < vectors;
    StoreBlockSum(warp_sums, grad_source, stores, group.part, shape.width,
                  partial + static_cast<int64_t>(h) * shape.width);
    StoreBlockSum(warp_sums, grad_destination, stores, group.part, shape.width,
                  partial + (static_cast<int64_t>(heads) + h) * shape.width);
  }
}

// Does LogitGradientKernel's work where rows are copied ahead.
template <typename Rows, typename Grad, int kParts, int kItems>
__global__ void __launch_bounds__(kBlock, 3)
    CopiedLogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                              AttentionWeightsOnDevice weights, const Grad* grad_out, AttentionGradients gradients) {
  __shared__ float warp_sums[kWarps][kBlockColumns];
  using Group = LaneGroup<kParts, PaddedItems(kItems)>;
  constexpr int kGroups = kBlock / kParts;
  constexpr bool kCopiesGrad = std::is_same_v<Grad, __nv_bfloat16>;
  const int32_t all_rows = RowsAfter(header, number);
  if (static_cast<int32_t>(blockIdx.x) * kGroups >= all_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Group group(lane);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x * kGroups + threadIdx.x / kParts);
  const int32_t warp_row = first_row - lane / kParts;  // all lanes of a warp take equally many turns
  const int32_t stride = GradientBlocks(shape.width) * kGroups;
  float* partial = gradients.partials + static_cast<int64_t>(blockIdx.x) * 2 * heads * shape.width;
  uint4* ring = DynamicShared<uint4>() + threadIdx.x / 32 * (2 * kCopyStride<kItems>) + lane;

  for (int32_t h = 0; h < heads; ++h) {
    Float8 grad_source = {}, grad_destination = {};
    CopiedTurns<Rows, Group, kItems> turns(rows, slots, group, first_row, all_rows, stride, vectors, ring);
    const auto grad_at = [&](int32_t row) { return grad_out + (static_cast<int64_t>(row) * heads + h) * shape.width; };
    const auto start = [&] {
      if constexpr (kCopiesGrad) {
        turns.Start(grad_at(turns.row));
      } else {
        turns.Start(nullptr);
      }
    };
    const auto alpha_of = [&] {  // the alpha of the lane's item in the turn being copied
      const ItemValues alphas = ValuesOf(weights.slots, weights.self, heads, slots, turns.row, heads);
      return group.item < kItems && group.item < turns.copied.items.count ? alphas.At(group.item, h) : 0.0f;
    };
    start();
    float next_alpha = alpha_of();
    for (int32_t turn = 0; warp_row + turn < all_rows; turn += stride) {
      const int32_t row = turns.row, count = turns.copied.items.count;
      const bool active = row < all_rows, in_row = turns.in_row();
      const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
      const float alpha = next_alpha;
      turns.Advance();
      start();
      next_alpha = alpha_of();
      AwaitCopies<1>();
      turns.PutOnes();
      Float8 g = {};
      if constexpr (kCopiesGrad) {
        g = turns.TakeGradient(in_row);
      } else if (in_row) {
        g = Load8(grad_at(row) + group.part * 8);
      }
      float dots[PaddedItems(kItems)] = {};
#pragma unroll
      for (int i = 0; i < kItems; ++i) dots[i] = Dot8(g, WidenRaw8(turns.Item(in_row && i < count, i)));
      const float dot = group.SumByItem(dots);
      const float expected = group.SumOfItems(fabsf(alpha) * dot);
      AwaitCopies<1>();  // the items are read again below, which saves registers
      const float value = fabsf(alpha) * (alpha < 0.0f ? shape.negative_slope : 1.0f) * (dot - expected);
      if (group.speaks() && group.item < kItems && group.item < count) gradient.At(group.item, h) = value;
      const float total = group.SumOfItems(value);
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        const Float8 x = WidenRaw8(turns.Item(in_row && i < count, i));
        AddScaled8(group.Of(i, value), x, grad_source);
        if (i == 0) AddScaled8(total, x, grad_destination);
      }
      if (active && group.part == 0) gradient.self[heads + h] = total;
    }
    AwaitCopies<0>();  // before the next head's copies
#pragma unroll
    for (int i = 0; i < 8 && kParts == 16; ++i) {
      grad_source.v[i] += __shfl_xor_sync(kFullWarp, grad_source.v[i], 16);
      grad_destination.v[i] += __shfl_xor_sync(kFullWarp, grad_destination.v[i], 16);
    }
    const bool stores = lane < kParts && group.part < vectors;
    StoreBlockSum(warp_sums, grad_source, stores, group.part, shape.width,
                  partial + static_cast<int64_t>(h) * shape.width);
    StoreBlockSum(warp_sums, grad_destination, stores, group.part, shape.width,
                  partial + (static_cast<int64_t>(heads) + h) * shape.width);
  }
}

// Does the same work for several heads at once, so that a destination's rows are copied and read once for all of them.
// Their sums fill a thread's registers, so that fewer blocks run at once.
// Heads whose gradients CopiedHeadsLogitGradientKernel holds in registers.
constexpr int kHeadsAtOnce = 4;
constexpr int kHeadBlocks = 264;  // as many as 132 multiprocessors hold at once
template <typename Rows, int kParts, int kItems>
__global__ void __launch_bounds__(kBlock, 2)
    CopiedHeadsLogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                                   AttentionWeightsOnDevice weights, const __nv_bfloat16* grad_out,
                                   AttentionGradients gradients) {
  __shared__ float warp_sums[kWarps][kBlockColumns];
  using Group = LaneGroup<kParts, PaddedItems(kItems)>;
  using Turns = CopiedTurns<Rows, Group, kItems, kHeadsAtOnce>;
  constexpr int kGroups = kBlock / kParts, kPair = 2;
  const int32_t all_rows = RowsAfter(header, number);
  if (static_cast<int32_t>(blockIdx.x) * kGroups >= all_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Group group(lane);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x * kGroups + threadIdx.x / kParts);
  const int32_t warp_row = first_row - lane / kParts;  // all lanes of a warp take equally many turns
  const int32_t stride = kHeadBlocks * kGroups;
  const int64_t partial_size = int64_t{2} * heads * shape.width;
  float* partial = gradients.partials + static_cast<int64_t>(blockIdx.x) * partial_size;
  uint4* ring = DynamicShared<uint4>() + threadIdx.x / 32 * (2 * Turns::kStride) + lane;

  for (int32_t first_head = 0; first_head < heads; first_head += kHeadsAtOnce) {
    const int32_t heads_now = min(kHeadsAtOnce, heads - first_head);
    Float8 grad_source[kHeadsAtOnce] = {}, grad_destination[kHeadsAtOnce] = {};
    Turns turns(rows, slots, group, first_row, all_rows, stride, vectors, ring);
    const auto start = [&] {
      turns.Start(grad_out + (static_cast<int64_t>(turns.row) * heads + first_head) * shape.width, heads_now);
    };
    float next_alpha[kHeadsAtOnce];
    const auto take_alphas = [&] {  // the alphas of the lane's item in the turn being copied
      const ItemValues alphas = ValuesOf(weights.slots, weights.self, heads, slots, turns.row, heads);
      const bool has_item = group.item < kItems && group.item < turns.copied.items.count;
#pragma unroll
      for (int h = 0; h < kHeadsAtOnce; ++h) next_alpha[h] = has_item && h < heads_now ? alphas.At(group.item, first_head + h) : 0.0f;
    };
    start();
    take_alphas();
    for (int32_t turn = 0; warp_row + turn < all_rows; turn += stride) {
      const int32_t row = turns.row, count = turns.copied.items.count;
      const bool active = row < all_rows, in_row = turns.in_row();
      const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
      float alpha[kHeadsAtOnce];
#pragma unroll
      for (int h = 0; h < kHeadsAtOnce; ++h) alpha[h] = next_alpha[h];
      turns.Advance();
      start();
      take_alphas();
      AwaitCopies<1>();
      turns.PutOnes();
#pragma unroll
      for (int first = 0; first < kHeadsAtOnce; first += kPair) {  // a row is widened once for a pair of heads
        if (first >= heads_now) continue;
        Float8 g[kPair];
        float dots[kPair][PaddedItems(kItems)] = {}, value[kPair], total[kPair];
#pragma unroll
        for (int p = 0; p < kPair; ++p) g[p] = turns.TakeGradient(in_row && first + p < heads_now, first + p);
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          const Float8 x = WidenRaw8(turns.Item(in_row && i < count, i));
#pragma unroll
          for (int p = 0; p < kPair; ++p) dots[p][i] = Dot8(g[p], x);
        }
#pragma unroll
        for (int p = 0; p < kPair; ++p) {
          const int h = first + p;
          const float dot = group.SumByItem(dots[p]);
          const float expected = group.SumOfItems(fabsf(alpha[h]) * dot);
          value[p] = fabsf(alpha[h]) * (alpha[h] < 0.0f ? shape.negative_slope : 1.0f) * (dot - expected);
          total[p] = group.SumOfItems(value[p]);
          if (h < heads_now && group.speaks() && group.item < kItems && group.item < count) {
            gradient.At(group.item, first_head + h) = value[p];
          }
          if (h < heads_now && active && group.part == 0) gradient.self[heads + first_head + h] = total[p];
        }
        AwaitCopies<1>();  // the items are read again below, which saves registers
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          const Float8 x = WidenRaw8(turns.Item(in_row && i < count, i));
#pragma unroll
          for (int p = 0; p < kPair; ++p) {
            AddScaled8(group.Of(i, value[p]), x, grad_source[first + p]);
            if (i == 0) AddScaled8(total[p], x, grad_destination[first + p]);
          }
        }
      }
    }
    AwaitCopies<0>();  // before the next heads' copies
    const bool stores = lane < kParts && group.part < vectors;
#pragma unroll
    for (int h = 0; h < kHeadsAtOnce; ++h) {
      if (h >= heads_now) continue;
#pragma unroll
      for (int i = 0; i < 8 && kParts == 16; ++i) {
        grad_source[h].v[i] += __shfl_xor_sync(kFullWarp, grad_source[h].v[i], 16);
        grad_destination[h].v[i] += __shfl_xor_sync(kFullWarp, grad_destination[h].v[i], 16);
      }
      StoreBlockSum(warp_sums, grad_source[h], stores, group.part, shape.width,
                    partial + static_cast<int64_t>(first_head + h) * shape.width);
      StoreBlockSum(warp_sums, grad_destination[h], stores, group.part, shape.width,
                    partial + (static_cast<int64_t>(heads) + first_head + h) * shape.width);
    }
  }
  // JoinPartialsKernel adds up GradientBlocks partial sums, and this kernel has fewer blocks: the rest are zeros.
  const int32_t other_block = static_cast<int32_t>(blockIdx.x) + kHeadBlocks;
  if (other_block >= GradientBlocks(shape.width) || other_block * kGroups >= all_rows) return;
  for (auto i = static_cast<int64_t>(threadIdx.x); i < partial_size; i += kBlock) {
    gradients.partials[other_block * partial_size + i] = 0;
  }
}

template <typename Rows>
// Returns columns vector * 8 … vector * 8 + 7 of the row at `row_place`, scaled.
__device__ Float8 WideValue(const Rows& rows, int32_t row_place, int32_t vector) {
  Float8 x = WidenRaw8(rows.Make(rows.Fetch(row_place, vector)));
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= rows.Scale();
  return x;
}

// Computes values.At(item, h) = v . x_item for all items of the row, where rows are wider than a warp.
// `columns_of(vector)` returns eight columns of v.
template <typename Rows, typename Columns>
__device__ void DotItems(const Rows& rows, const Items& items, int32_t vectors, int lane, const ItemValues& values, int32_t h,
                         const Columns& columns_of) {
  for (int32_t item = 0; item < items.count; ++item) {
    const int32_t row_place = rows.Place(items[item]);
    float sum = 0;
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      sum += Dot8(columns_of(vector), WideValue(rows, row_place, vector));
    }
    sum = WarpSum(sum);
    if (lane == 0) values.At(item, h) = sum;
  }
  __syncwarp();
}

template <typename Rows, typename Out>
__global__ void __launch_bounds__(kBlock)
    WideAttentionKernel(Rows rows, Slots slots, int number, AttentionShape shape, const float* folded,
                        const BatchHeader* header, AttentionWeightsOnDevice weights, Out* out) {
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8;
  const Items items = ItemsOf(slots, row, rows.Self(row));
  const ItemValues stored_weights = ValuesOf(weights.slots, weights.self, shape.heads, slots, row, shape.heads);

  for (int32_t h = 0; h < shape.heads; ++h) {
    const float* as_source = folded + static_cast<int64_t>(h) * shape.width;
    const float* as_destination = as_source + static_cast<int64_t>(shape.heads) * shape.width;
    float destination_score = 0;  // the score as a destination, a term of each of its logits
    const int32_t self_place = rows.Place(items.self);
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      destination_score += Dot8(Load8(as_destination + vector * 8), WideValue(rows, self_place, vector));
    }
    DotItems(rows, items, vectors, lane, stored_weights, h,
             [&](int32_t vector) { return Load8(as_source + vector * 8); });
    destination_score = WarpSum(destination_score);

    float max_logit = -INFINITY;
    for (int32_t item = lane; item < items.count; item += 32) {
      if (items.Counts(item))
        max_logit = fmaxf(max_logit, LeakyRelu(shape.negative_slope, stored_weights.At(item, h) + destination_score));
    }
    max_logit = WarpMax(max_logit);
    float weight_sum = 0;
    for (int32_t item = lane; item < items.count; item += 32) {
      if (items.Counts(item))
        weight_sum +=
            __expf(LeakyRelu(shape.negative_slope, stored_weights.At(item, h) + destination_score) - max_logit);
    }
    const float inverse = 1.0f / WarpSum(weight_sum);
    for (int32_t item = lane; item < items.count; item += 32) {
      const float score = stored_weights.At(item, h) + destination_score;
      const float alpha =
          items.Counts(item) ? __expf(LeakyRelu(shape.negative_slope, score) - max_logit) * inverse : 0.0f;
      stored_weights.At(item, h) = score > 0.0f ? alpha : -alpha;
    }
    __syncwarp();

    Out* to = out + (static_cast<int64_t>(row) * shape.heads + h) * shape.width;
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      Float8 sum = {};
#pragma unroll 4
      for (int32_t item = 0; item < items.count; ++item) {
        const int32_t row_place = rows.Place(items[item]);
        const typename Rows::Made x = rows.Make(rows.Fetch(row_place, vector));
        if (weights.passes != nullptr) rows.NotePassing(weights.passes, row_place, vector, x);
        AddScaled8(rows.Scale() * fabsf(stored_weights.At(item, h)), WidenRaw8(x), sum);
      }
      Store8(to + vector * 8, sum);
    }
  }
}

template <typename Rows, typename Grad>
__global__ void __launch_bounds__(kBlock)
    WideLogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                            AttentionWeightsOnDevice weights, const Grad* grad_out, AttentionGradients gradients) {
  __shared__ float warp_sums[kWarps][kBlockColumns];
  const int32_t all_rows = RowsAfter(header, number);
  if (static_cast<int32_t>(blockIdx.x) * kWarps >= all_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x * kWarps + threadIdx.x / 32);

  for (int32_t row = first_row; row < all_rows; row += GradientBlocks(shape.width) * kWarps) {
    const Items items = ItemsOf(slots, row, rows.Self(row));
    const ItemValues alpha = ValuesOf(weights.slots, weights.self, heads, slots, row, heads);
    const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
    for (int32_t h = 0; h < heads; ++h) {
      const Grad* g = grad_out + (static_cast<int64_t>(row) * heads + h) * shape.width;
      DotItems(rows, items, vectors, lane, gradient, h, [&](int32_t vector) { return Load8(g + vector * 8); });
      float expected = 0;
      for (int32_t item = lane; item < items.count; item += 32) expected += fabsf(alpha.At(item, h)) * gradient.At(item, h);
      expected = WarpSum(expected);
      float total = 0;
      for (int32_t item = lane; item < items.count; item += 32) {
        const float weight = alpha.At(item, h);
        const float slope_factor = weight < 0.0f ? shape.negative_slope : 1.0f;
        const float value = fabsf(weight) * (gradient.At(item, h) - expected) * slope_factor;
        gradient.At(item, h) = value;
        total += value;
      }
      total = WarpSum(total);
      if (lane == 0) gradient.self[heads + h] = total;
      __syncwarp();
    }
  }

  float* partial = gradients.partials + static_cast<int64_t>(blockIdx.x) * 2 * heads * shape.width;
  for (int32_t vectors_before = 0; vectors_before < vectors; vectors_before += 32) {
    const int32_t vector = vectors_before + lane, columns = min(kBlockColumns, (vectors - vectors_before) * 8);
    const bool in_row = vector < vectors;
    for (int32_t h = 0; h < heads; ++h) {
      Float8 grad_source = {}, grad_destination = {};
      for (int32_t row = first_row; row < all_rows; row += GradientBlocks(shape.width) * kWarps) {
        const Items items = ItemsOf(slots, row, rows.Self(row));
        const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
#pragma unroll 4
        for (int32_t item = 0; item < items.count; ++item) {
          if (!in_row) continue;
          const Float8 x = WideValue(rows, rows.Place(items[item]), vector);
          AddScaled8(gradient.At(item, h), x, grad_source);
          if (item == 0) AddScaled8(gradient.self[heads + h], x, grad_destination);
        }
      }
      float* to = partial + static_cast<int64_t>(h) * shape.width + vectors_before * 8;
      StoreBlockSum(warp_sums, grad_source, in_row, lane, columns, to);
      StoreBlockSum(warp_sums, grad_destination, in_row, lane, columns, to + static_cast<int64_t>(heads) * shape.width);
    }
  }
}

struct JoinedLayers {
  FoldedGradient layers[kMaxHopsOnDevice];
};

// Sets a layer's `folded` gradient to the sum of the blocks' partials, in one order whatever the envelope. blockIdx.y
// selects the layer.
__global__ void JoinPartialsKernel(JoinedLayers layers, const BatchHeader* header) {
  __shared__ float sums[kJoinLanes][33];
  const FoldedGradient& layer = layers.layers[blockIdx.y];
  const int32_t columns = 2 * layer.shape.heads * layer.shape.width;
  const int32_t column = static_cast<int32_t>(blockIdx.x * 32 + threadIdx.x);
  if (static_cast<int32_t>(blockIdx.x) * 32 >= columns) return;
  const int32_t groups = GroupsABlock(layer.shape.width);
  const int32_t blocks = min(GradientBlocks(layer.shape.width), (RowsAfter(header, layer.hop) + groups - 1) / groups);
  float sum = 0;
  if (column < columns) {
#pragma unroll 9
    for (int32_t block = static_cast<int32_t>(threadIdx.y); block < blocks; block += kJoinLanes) {
      sum += layer.partials[static_cast<int64_t>(block) * columns + column];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int lane = 1; lane < kJoinLanes; ++lane) sum += sums[lane][threadIdx.x];
  layer.folded[column] = sum;
}

// Stores eight columns of a gradient of z. Columns whose bit is not set, which did not pass relu and dropout, become
// zero.
__device__ void StorePassing(float* p, uint32_t bits, Float8 x) {
  Keep8(bits, 1.0f, x);
  Store8(p, x);
}
__device__ void StorePassing(__nv_bfloat16* p, uint32_t bits, const Float8& x) {
  uint32_t packed_pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x.v[2 * i], x.v[2 * i + 1]);
    packed_pairs[i] = KeptPair(Spread(bits), i, *reinterpret_cast<const uint32_t*>(&pair));
  }
  *reinterpret_cast<uint4*>(p) = make_uint4(packed_pairs[0], packed_pairs[1], packed_pairs[2], packed_pairs[3]);
}

// Each warp handles kSources consecutive sources, and sums up what reaches a source through its slots, its own row and
// its logits. Lane e * kSources + s looks up slot e of source s. The first row of grad_out of each source is in flight
// before any is summed up, because most sources have no other.
template <typename T, bool kOneHead>
__global__ void __launch_bounds__(kBlock, kOneHead ? 4 : 3)
    SourceGradientKernel(HopOnDevice hop, int number, AttentionShape shape, const float* folded, AttentionInput input,
                         const BatchHeader* header, AttentionWeightsOnDevice weights, const T* grad_out,
                         int32_t padded_sources, AttentionGradients gradients, T* grad_z) {
  constexpr int kSources = SourcesAWarp<T>(kOneHead), kSlots = 4;
  static_assert(kSources * kSlots <= 32);
  const int32_t base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kSources;
  if (base >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8, heads = kOneHead ? 1 : shape.heads, fanout = hop.fanout;
  const int32_t sources = RowsAfter(header, number + 1), destinations = RowsAfter(header, number);
  const bool by_bits = input.activation == Activation::kRelu && weights.passes != nullptr;  // z need not be read
  const uint8_t* bits = weights.passes != nullptr ? weights.passes : input.kept;
  const float scale = bits != nullptr ? input.scale : 1.0f;
  const T* z = static_cast<const T*>(input.z);

  const int32_t own_source = base + lane % kSources;
  const bool has_source = own_source < sources;
  const int32_t begin = has_source ? __ldg(hop.first + own_source) : 0,
                end = has_source ? __ldg(hop.end + own_source) : 0;
  const int32_t sorted_index = begin + lane / kSources;
  const bool looks_up = lane < kSources * kSlots && sorted_index < end;
  const uint32_t slot = looks_up ? __ldg(hop.sorted_slots + sorted_index) : 0;
  const int32_t row = static_cast<int32_t>(slot / static_cast<uint32_t>(fanout));

  for (int32_t vectors_before = 0; vectors_before < vectors; vectors_before += 32) {
    const int32_t vector = vectors_before + lane;
    const bool in_row = vector < vectors;
    uint32_t passing[kSources];
#pragma unroll
    for (int s = 0; s < kSources; ++s) {
      passing[s] = bits != nullptr && in_row && base + s < sources
                       ? __ldg(bits + static_cast<int64_t>(base + s) * vectors + vector)
                       : 0xffu;
    }
    Float8 sums[kSources] = {};  // sums over the previous heads
    for (int32_t h = 0; h < heads; ++h) {
      const T* grad = grad_out + static_cast<int64_t>(h) * shape.width + vector * 8;
      const int64_t stride = static_cast<int64_t>(heads) * shape.width;
      const float* as_source = folded + static_cast<int64_t>(h) * shape.width + vector * 8;
      float weight = 0, logit_grad = 0, self_weight = 0, self_logit_grad = 0, destination_grad = 0;
      if (looks_up) {
        weight = scale * fabsf(weights.slots[static_cast<int64_t>(slot) * heads + h]);
        logit_grad = gradients.slots[static_cast<int64_t>(slot) * heads + h];
      }
      if (own_source < destinations) {
        self_weight = scale * fabsf(weights.self[static_cast<int64_t>(own_source) * heads + h]);
        self_logit_grad = gradients.self[static_cast<int64_t>(own_source) * 2 * heads + h];
        destination_grad = scale * gradients.self[(static_cast<int64_t>(own_source) * 2 + 1) * heads + h];
      }
      Raw8<T> first_grads[kSources];
#pragma unroll
      for (int s = 0; s < kSources; ++s) {
        const int32_t slot_row = __shfl_sync(kFullWarp, row, s);
        first_grads[s] = {};
        if (__shfl_sync(kFullWarp, begin < end ? 1 : 0, s) != 0 && in_row)
          first_grads[s] = LoadRaw8(grad + slot_row * stride);
      }
      // Sums the logit gradients of a source's first slots and of its own row, for all sources of the warp at once.
#pragma unroll
      for (int offset = kSources; offset < 32; offset *= 2)
        logit_grad += __shfl_xor_sync(kFullWarp, logit_grad, offset);
      logit_grad = scale * (logit_grad + self_logit_grad);
      const Float8 source_vector = in_row ? Load8(as_source) : Float8{};
#pragma unroll
      for (int s = 0; s < kSources; ++s) {
        const int32_t source = base + s;
        if (source >= sources) continue;
        Float8 sum = {};
        AddScaled8(__shfl_sync(kFullWarp, weight, s), WidenRaw8(first_grads[s]), sum);
        const int32_t first_index = __shfl_sync(kFullWarp, begin, s),
                      slot_count = __shfl_sync(kFullWarp, end, s) - first_index;
        float later_logit_grads = 0;
        if (slot_count > 1) {
#pragma unroll
          for (int e = 1; e < kSlots; ++e) {
            const int32_t slot_row = __shfl_sync(kFullWarp, row, e * kSources + s);
            const float slot_weight = __shfl_sync(kFullWarp, weight, e * kSources + s);
            if (e < slot_count && in_row) AddScaled8(slot_weight, Load8(grad + slot_row * stride), sum);
          }
          for (int32_t chunk_first = first_index + kSlots; chunk_first < first_index + slot_count;
               chunk_first += 32) {  // 32 at a time, then broadcast
            int32_t chunk_row = 0;
            float chunk_weight = 0, chunk_logit_grad = 0;
            if (chunk_first + lane < first_index + slot_count) {
              const int64_t at = hop.sorted_slots[chunk_first + lane];
              chunk_row = static_cast<int32_t>(at) / fanout;
              chunk_weight = scale * fabsf(weights.slots[at * heads + h]);
              chunk_logit_grad = scale * gradients.slots[at * heads + h];
            }
            const int32_t chunk = min(32, first_index + slot_count - chunk_first);
#pragma unroll 4
            for (int j = 0; j < chunk; ++j) {
              const int32_t slot_row = __shfl_sync(kFullWarp, chunk_row, j);
              const float slot_weight = __shfl_sync(kFullWarp, chunk_weight, j);
              if (in_row) AddScaled8(slot_weight, Load8(grad + slot_row * stride), sum);
            }
            later_logit_grads += WarpSum(chunk_logit_grad);
          }
        }
        AddScaled8(__shfl_sync(kFullWarp, logit_grad, s) + later_logit_grads, source_vector, sum);
        if (source < destinations) {
          const float slot_weight = __shfl_sync(kFullWarp, self_weight, s),
                      slot_destination_grad = __shfl_sync(kFullWarp, destination_grad, s);
          if (in_row) AddScaled8(slot_weight, Load8(grad + source * stride), sum);
          if (in_row)
            AddScaled8(slot_destination_grad, Load8(as_source + static_cast<int64_t>(heads) * shape.width), sum);
        }
        if (!kOneHead) {
          Add8(sums[s], sum);
          sums[s] = sum;
          if (h + 1 < heads) continue;
        }
        if (!in_row) continue;
        const int64_t at = static_cast<int64_t>(source) * vectors + vector;
        if (!by_bits) ActivationSlope8(input.activation, nullptr, 0, Load8(z + at * 8), sum);
        StorePassing(grad_z + at * 8, passing[s], sum);
      }
    }
#pragma unroll
    for (int s = 0; s < kSources; ++s) {
      const int64_t source = base + s;
      if (source >= sources && source < padded_sources && in_row) Store8(grad_z + (source * vectors + vector) * 8, Float8{});
    }
  }
}

struct MaskedLayers {
  MaskedLayer layers[kMaxHopsOnDevice];
};

// Makes dropout's bits with eight lanes per row, each of which makes four bytes at a time. There is one block per
// multiprocessor, because this arithmetic must leave room for a concurrent kernel, which waits for memory.
__global__ void __launch_bounds__(kBlock)
    DropoutBitsKernel(MaskedLayers masked_layers, int layers, const RunState* state, const BatchHeader* header,
                      const int32_t* nodes) {
  const int32_t stride = static_cast<int32_t>(gridDim.x * blockDim.x / 8);
  for (int l = 0; l < layers; ++l) {
    const MaskedLayer& layer = masked_layers.layers[l];
    const int32_t rows = RowsAfter(header, layer.number), vectors = layer.width / 8;
    const DropoutKey key = MaskKey(layer.mask, state, header);
    for (int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 8); row < rows; row += stride) {
      const uint32_t node = static_cast<uint32_t>(__ldg(nodes + row));
      uint8_t* row_bits = layer.kept + static_cast<int64_t>(row) * vectors;
      for (int32_t first = static_cast<int32_t>(threadIdx.x % 8) * 4; first < vectors; first += 32) {
        uint32_t four_bytes = 0;
#pragma unroll
        for (int32_t j = 0; j < 4; ++j) {
          Float8 ones = {{1, 1, 1, 1, 1, 1, 1, 1}};
          Drop8(key, node, static_cast<uint32_t>(first + j), ones);
          four_bytes |= PositiveBits(ones) << 8 * j;
        }
        if (vectors % 4 == 0) {
          *reinterpret_cast<uint32_t*>(row_bits + first) = four_bytes;
        } else {
          for (int32_t j = 0; j < 4 && first + j < vectors; ++j)
            row_bits[first + j] = static_cast<uint8_t>(four_bytes >> 8 * j);
        }
      }
    }
  }
}

template <int kLanes>
__global__ void __launch_bounds__(kBlock)
    DrawNeighborsKernel(GraphOnDevice graph, int number, OuterHopOnDevice outer, const RunState* state,
                        const BatchHeader* header, const int32_t* nodes) {
  const int32_t rows = RowsAfter(header, number);
  const DrawKey key = {state->seed, header->step, header->epoch, static_cast<uint32_t>(number)};
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / kLanes);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool active = row < rows;
  const uint32_t node = active ? static_cast<uint32_t>(nodes[row]) : 0;
  const int64_t begin = active ? __ldg(graph.row_offsets + node) : 0;
  const int32_t degree = active ? static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - begin) : 0;
  const int32_t slot = PickSlot<kLanes>(key, node, degree, outer.fanout, lane);
  const int32_t count = min(degree, outer.fanout);
  if (!active || lane >= outer.fanout) return;
  outer.neighbors[static_cast<int64_t>(row) * outer.fanout + lane] = lane < count ? __ldg(graph.columns + begin + slot) : -1;
  if (lane == 0) outer.counts[row] = count;
}

struct FoldedLayers {
  FoldedLayer layers[kMaxHopsOnDevice];
};
struct UnfoldedLayers {
  UnfoldedLayer layers[kMaxHopsOnDevice];
};

// Folds with one block per 32 columns of one of a layer's 2 * heads vectors; the block's rows of threads share the sum
// over the head's columns.
__global__ void FoldKernel(FoldedLayers layers) {
  __shared__ float sums[kJoinLanes][33];
  const FoldedLayer& layer = layers.layers[blockIdx.z];
  const int32_t width = layer.shape.width, heads = layer.shape.heads, head_width = layer.head_width;
  if (static_cast<int32_t>(blockIdx.x) * 32 >= width || static_cast<int32_t>(blockIdx.y) >= 2 * heads) return;
  const int32_t column = static_cast<int32_t>(blockIdx.x * 32 + threadIdx.x);
  const int32_t vector = static_cast<int32_t>(blockIdx.y), h = vector % heads;
  const float* attention = (vector < heads ? layer.att_src : layer.att_dst) + static_cast<int64_t>(h) * head_width;
  float sum = 0;
  if (column < width) {
#pragma unroll 8
    for (int32_t c = static_cast<int32_t>(threadIdx.y); c < head_width; c += kJoinLanes) {
      sum += attention[c] * layer.weight[(static_cast<int64_t>(h) * head_width + c) * layer.weight_stride + column];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
  for (int lane = 1; lane < kJoinLanes; ++lane) sum += sums[lane][threadIdx.x];
  layer.folded[static_cast<int64_t>(vector) * width + column] = sum;
}

// Computes the gradients of UnfoldedLayer with one warp per row of a layer's weight.
__global__ void UnfoldKernel(UnfoldedLayers layers) {
  const UnfoldedLayer& layer = layers.layers[blockIdx.y];
  const FoldedLayer& forward = layer.forward;
  const int32_t width = forward.shape.width, heads = forward.shape.heads, head_width = forward.head_width;
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= heads * head_width) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* grad_source = layer.grad_folded + static_cast<int64_t>(row / head_width) * width;
  const float* grad_destination = grad_source + static_cast<int64_t>(heads) * width;
  const float att_src = forward.att_src[row], att_dst = forward.att_dst[row];
  float att_src_sum = 0, att_dst_sum = 0;
#pragma unroll 8
  for (int32_t column = lane; column < width; column += 32) {
    const int64_t at = static_cast<int64_t>(row) * forward.weight_stride + column;
    att_src_sum += forward.weight[at] * grad_source[column];
    att_dst_sum += forward.weight[at] * grad_destination[column];
    layer.grad_weight[at] += att_src * grad_source[column] + att_dst * grad_destination[column];
  }
  att_src_sum = WarpSum(att_src_sum);
  att_dst_sum = WarpSum(att_dst_sum);
  if (lane != 0) return;
  layer.grad_att_src[row] = att_src_sum;
  layer.grad_att_dst[row] = att_dst_sum;
}

// Calls launch.template operator()<kParts, kItems, kWhole>() with the values that suit the rows' width, the fanout and
// the row type. Inner hops of two-byte rows get more registers, and more instances of the kernel.
template <typename Rows, int kParts, typename With>
cudaError_t WithItems(int32_t fanout, const With& with) {
  if constexpr (std::is_same_v<Rows, PlainRows>) {
    if (fanout < 11) return with.template operator()<kParts, 11, true>();
    if (fanout < 16) return with.template operator()<kParts, 16, true>();
  } else if constexpr (Rows::kOfGraph) {
    if (fanout < 6) return with.template operator()<kParts, 6, true>();
  }
  return with.template operator()<kParts, 6, false>();
}
template <typename Rows, typename With>
cudaError_t WithGroups(int32_t width, int32_t fanout, const With& with) {
  return GroupsABlock(width) == kWarps ? WithItems<Rows, 32>(fanout, with) : WithItems<Rows, 16>(fanout, with);
}

// Launches the kernel with `shared` bytes of dynamic shared memory, which may exceed the default limit.
template <typename Kernel, typename... Arguments>
cudaError_t LaunchShared(Kernel kernel, int blocks, int shared, cudaStream_t stream, Arguments&&... arguments) {
  if (shared > 0) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (error != cudaSuccess) return error;
  }
  return Launch(kernel, blocks, kBlock, static_cast<size_t>(shared), stream, std::forward<Arguments>(arguments)...);
}

template <typename Rows, typename Out>
cudaError_t LaunchAttention(const Rows& rows, const Slots& slots, int32_t envelope, int number,
                            const AttentionShape& shape, const float* folded, const BatchHeader* header,
                            const AttentionWeightsOnDevice& weights, void* out, cudaStream_t stream) {
  const int blocks = Blocks(envelope, GroupsABlock(shape.width));
  const auto launch = [&](auto kernel, int blocks_used, int shared) {
    return LaunchShared(kernel, blocks_used, shared, stream, rows, slots, number, shape, folded, header, weights,
                        static_cast<Out*>(out));
  };
  if (shape.width > kBlockColumns) return launch(WideAttentionKernel<Rows, Out>, blocks, 0);
  return WithGroups<Rows>(shape.width, slots.fanout, [&]<int kParts, int kItems, bool kWhole>() {
    if constexpr (kCopied<Rows, kWhole>) {
      return launch(CopiedAttentionKernel<Rows, Out, kParts, kItems>, std::min(GradientBlocks(shape.width), blocks),
                    kCopyBytes<kItems>);
    } else {
      return launch(AttentionKernel<Rows, Out, kParts, kItems, kWhole>, blocks, 0);
    }
  });
}

template <typename Rows, typename Grad>
cudaError_t LaunchLogitGradient(const Rows& rows, const Slots& slots, int32_t envelope, int number,
                                const AttentionShape& shape, const BatchHeader* header,
                                const AttentionWeightsOnDevice& weights, const void* grad_out,
                                const AttentionGradients& gradients, cudaStream_t stream) {
  const int blocks = std::min(GradientBlocks(shape.width), Blocks(envelope, GroupsABlock(shape.width)));
  const auto launch = [&](auto kernel, int shared) {
    return LaunchShared(kernel, blocks, shared, stream, rows, slots, number, shape, header, weights,
                        static_cast<const Grad*>(grad_out), gradients);
  };
  if (shape.width > kBlockColumns) return launch(WideLogitGradientKernel<Rows, Grad>, 0);
  return WithGroups<Rows>(shape.width, slots.fanout, [&]<int kParts, int kItems, bool kWhole>() {
    if constexpr (kCopied<Rows, kWhole>) {
      if constexpr (Rows::kAppendsOne && std::is_same_v<Grad, __nv_bfloat16>) {
        // With one head there is nothing to read once for several: the plain copied kernel has more blocks in flight.
        if (shape.heads > 1) {
          return LaunchShared(CopiedHeadsLogitGradientKernel<Rows, kParts, kItems>, std::min(kHeadBlocks, blocks),
                              kCopyBytes<kItems, kHeadsAtOnce>, stream, rows, slots, number, shape, header, weights,
                              static_cast<const Grad*>(grad_out), gradients);
        }
      }
      return launch(CopiedLogitGradientKernel<Rows, Grad, kParts, kItems>, kCopyBytes<kItems>);
    } else {
      return launch(LogitGradientKernel<Rows, Grad, kParts, kItems, kWhole>, 0);
    }
  });
}

// Calls `with` with a null pointer of the element's type, from which a generic lambda learns the type.
template <typename With>
cudaError_t WithActivations(Element element, const With& with) {
  switch (element) {
    case Element::kFloat32: return with(static_cast<const float*>(nullptr));
    case Element::kBFloat16: return with(static_cast<const __nv_bfloat16*>(nullptr));
    case Element::kFloat16: break;
  }
  return cudaErrorInvalidValue;
}
template <typename With>
cudaError_t WithFeatures(Element element, const With& with) {
  if (element == Element::kFloat16) return with(static_cast<const __half*>(nullptr));
  return WithActivations(element, with);
}

// Calls `with` with the rows that a layer reads.
template <typename T, typename With>
cudaError_t WithRowsOf(const T*, const AttentionInput& input, const AttentionShape& shape, const uint8_t* kept, const With& with) {
  const T* z = static_cast<const T*>(input.z);
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    const bool clips = input.activation == Activation::kRelu;
    if (clips || input.activation == Activation::kIdentity) {
      return with(PlainRows{z, shape.width / 8, clips, kept != nullptr ? input.scale : 1.0f, kept});
    }
  }
  return with(HiddenRows<T>{z, shape.width / 8, input.activation, input.scale, kept});
}

// Calls `with` with the graph's feature rows. If `one` is not below zero, each row x is read as [x, 1], with the 1 in
// column `one`.
template <typename In, typename With>
cudaError_t WithFeatureRows(const GraphOnDevice& graph, const int32_t* nodes, int32_t one, const With& with) {
  if (one >= 0) {
    using Any = RowsOfAnyTier<In>;
    return with(FeatureRowsAndOne<In, Any>{{Any(graph), nodes}, graph.feature_vectors, one});
  }
  return WithRows<In>(graph, [&]<typename Features>(const Features& features) {
    return with(FeatureRows<In, Features>{features, nodes});
  });
}

// Returns the layers as a kernel's argument, with their largest size.
template <typename Argument, typename Layer>
Argument ArgumentOfLayers(std::span<const Layer> layers) {
  Argument argument;
  std::copy(layers.begin(), layers.end(), argument.layers);
  return argument;
}
template <typename Layer, typename Of>
int32_t MostOverLayers(std::span<const Layer> layers, const Of& value_of) {
  int32_t most = 1;
  for (const Layer& layer : layers) most = std::max(most, value_of(layer));
  return most;
}

}  // namespace

int64_t AttentionPartials(int32_t rows, const AttentionShape& shape) {
  return static_cast<int64_t>(std::min(GradientBlocks(shape.width), Blocks(rows, GroupsABlock(shape.width)))) * 2 * shape.heads * shape.width;
}

cudaError_t EnqueueFoldAttention(std::span<const FoldedLayer> layers, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHopsOnDevice) return cudaErrorInvalidValue;
  const dim3 grid(static_cast<unsigned>(Blocks(MostOverLayers(layers, [](const FoldedLayer& l) { return l.shape.width; }), 32)),
                  static_cast<unsigned>(MostOverLayers(layers, [](const FoldedLayer& l) { return 2 * l.shape.heads; })),
                  static_cast<unsigned>(layers.size()));
  return Launch(FoldKernel, grid, dim3(32, kJoinLanes), 0, stream, ArgumentOfLayers<FoldedLayers>(layers));
}

cudaError_t EnqueueJoinFolded(std::span<const FoldedGradient> layers, const BatchHeader* header, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHopsOnDevice) return cudaErrorInvalidValue;
  const int32_t columns = MostOverLayers(layers, [](const FoldedGradient& l) { return 2 * l.shape.heads * l.shape.width; });
  return Launch(JoinPartialsKernel, dim3(static_cast<unsigned>(Blocks(columns, 32)), static_cast<unsigned>(layers.size())),
                dim3(32, kJoinLanes), 0, stream, ArgumentOfLayers<JoinedLayers>(layers), header);
}

cudaError_t EnqueueUnfoldAttention(std::span<const UnfoldedLayer> layers, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHopsOnDevice) return cudaErrorInvalidValue;
  const int32_t rows = MostOverLayers(layers, [](const UnfoldedLayer& l) { return l.forward.shape.heads * l.forward.head_width; });
  return Launch(UnfoldKernel, dim3(static_cast<unsigned>(Blocks(rows, kWarps)), static_cast<unsigned>(layers.size())),
                kBlock, 0, stream, ArgumentOfLayers<UnfoldedLayers>(layers));
}

cudaError_t EnqueueDropoutBits(std::span<const MaskedLayer> layers, const RunState* state, const BatchHeader* header,
                               const int32_t* nodes, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHopsOnDevice) return cudaErrorInvalidValue;
  const int32_t rows = MostOverLayers(layers, [](const MaskedLayer& l) { return l.rows; });
  return Launch(DropoutBitsKernel, std::min(kBitsBlocks, Blocks(rows, kBlock / 8)), kBlock, 0, stream,
                ArgumentOfLayers<MaskedLayers>(layers), static_cast<int>(layers.size()), state, header, nodes);
}

cudaError_t EnqueueAttention(const HopOnDevice& hop, int number, const AttentionShape& shape, const float* folded,
                             Element element, const AttentionInput& input, const BatchHeader* header,
                             const AttentionWeightsOnDevice& weights, void* out, cudaStream_t stream) {
  const Slots slots{hop.fanout, hop.columns, hop.counts};
  return WithActivations(element, [&]<typename T>(const T* type) {
    return WithRowsOf(type, input, shape, input.kept, [&]<typename Rows>(const Rows& rows) {
      return LaunchAttention<Rows, T>(rows, slots, hop.rows, number, shape, folded, header, weights, out, stream);
    });
  });
}

cudaError_t EnqueueAttentionBackward(const HopOnDevice& hop, int number, const AttentionShape& shape,
                                     const float* folded, Element element, const AttentionInput& input,
                                     const BatchHeader* header, const AttentionWeightsOnDevice& weights,
                                     const void* grad_out, int32_t padded_sources, const AttentionGradients& gradients,
                                     void* grad_z, cudaStream_t stream) {
  const Slots slots{hop.fanout, hop.columns, hop.counts};
  return WithActivations(element, [&]<typename T>(const T* type) {
    const uint8_t* kept = weights.passes != nullptr ? weights.passes : input.kept;
    const cudaError_t error = WithRowsOf(type, input, shape, kept, [&]<typename Rows>(const Rows& rows) {
      return LaunchLogitGradient<Rows, T>(rows, slots, hop.rows, number, shape, header, weights, grad_out, gradients, stream);
    });
    if (error != cudaSuccess) return error;
    const bool one_head = shape.heads == 1;
    return Launch(one_head ? SourceGradientKernel<T, true> : SourceGradientKernel<T, false>,
                  Blocks(padded_sources, kWarps * SourcesAWarp<T>(one_head)), kBlock, 0, stream, hop, number, shape, folded,
                  input, header, weights, static_cast<const T*>(grad_out), padded_sources, gradients,
                  static_cast<T*>(grad_z));
  });
}

cudaError_t EnqueueDrawNeighbors(const GraphOnDevice& graph, int number, const OuterHopOnDevice& outer,
                                 const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                 cudaStream_t stream) {
  // A fanout above a warp's lanes needs a wider group than DrawNeighborsKernel has.
  if (outer.fanout > kNarrowFanout) {
    return EnqueueWideDraw(graph, number, outer.fanout, outer.rows, outer.neighbors, outer.counts, state, header, nodes,
                           stream);
  }
  if (outer.fanout <= 8) {
    return Launch(DrawNeighborsKernel<8>, Blocks(outer.rows, kBlock / 8), kBlock, 0, stream, graph, number, outer, state,
                  header, nodes);
  }
  if (outer.fanout <= 16) {
    return Launch(DrawNeighborsKernel<16>, Blocks(outer.rows, kBlock / 16), kBlock, 0, stream, graph, number, outer,
                  state, header, nodes);
  }
  return Launch(DrawNeighborsKernel<32>, Blocks(outer.rows, kBlock / 32), kBlock, 0, stream, graph, number, outer, state,
                header, nodes);
}

cudaError_t EnqueueFeatureAttention(const GraphOnDevice& graph, Element feature_element, int number,
                                    const OuterHopOnDevice& outer, const AttentionShape& shape, const float* folded,
                                    const BatchHeader* header, const int32_t* nodes,
                                    const AttentionWeightsOnDevice& weights, Element out_element, void* out,
                                    cudaStream_t stream, int32_t one) {
  const Slots slots{outer.fanout, outer.neighbors, outer.counts};
  return WithFeatures(feature_element, [&]<typename In>(const In*) {
    return WithActivations(out_element, [&]<typename Out>(const Out*) {
      return WithFeatureRows<In>(graph, nodes, one, [&]<typename Rows>(const Rows& rows) {
        return LaunchAttention<Rows, Out>(rows, slots, outer.rows, number, shape, folded, header, weights, out, stream);
      });
    });
  });
}

cudaError_t EnqueueFeatureAttentionBackward(const GraphOnDevice& graph, Element feature_element, int number,
                                            const OuterHopOnDevice& outer, const AttentionShape& shape,
                                            const BatchHeader* header, const int32_t* nodes,
                                            const AttentionWeightsOnDevice& weights, Element grad_element,
                                            const void* grad_out, const AttentionGradients& gradients,
                                            cudaStream_t stream, int32_t one) {
  const Slots slots{outer.fanout, outer.neighbors, outer.counts};
  return WithFeatures(feature_element, [&]<typename In>(const In*) {
    return WithActivations(grad_element, [&]<typename Grad>(const Grad*) {
      return WithFeatureRows<In>(graph, nodes, one, [&]<typename Rows>(const Rows& rows) {
        return LaunchLogitGradient<Rows, Grad>(rows, slots, outer.rows, number, shape, header, weights, grad_out, gradients,
                                               stream);
      });
    });
  });
}

}  // namespace hone::gnn::cuda
