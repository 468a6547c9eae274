// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of attention_kernels.h.
//
// A row of up to 256 columns is held by a group of 16 or 32 lanes, eight columns each, which takes a destination: it loads
// up to six items at once, sums up their logits, and uses the rows again while they are in its registers. Wider rows are
// taken in column blocks by whole warps, which read them once for the logits and again for the sums.
//
// Every sum has one order, whatever the envelope: that of items within a destination, and for `folded` that of the
// destinations of a group, of the groups of a block, and of kGradientBlocks blocks.
#include "gnn/cuda/attention_kernels.h"

#include <algorithm>

#include "gnn/cuda/attention_rows.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kItems = 6;           // that a lane has on their way at once
constexpr int kBlockColumns = 256;  // that a warp reads at once
constexpr int kGradientBlocks = 396;  // at most, that share the destinations out
constexpr int kJoinLanes = 32;        // that add up the partials of a column
constexpr int kSources = 2;         // that a warp has under way at once

int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }
__host__ __device__ int GroupsABlock(int32_t width) { return kBlock / (width <= 128 ? 16 : 32); }

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
__device__ float LeakyRelu(float slope, float x) { return x > 0.0f ? x : slope * x; }

// One destination as its group of lanes sees it; a group past the batch's rows has no items, and does what others do.
template <typename Rows, int kParts>
struct GroupRow {
  Items items;
  int32_t self_place = 0;
  __device__ GroupRow(const Rows& rows, const Slots& slots, int32_t row, bool active) {
    items = active ? ItemsOf(slots, row, rows.Self(row)) : Items{slots.sources, 0, 0};
    self_place = active ? rows.Place(items.self) : 0;
  }
  // Item first + the lane's own: its place, and whether it is attended to.
  __device__ int32_t Place(const Rows& rows, const LaneGroup<kParts>& group, int32_t first, bool* counts) const {
    const int32_t item = first + group.item;
    *counts = group.item < kItems && item < items.count;
    if (!*counts || item == 0) return self_place;
    const int32_t source = __ldg(items.sources + item - 1);
    *counts = source != items.self;
    return rows.Place(source);
  }
};

// Softmax over a destination's items as they come, and their weighted sum: one pass over rows that stay in registers
// while their weights are found. kWhole: they all fit.
template <typename Rows, typename Out, int kParts, bool kWhole>
__global__ void __launch_bounds__(kBlock, kWhole ? 4 : 3)
    AttentionKernel(Rows rows, Slots slots, int number, AttentionShape shape, const float* folded,
                    const BatchHeader* header, AttentionWeightsOnDevice weights, Out* out) {
  const int32_t all_rows = RowsAfter(header, number);
  const int32_t thread = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (thread / 32 * (32 / kParts) >= all_rows) return;
  const int32_t row = thread / kParts;
  const bool active = row < all_rows;
  const LaneGroup<kParts> group(static_cast<int>(threadIdx.x % 32));
  const int32_t vectors = shape.width / 8;
  const bool mine = active && group.part < vectors;
  const bool speaks = group.part % LaneGroup<kParts>::kLanesAnItem == 0;  // for its item
  const GroupRow<Rows, kParts> of(rows, slots, row, active);
  const int32_t count = of.items.count;
  const ItemValues kept = ValuesOf(weights.slots, weights.self, shape.heads, slots, row, shape.heads);

  for (int32_t h = 0; h < shape.heads; ++h) {
    const float* as_source = folded + static_cast<int64_t>(h) * shape.width + group.part * 8;
    const float* as_destination = as_source + static_cast<int64_t>(shape.heads) * shape.width;
    const Float8 by_source = mine ? Load8(as_source) : Float8{};
    float own = 0, top = -INFINITY, total = 0;  // own: what the destination gives to each of its logits
    Float8 sum = {};
    for (int32_t first = 0; kWhole ? first == 0 : first <= slots.fanout; first += kItems) {
      bool counts = false;
      const int32_t place = of.Place(rows, group, first, &counts);
      typename Rows::Vector x[kItems];
      int32_t at[kItems];
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        at[i] = group.Of(i, place);
        x[i] = {};
        if (mine && first + i < count) x[i] = rows.Fetch(at[i], group.part);
      }
      float dots[8] = {};
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        if (!mine || first + i >= count) continue;
        const Float8 value = rows.Value(x[i]);
        dots[i] = Dot8(by_source, value);
        if (i == 0 && first == 0) dots[7] = Dot8(Load8(as_destination), value);
        rows.NotePassing(weights.passes, at[i], group.part, value);
      }
      const float dot = group.SumByItem(dots);
      if (first == 0) own = group.Of(7, dot);
      const float score = dot + own, logit = LeakyRelu(shape.negative_slope, score);
      const float now_top = fmaxf(top, group.MaxOfItems(counts ? logit : -INFINITY));
      const float weight = counts ? __expf(logit - now_top) : 0.0f;
      const float before = kWhole || first == 0 ? 0.0f : __expf(top - now_top);
      top = now_top;
      total = total * before + group.SumOfItems(weight);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] *= before;
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        const float w = group.Of(i, weight);
        if (mine && first + i < count) AddScaled8(w, rows.Value(x[i]), sum);
      }
      const int32_t item = first + group.item;
      if (!speaks || group.item >= kItems || item >= count) continue;
      if (kWhole) {
        const float alpha = weight / total;
        kept.At(item, h) = score > 0.0f ? alpha : -alpha;
      } else {
        kept.At(item, h) = score;
      }
    }
    const float inverse = 1.0f / total;
    if (!kWhole && speaks) {  // each lane what it has kept
      for (int32_t item = group.item; group.item < kItems && item < count; item += kItems) {
        float& value = kept.At(item, h);
        const float alpha = of.items.Counts(item) ? __expf(LeakyRelu(shape.negative_slope, value) - top) * inverse : 0.0f;
        value = value > 0.0f ? alpha : -alpha;
      }
    }
    if (!mine) continue;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] *= inverse;
    Store8(out + (static_cast<int64_t>(row) * shape.heads + h) * shape.width + group.part * 8, sum);
  }
}

// A block's share of `folded`'s gradient in column block `vectors_before`, from its warps' shares.
__device__ void StoreShare(float (&shares)[kWarps][kBlockColumns], const Float8& share, bool stores, int part, int32_t columns,
                           float* partial) {
  if (stores) Store8(&shares[threadIdx.x / 32][part * 8], share);
  __syncthreads();
  if (static_cast<int32_t>(threadIdx.x) < columns) {
    float sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += shares[w][threadIdx.x];
    partial[threadIdx.x] = sum;
  }
  __syncthreads();
}

// The gradients of the logits of every destination, and each block's share of `folded`'s. With d the products of grad_out
// with the items, e their mean by weight, and s the slopes of leaky_relu, the gradient of a logit is alpha (d - e) s.
template <typename Rows, typename Grad, int kParts, bool kWhole>
__global__ void __launch_bounds__(kBlock, kWhole ? 3 : 2)
    LogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                        AttentionWeightsOnDevice weights, const Grad* grad_out, AttentionGradients gradients) {
  __shared__ float shares[kWarps][kBlockColumns];
  constexpr int kGroups = kBlock / kParts;
  const int32_t all_rows = RowsAfter(header, number);
  if (static_cast<int32_t>(blockIdx.x) * kGroups >= all_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const LaneGroup<kParts> group(lane);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const bool speaks = group.part % LaneGroup<kParts>::kLanesAnItem == 0;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x * kGroups + threadIdx.x / kParts);
  const int32_t warp_row = first_row - lane / kParts;  // the same turns for all of a warp
  float* partial = gradients.partials + static_cast<int64_t>(blockIdx.x) * 2 * heads * shape.width;

  for (int32_t h = 0; h < heads; ++h) {
    Float8 by_source = {}, by_destination = {};
    for (int32_t turn = 0; warp_row + turn < all_rows; turn += kGradientBlocks * kGroups) {
      const int32_t row = first_row + turn;
      const bool active = row < all_rows, mine = active && group.part < vectors;
      const GroupRow<Rows, kParts> of(rows, slots, row, active);
      const int32_t count = of.items.count;
      const ItemValues alphas = ValuesOf(weights.slots, weights.self, heads, slots, row, heads);
      const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
      const Float8 g =
          mine ? Load8(grad_out + (static_cast<int64_t>(row) * heads + h) * shape.width + group.part * 8) : Float8{};
      float expected = 0, total = 0;
      Float8 slopes = {}, itself = {};  // of several chunks: the items' sum by alpha s, and item 0
      for (int32_t first = 0; kWhole ? first == 0 : first <= slots.fanout; first += kItems) {
        bool counts = false;
        const int32_t place = of.Place(rows, group, first, &counts);
        const int32_t item = first + group.item;
        const bool exists = group.item < kItems && item < count;
        typename Rows::Vector x[kItems];
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          const int32_t at = group.Of(i, place);
          x[i] = {};
          if (mine && first + i < count) x[i] = rows.Fetch(at, group.part);
        }
        const float alpha = exists ? alphas.At(item, h) : 0.0f;
        float dots[8] = {};
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          if (mine && first + i < count) dots[i] = Dot8(g, rows.Value(x[i]));
        }
        const float dot = group.SumByItem(dots);
        expected += group.SumOfItems(exists ? fabsf(alpha) * dot : 0.0f);
        const float through = fabsf(alpha) * (alpha < 0.0f ? shape.negative_slope : 1.0f);
        const float value = kWhole ? through * (dot - expected) : dot;
        if (speaks && exists) gradient.At(item, h) = value;
        if (kWhole) total = group.SumOfItems(exists ? value : 0.0f);
        const float scaled = kWhole ? value : through * dot;
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
          const float w = group.Of(i, scaled), s = kWhole ? 0.0f : group.Of(i, through);
          if (!mine || first + i >= count) continue;
          const Float8 value_of = rows.Value(x[i]);
          AddScaled8(w, value_of, by_source);
          if (!kWhole) AddScaled8(s, value_of, slopes);
          if (i != 0) continue;
          if (kWhole) AddScaled8(total, value_of, by_destination);
          if (!kWhole && first == 0) itself = value_of;
        }
      }
      if (!kWhole) {
        AddScaled8(-expected, slopes, by_source);
        if (speaks && group.item < kItems) {  // each lane what it has kept
          for (int32_t item = group.item; item < count; item += kItems) {
            const float alpha = alphas.At(item, h);
            float& value = gradient.At(item, h);
            value = fabsf(alpha) * (alpha < 0.0f ? shape.negative_slope : 1.0f) * (value - expected);
            total += value;
          }
        }
        total = group.Of(0, group.SumOfItems(total));
        AddScaled8(total, itself, by_destination);
      }
      if (active && group.part == 0) gradient.self[heads + h] = total;
    }
#pragma unroll
    for (int i = 0; i < 8 && kParts == 16; ++i) {
      by_source.v[i] += __shfl_xor_sync(kFullWarp, by_source.v[i], 16);
      by_destination.v[i] += __shfl_xor_sync(kFullWarp, by_destination.v[i], 16);
    }
    const bool stores = lane < kParts && group.part < vectors;
    StoreShare(shares, by_source, stores, group.part, shape.width, partial + static_cast<int64_t>(h) * shape.width);
    StoreShare(shares, by_destination, stores, group.part, shape.width,
               partial + (static_cast<int64_t>(heads) + h) * shape.width);
  }
}

// values.At(item, h) = v . x_item for all items of the row, for rows wider than a warp; `columns_of(vector)` gives eight
// columns of v.
template <typename Rows, typename Columns>
__device__ void DotItems(const Rows& rows, const Items& items, int32_t vectors, int lane, const ItemValues& values, int32_t h,
                         const Columns& columns_of) {
  for (int32_t item = 0; item < items.count; ++item) {
    const int32_t place = rows.Place(items[item]);
    float sum = 0;
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      sum += Dot8(columns_of(vector), rows.Value(rows.Fetch(place, vector)));
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
  const ItemValues kept = ValuesOf(weights.slots, weights.self, shape.heads, slots, row, shape.heads);

  for (int32_t h = 0; h < shape.heads; ++h) {
    const float* as_source = folded + static_cast<int64_t>(h) * shape.width;
    const float* as_destination = as_source + static_cast<int64_t>(shape.heads) * shape.width;
    float own = 0;  // what the destination gives to each of its logits
    const int32_t self_place = rows.Place(items.self);
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      own += Dot8(Load8(as_destination + vector * 8), rows.Value(rows.Fetch(self_place, vector)));
    }
    DotItems(rows, items, vectors, lane, kept, h, [&](int32_t vector) { return Load8(as_source + vector * 8); });
    own = WarpSum(own);

    float top = -INFINITY;
    for (int32_t item = lane; item < items.count; item += 32) {
      if (items.Counts(item)) top = fmaxf(top, LeakyRelu(shape.negative_slope, kept.At(item, h) + own));
    }
    top = WarpMax(top);
    float total = 0;
    for (int32_t item = lane; item < items.count; item += 32) {
      if (items.Counts(item)) total += __expf(LeakyRelu(shape.negative_slope, kept.At(item, h) + own) - top);
    }
    const float inverse = 1.0f / WarpSum(total);
    for (int32_t item = lane; item < items.count; item += 32) {
      const float score = kept.At(item, h) + own;
      const float alpha = items.Counts(item) ? __expf(LeakyRelu(shape.negative_slope, score) - top) * inverse : 0.0f;
      kept.At(item, h) = score > 0.0f ? alpha : -alpha;
    }
    __syncwarp();

    Out* to = out + (static_cast<int64_t>(row) * shape.heads + h) * shape.width;
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      Float8 sum = {};
#pragma unroll 4
      for (int32_t item = 0; item < items.count; ++item) {
        const int32_t place = rows.Place(items[item]);
        const Float8 x = rows.Value(rows.Fetch(place, vector));
        rows.NotePassing(weights.passes, place, vector, x);
        AddScaled8(fabsf(kept.At(item, h)), x, sum);
      }
      Store8(to + vector * 8, sum);
    }
  }
}

template <typename Rows, typename Grad>
__global__ void __launch_bounds__(kBlock)
    WideLogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                            AttentionWeightsOnDevice weights, const Grad* grad_out, AttentionGradients gradients) {
  __shared__ float shares[kWarps][kBlockColumns];
  const int32_t all_rows = RowsAfter(header, number);
  if (static_cast<int32_t>(blockIdx.x) * kWarps >= all_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const int32_t first_row = static_cast<int32_t>(blockIdx.x * kWarps + threadIdx.x / 32);

  for (int32_t row = first_row; row < all_rows; row += kGradientBlocks * kWarps) {
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
        const float through = weight < 0.0f ? shape.negative_slope : 1.0f;
        const float value = fabsf(weight) * (gradient.At(item, h) - expected) * through;
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
    const bool mine = vector < vectors;
    for (int32_t h = 0; h < heads; ++h) {
      Float8 by_source = {}, by_destination = {};
      for (int32_t row = first_row; row < all_rows; row += kGradientBlocks * kWarps) {
        const Items items = ItemsOf(slots, row, rows.Self(row));
        const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
#pragma unroll 4
        for (int32_t item = 0; item < items.count; ++item) {
          if (!mine) continue;
          const Float8 x = rows.Value(rows.Fetch(rows.Place(items[item]), vector));
          AddScaled8(gradient.At(item, h), x, by_source);
          if (item == 0) AddScaled8(gradient.self[heads + h], x, by_destination);
        }
      }
      float* to = partial + static_cast<int64_t>(h) * shape.width + vectors_before * 8;
      StoreShare(shares, by_source, mine, lane, columns, to);
      StoreShare(shares, by_destination, mine, lane, columns, to + static_cast<int64_t>(heads) * shape.width);
    }
  }
}

struct JoinedLayers {
  FoldedGradient layers[kMaxHops];
};

// folded = the sum of the blocks' partials, in one order whatever the envelope; a row of blocks a layer.
__global__ void JoinPartialsKernel(JoinedLayers of, const BatchHeader* header) {
  __shared__ float sums[kJoinLanes][33];
  const FoldedGradient& layer = of.layers[blockIdx.y];
  const int32_t columns = 2 * layer.shape.heads * layer.shape.width;
  const int32_t column = static_cast<int32_t>(blockIdx.x * 32 + threadIdx.x);
  if (static_cast<int32_t>(blockIdx.x) * 32 >= columns) return;
  const int32_t groups = GroupsABlock(layer.shape.width);
  const int32_t blocks = min(kGradientBlocks, (RowsAfter(header, layer.hop) + groups - 1) / groups);
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

// A warp kSources sources that follow one another: what their slots, themselves and their logits pass on. The first
// slot of each is on its way before any of them is summed up; most sources have no other.
template <typename T>
__global__ void __launch_bounds__(kBlock, 4)
    SourceGradientKernel(HopOnDevice hop, int number, AttentionShape shape, const float* folded, AttentionInput input,
                         const BatchHeader* header, AttentionWeightsOnDevice weights, const T* grad_out,
                         int32_t padded_sources, AttentionGradients gradients, T* grad_z) {
  const int32_t base = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32) * kSources;
  if (base >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const int32_t sources = RowsAfter(header, number + 1), destinations = RowsAfter(header, number);
  const bool by_bits = input.activation == Activation::kRelu && weights.passes != nullptr;  // no need to look at z
  const uint8_t* bits = weights.passes != nullptr ? weights.passes : input.kept;
  const T* z = static_cast<const T*>(input.z);

  const bool has = lane < kSources && base + lane < sources;
  const int32_t begin = has ? __ldg(hop.first + base + lane) : 0, end = has ? __ldg(hop.end + base + lane) : 0;
  const int64_t first_slot = begin < end ? static_cast<int64_t>(__ldg(hop.sorted_slots + begin)) : 0;
  const auto row_of = [&](int64_t slot) { return static_cast<int64_t>(static_cast<uint32_t>(slot) / static_cast<uint32_t>(hop.fanout)); };

  for (int32_t vectors_before = 0; vectors_before < vectors; vectors_before += 32) {
    const int32_t vector = vectors_before + lane;
    const bool mine = vector < vectors;
    Float8 sums[kSources];
    uint32_t passing[kSources];
#pragma unroll
    for (int s = 0; s < kSources; ++s) {
      sums[s] = {};
      passing[s] = bits != nullptr && mine && base + s < sources
                       ? __ldg(bits + static_cast<int64_t>(base + s) * vectors + vector)
                       : 0xffu;
    }
    for (int32_t h = 0; h < heads; ++h) {
      const float* as_source = folded + static_cast<int64_t>(h) * shape.width + vector * 8;
      const float* as_destination = as_source + static_cast<int64_t>(heads) * shape.width;
      const auto grad_row = [&](int64_t row) { return grad_out + (row * heads + h) * shape.width + vector * 8; };
      Raw8<T> ahead[kSources];
      float ahead_weight[kSources], score[kSources];
#pragma unroll
      for (int s = 0; s < kSources; ++s) {
        const bool drawn = __shfl_sync(kFullWarp, begin < end ? 1 : 0, s) != 0;
        const int64_t slot = __shfl_sync(kFullWarp, first_slot, s);
        ahead[s] = {};
        ahead_weight[s] = drawn ? fabsf(__ldg(weights.slots + slot * heads + h)) : 0.0f;
        score[s] = drawn ? __ldg(gradients.slots + slot * heads + h) : 0.0f;
        if (drawn && mine) ahead[s] = LoadRaw8(grad_row(row_of(slot)));
      }
#pragma unroll
      for (int s = 0; s < kSources; ++s) {
        AddScaled8(ahead_weight[s], Widened(ahead[s]), sums[s]);
        const int32_t from = __shfl_sync(kFullWarp, begin, s) + 1, until = __shfl_sync(kFullWarp, end, s);
        for (int32_t some = from; some < until; some += 32) {  // 32 slots at a time, one a lane, then handed round
          int32_t row = 0;
          float weight = 0, passed = 0;
          if (some + lane < until) {
            const int64_t slot = hop.sorted_slots[some + lane];
            row = static_cast<int32_t>(row_of(slot));
            weight = fabsf(weights.slots[slot * heads + h]);
            passed = gradients.slots[slot * heads + h];
          }
          const int32_t here = min(32, until - some);
#pragma unroll 4
          for (int j = 0; j < here; ++j) {
            const int32_t r = __shfl_sync(kFullWarp, row, j);
            const float w = __shfl_sync(kFullWarp, weight, j);
            if (mine) AddScaled8(w, Load8(grad_row(r)), sums[s]);
          }
          score[s] += WarpSum(passed);
        }
      }
#pragma unroll
      for (int s = 0; s < kSources; ++s) {
        const int32_t source = base + s;
        if (source >= sources || !mine) continue;
        if (source < destinations) {
          const float* own = gradients.self + static_cast<int64_t>(source) * 2 * heads;
          AddScaled8(fabsf(weights.self[static_cast<int64_t>(source) * heads + h]), Load8(grad_row(source)), sums[s]);
          score[s] += own[h];
          AddScaled8(own[heads + h], Load8(as_destination), sums[s]);
        }
        AddScaled8(score[s], Load8(as_source), sums[s]);
      }
    }
#pragma unroll
    for (int s = 0; s < kSources; ++s) {
      const int64_t source = base + s;
      if (source >= padded_sources || !mine) continue;
      if (source < sources) {
        if (bits != nullptr) Keep8(passing[s], input.scale, sums[s]);
        if (!by_bits) ActivationSlope8(input.activation, nullptr, 0, Load8(z + (source * vectors + vector) * 8), sums[s]);
      } else {
        sums[s] = {};
      }
      Store8(grad_z + (source * vectors + vector) * 8, sums[s]);
    }
  }
}

// Eight lanes along a row, four bytes each at a time.
__global__ void __launch_bounds__(kBlock)
    DropoutBitsKernel(ActivationOnLoad mask, int number, int32_t vectors, const RunState* state, const BatchHeader* header,
                      const int32_t* nodes, uint8_t* kept) {
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 8);
  if (row >= RowsAfter(header, number)) return;
  const DropoutKey key = MaskKey(mask, state, header);
  const uint32_t node = static_cast<uint32_t>(__ldg(nodes + row));
  uint8_t* to = kept + static_cast<int64_t>(row) * vectors;
  for (int32_t first = static_cast<int32_t>(threadIdx.x % 8) * 4; first < vectors; first += 32) {
    uint32_t four = 0;
#pragma unroll
    for (int32_t j = 0; j < 4; ++j) {
      Float8 ones = {{1, 1, 1, 1, 1, 1, 1, 1}};
      Drop8(key, node, static_cast<uint32_t>(first + j), ones);
      four |= PositiveBits(ones) << 8 * j;
    }
    if (vectors % 4 == 0) {
      *reinterpret_cast<uint32_t*>(to + first) = four;
    } else {
      for (int32_t j = 0; j < 4 && first + j < vectors; ++j) to[first + j] = static_cast<uint8_t>(four >> 8 * j);
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
  FoldedLayer layers[kMaxHops];
};
struct UnfoldedLayers {
  UnfoldedLayer layers[kMaxHops];
};

// A block takes 32 columns of one of the 2 * heads vectors of a layer; its rows of threads share the columns of the head.
__global__ void FoldKernel(FoldedLayers of) {
  __shared__ float sums[kJoinLanes][33];
  const FoldedLayer& layer = of.layers[blockIdx.z];
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

// A warp a row of a layer's weight.
__global__ void UnfoldKernel(UnfoldedLayers of) {
  const UnfoldedLayer& layer = of.layers[blockIdx.y];
  const FoldedLayer& forward = layer.forward;
  const int32_t width = forward.shape.width, heads = forward.shape.heads, head_width = forward.head_width;
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= heads * head_width) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* by_source = layer.grad_folded + static_cast<int64_t>(row / head_width) * width;
  const float* by_destination = by_source + static_cast<int64_t>(heads) * width;
  const float att_src = forward.att_src[row], att_dst = forward.att_dst[row];
  float source = 0, destination = 0;
#pragma unroll 8
  for (int32_t column = lane; column < width; column += 32) {
    const int64_t at = static_cast<int64_t>(row) * forward.weight_stride + column;
    source += forward.weight[at] * by_source[column];
    destination += forward.weight[at] * by_destination[column];
    layer.grad_weight[at] += att_src * by_source[column] + att_dst * by_destination[column];
  }
  source = WarpSum(source);
  destination = WarpSum(destination);
  if (lane != 0) return;
  layer.grad_att_src[row] = source;
  layer.grad_att_dst[row] = destination;
}

template <typename Rows, typename Out>
cudaError_t LaunchAttention(const Rows& rows, const Slots& slots, int32_t envelope, int number,
                            const AttentionShape& shape, const float* folded, const BatchHeader* header,
                            const AttentionWeightsOnDevice& weights, void* out, cudaStream_t stream) {
  const auto launch = [&](auto kernel, int32_t groups) {
    return Launch(kernel, Blocks(envelope, groups), kBlock, 0, stream, rows, slots, number, shape, folded, header, weights,
                  static_cast<Out*>(out));
  };
  if (shape.width > kBlockColumns) return launch(WideAttentionKernel<Rows, Out>, kWarps);
  const bool whole = slots.fanout < kItems;
  const int32_t groups = GroupsABlock(shape.width);
  if (groups == kWarps) {
    return whole ? launch(AttentionKernel<Rows, Out, 32, true>, groups) : launch(AttentionKernel<Rows, Out, 32, false>, groups);
  }
  return whole ? launch(AttentionKernel<Rows, Out, 16, true>, groups) : launch(AttentionKernel<Rows, Out, 16, false>, groups);
}

template <typename Rows, typename Grad>
cudaError_t LaunchLogitGradient(const Rows& rows, const Slots& slots, int32_t envelope, int number,
                                const AttentionShape& shape, const BatchHeader* header,
                                const AttentionWeightsOnDevice& weights, const void* grad_out,
                                const AttentionGradients& gradients, cudaStream_t stream) {
  const int32_t groups = GroupsABlock(shape.width);
  const auto launch = [&](auto kernel) {
    return Launch(kernel, std::min(kGradientBlocks, Blocks(envelope, groups)), kBlock, 0, stream, rows, slots, number,
                  shape, header, weights, static_cast<const Grad*>(grad_out), gradients);
  };
  if (shape.width > kBlockColumns) return launch(WideLogitGradientKernel<Rows, Grad>);
  const bool whole = slots.fanout < kItems;
  if (groups == kWarps) {
    return whole ? launch(LogitGradientKernel<Rows, Grad, 32, true>) : launch(LogitGradientKernel<Rows, Grad, 32, false>);
  }
  return whole ? launch(LogitGradientKernel<Rows, Grad, 16, true>) : launch(LogitGradientKernel<Rows, Grad, 16, false>);
}

// Calls `with` with a pointer of the element's type.
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

template <typename T>
HiddenRows<T> RowsOf(const T*, const AttentionInput& input, const AttentionShape& shape, const uint8_t* kept) {
  return {static_cast<const T*>(input.z), shape.width / 8, input.activation, input.scale, kept};
}

// The layers as a kernel's argument, and the largest of some number of theirs.
template <typename Argument, typename Layer>
Argument Together(std::span<const Layer> layers) {
  Argument all;
  std::copy(layers.begin(), layers.end(), all.layers);
  return all;
}
template <typename Layer, typename Of>
int32_t Most(std::span<const Layer> layers, const Of& of) {
  int32_t most = 1;
  for (const Layer& layer : layers) most = std::max(most, of(layer));
  return most;
}

}  // namespace

int64_t AttentionPartials(int32_t rows, const AttentionShape& shape) {
  return static_cast<int64_t>(std::min(kGradientBlocks, Blocks(rows, GroupsABlock(shape.width)))) * 2 * shape.heads * shape.width;
}

cudaError_t EnqueueFoldAttention(std::span<const FoldedLayer> layers, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHops) return cudaErrorInvalidValue;
  const dim3 grid(static_cast<unsigned>(Blocks(Most(layers, [](const FoldedLayer& l) { return l.shape.width; }), 32)),
                  static_cast<unsigned>(Most(layers, [](const FoldedLayer& l) { return 2 * l.shape.heads; })),
                  static_cast<unsigned>(layers.size()));
  return Launch(FoldKernel, grid, dim3(32, kJoinLanes), 0, stream, Together<FoldedLayers>(layers));
}

cudaError_t EnqueueJoinFolded(std::span<const FoldedGradient> layers, const BatchHeader* header, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHops) return cudaErrorInvalidValue;
  const int32_t columns = Most(layers, [](const FoldedGradient& l) { return 2 * l.shape.heads * l.shape.width; });
  return Launch(JoinPartialsKernel, dim3(static_cast<unsigned>(Blocks(columns, 32)), static_cast<unsigned>(layers.size())),
                dim3(32, kJoinLanes), 0, stream, Together<JoinedLayers>(layers), header);
}

cudaError_t EnqueueUnfoldAttention(std::span<const UnfoldedLayer> layers, cudaStream_t stream) {
  if (layers.empty() || layers.size() > kMaxHops) return cudaErrorInvalidValue;
  const int32_t rows = Most(layers, [](const UnfoldedLayer& l) { return l.forward.shape.heads * l.forward.head_width; });
  return Launch(UnfoldKernel, dim3(static_cast<unsigned>(Blocks(rows, kWarps)), static_cast<unsigned>(layers.size())),
                kBlock, 0, stream, Together<UnfoldedLayers>(layers));
}

cudaError_t EnqueueDropoutBits(const ActivationOnLoad& mask, int number, int32_t rows, int32_t width, const RunState* state,
                               const BatchHeader* header, const int32_t* nodes, uint8_t* kept, cudaStream_t stream) {
  return Launch(DropoutBitsKernel, Blocks(rows, kBlock / 8), kBlock, 0, stream, mask, number, width / 8, state, header,
                nodes, kept);
}

cudaError_t EnqueueAttention(const HopOnDevice& hop, int number, const AttentionShape& shape, const float* folded,
                             Element element, const AttentionInput& input, const BatchHeader* header,
                             const AttentionWeightsOnDevice& weights, void* out, cudaStream_t stream) {
  const Slots slots{hop.fanout, hop.columns, hop.counts};
  return WithActivations(element, [&]<typename T>(const T* type) {
    return LaunchAttention<HiddenRows<T>, T>(RowsOf(type, input, shape, input.kept), slots, hop.rows, number, shape, folded,
                                             header, weights, out, stream);
  });
}

cudaError_t EnqueueAttentionBackward(const HopOnDevice& hop, int number, const AttentionShape& shape,
                                     const float* folded, Element element, const AttentionInput& input,
                                     const BatchHeader* header, const AttentionWeightsOnDevice& weights,
                                     const void* grad_out, int32_t padded_sources, const AttentionGradients& gradients,
                                     void* grad_z, cudaStream_t stream) {
  const Slots slots{hop.fanout, hop.columns, hop.counts};
  return WithActivations(element, [&]<typename T>(const T* type) {
    const HiddenRows<T> rows = RowsOf(type, input, shape, weights.passes != nullptr ? weights.passes : input.kept);
    const cudaError_t error = LaunchLogitGradient<HiddenRows<T>, T>(rows, slots, hop.rows, number, shape, header, weights,
                                                                    grad_out, gradients, stream);
    if (error != cudaSuccess) return error;
    return Launch(SourceGradientKernel<T>, Blocks(padded_sources, kWarps * kSources), kBlock, 0, stream, hop, number,
                  shape, folded, input, header, weights, static_cast<const T*>(grad_out), padded_sources, gradients,
                  static_cast<T*>(grad_z));
  });
}

cudaError_t EnqueueDrawNeighbors(const GraphOnDevice& graph, int number, const OuterHopOnDevice& outer,
                                 const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                 cudaStream_t stream) {
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
                                    cudaStream_t stream) {
  const Slots slots{outer.fanout, outer.neighbors, outer.counts};
  return WithFeatures(feature_element, [&]<typename In>(const In*) {
    return WithActivations(out_element, [&]<typename Out>(const Out*) {
      return WithRows<In>(graph, [&]<typename Features>(const Features& features) {
        return LaunchAttention<FeatureRows<In, Features>, Out>({features, nodes}, slots, outer.rows, number, shape, folded,
                                                               header, weights, out, stream);
      });
    });
  });
}

cudaError_t EnqueueFeatureAttentionBackward(const GraphOnDevice& graph, Element feature_element, int number,
                                            const OuterHopOnDevice& outer, const AttentionShape& shape,
                                            const BatchHeader* header, const int32_t* nodes,
                                            const AttentionWeightsOnDevice& weights, Element grad_element,
                                            const void* grad_out, const AttentionGradients& gradients,
                                            cudaStream_t stream) {
  const Slots slots{outer.fanout, outer.neighbors, outer.counts};
  return WithFeatures(feature_element, [&]<typename In>(const In*) {
    return WithActivations(grad_element, [&]<typename Grad>(const Grad*) {
      return WithRows<In>(graph, [&]<typename Features>(const Features& features) {
        return LaunchLogitGradient<FeatureRows<In, Features>, Grad>({features, nodes}, slots, outer.rows, number, shape,
                                                                    header, weights, grad_out, gradients, stream);
      });
    });
  });
}

}  // namespace hone::gnn::cuda
