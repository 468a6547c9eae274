// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of attention_kernels.h.
//
// In what follows an item of a destination is what it attends to: item 0 is itself, item j + 1 its slot j. A warp takes a
// destination; `parts` of its lanes lie along a row, eight columns each, so that it reads 32 / parts items at once. Rows
// wider than a warp are taken in column blocks. Logits and their gradients pass through the arrays where they are kept
// anyway, from the lanes that sum them up to the lanes of their items.
#include "gnn/cuda/attention_kernels.h"

#include "gnn/cuda/device_math.cuh"
#include "gnn/cuda/feature_rows.cuh"
#include "gnn/cuda/launch.h"
#include "gnn/cuda/pick_slot.cuh"
#include "gnn/cuda/row_math.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;
constexpr int kBlockColumns = 256;  // that a warp reads at once
constexpr int kTileRows = 32;       // destinations whose share of `folded`'s gradient is one partial sum
constexpr int kJoinLanes = 32;      // that add up the partials of a column
constexpr int kInFlight = 4;        // items a lane has on their way before it sums up the first

int Blocks(int64_t items, int per_block) { return static_cast<int>((items + per_block - 1) / per_block); }
int Tiles(int32_t rows) { return Blocks(rows, kTileRows); }

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
__device__ float Dot8(const Float8& a, const Float8& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += a.v[i] * b.v[i];
  return sum;
}
__device__ void AddScaled8(float factor, const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] += factor * x.v[i];
}

// How a warp lies over rows of `vectors` vectors.
struct WarpLayout {
  int parts, sides, side, part;
  __device__ WarpLayout(int vectors, int lane) : parts(1) {
    while (parts < vectors && parts < 32) parts *= 2;
    sides = 32 / parts;
    side = lane / parts;
    part = lane % parts;
  }
  // Of the lanes of a side; every lane gets it.
  __device__ float SideSum(float x) const {
    for (int offset = parts / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
    return x;
  }
  __device__ void SumOverSides(Float8& x) const {
    for (int offset = parts; offset < 32; offset *= 2) {
#pragma unroll
      for (int i = 0; i < 8; ++i) x.v[i] += __shfl_xor_sync(kFullWarp, x.v[i], offset);
    }
  }
};

// The rows of an inner hop, by local id.
template <typename T>
struct HiddenRows {
  const T* z;
  int32_t vectors;
  Activation activation;
  ActivationOnLoad on_load;
  const RunState* state;
  const BatchHeader* header;
  const int32_t* nodes;

  struct Reader {
    const T* z;
    int32_t vectors;
    Activation activation;
    DropoutKey mask;
    const int32_t* nodes;
    __device__ Float8 operator()(int32_t source, int32_t vector) const {
      Float8 x = Load8(z + (static_cast<int64_t>(source) * vectors + vector) * 8);
      Activate8(activation, nullptr, vector, x);
      if (mask.threshold != 0) Drop8(mask, static_cast<uint32_t>(nodes[source]), static_cast<uint32_t>(vector), x);
      return x;
    }
  };
  __device__ Reader Open() const { return {z, vectors, activation, MaskKey(on_load, state, header), nodes}; }
  __device__ int32_t Self(int32_t row) const { return row; }
};

// The graph's features, by global id; `Rows` knows where they are.
template <typename Rows>
struct FeatureRows {
  Rows rows;
  const int32_t* nodes;

  struct Reader {
    Rows rows;
    __device__ Float8 operator()(int32_t source, int32_t vector) const {
      return Load8(rows.At(rows.Place(source)) + vector * 8);
    }
  };
  __device__ Reader Open() const { return {rows}; }
  __device__ int32_t Self(int32_t row) const { return nodes[row]; }
};

struct Slots {
  int32_t fanout;
  const int32_t* sources;  // [rows * fanout]
  const int32_t* counts;   // [rows]
};

// One destination's items.
struct Items {
  const int32_t* sources;
  int32_t self;
  int32_t count;  // itself included
  __device__ int32_t operator[](int32_t item) const { return item == 0 ? self : __ldg(sources + item - 1); }
  __device__ bool Counts(int32_t item) const { return item == 0 || __ldg(sources + item - 1) != self; }
};
__device__ Items ItemsOf(const Slots& slots, int32_t row, int32_t self) {
  return {slots.sources + static_cast<int64_t>(row) * slots.fanout, self, __ldg(slots.counts + row) + 1};
}

// Where a value of an item and a head is kept.
struct ItemValues {
  float* slots;  // of the row's first slot
  float* self;   // of the row
  int32_t heads;
  __device__ float& At(int32_t item, int32_t h) const { return item == 0 ? self[h] : slots[static_cast<int64_t>(item - 1) * heads + h]; }
};
__device__ ItemValues ValuesOf(float* slots, float* self, int32_t self_stride, const Slots& of, int32_t row, int32_t heads) {
  return {slots + static_cast<int64_t>(row) * of.fanout * heads, self + static_cast<int64_t>(row) * self_stride, heads};
}

// values.At(item, h) = v . x_item for all items of the row; `columns_of(vector)` gives eight columns of v.
template <typename Reader, typename Columns>
__device__ void DotItems(const Reader& read, const WarpLayout& layout, const Items& items, int32_t vectors,
                         const ItemValues& values, int32_t h, const Columns& columns_of) {
  for (int32_t base = 0; base < vectors; base += 32) {
    const int32_t vector = base + layout.part;
    const bool mine = vector < vectors;
    const Float8 by = mine ? columns_of(vector) : Float8{};
    for (int32_t first = layout.side; first - layout.side < items.count; first += kInFlight * layout.sides) {
      float sums[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const int32_t item = first + i * layout.sides;
        sums[i] = mine && item < items.count ? Dot8(by, read(items[item], vector)) : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) sums[i] = layout.SideSum(sums[i]);
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const int32_t item = first + i * layout.sides;
        if (item >= items.count || layout.part != 0) continue;
        float& value = values.At(item, h);
        value = base == 0 ? sums[i] : value + sums[i];
      }
    }
  }
  __syncwarp();
}

template <typename Rows, typename Out>
__global__ void __launch_bounds__(kBlock)
    AttentionKernel(Rows rows, Slots slots, int number, AttentionShape shape, const float* folded,
                    const BatchHeader* header, AttentionWeightsOnDevice weights, Out* out) {
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= RowsAfter(header, number)) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8;
  const WarpLayout layout(vectors, lane);
  const auto read = rows.Open();
  const Items items = ItemsOf(slots, row, rows.Self(row));
  const ItemValues kept = ValuesOf(weights.slots, weights.self, shape.heads, slots, row, shape.heads);

  for (int32_t h = 0; h < shape.heads; ++h) {
    const float* as_source = folded + static_cast<int64_t>(h) * shape.width;
    const float* as_destination = as_source + static_cast<int64_t>(shape.heads) * shape.width;
    float own = 0;  // what the destination gives to each of its logits
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      own += Dot8(Load8(as_destination + vector * 8), read(items.self, vector));
    }
    DotItems(read, layout, items, vectors, kept, h, [&](int32_t vector) { return Load8(as_source + vector * 8); });
    own = WarpSum(own);

    const auto logit = [&](int32_t item) {
      const float sum = kept.At(item, h) + own;
      return sum > 0.0f ? sum : shape.negative_slope * sum;
    };
    float top = -INFINITY;
    for (int32_t item = lane; item < items.count; item += 32) {
      if (items.Counts(item)) top = fmaxf(top, logit(item));
    }
    top = WarpMax(top);
    float total = 0;
    for (int32_t item = lane; item < items.count; item += 32) {
      if (items.Counts(item)) total += __expf(logit(item) - top);
    }
    const float inverse = 1.0f / WarpSum(total);
    for (int32_t item = lane; item < items.count; item += 32) {
      const float alpha = items.Counts(item) ? __expf(logit(item) - top) * inverse : 0.0f;
      kept.At(item, h) = kept.At(item, h) + own > 0.0f ? alpha : -alpha;
    }
    __syncwarp();

    Out* to = out + (static_cast<int64_t>(row) * shape.heads + h) * shape.width;
    for (int32_t base = 0; base < vectors; base += 32) {
      const int32_t vector = base + layout.part;
      Float8 sum = {};
#pragma unroll kInFlight
      for (int32_t item = layout.side; item < items.count; item += layout.sides) {
        if (vector < vectors) AddScaled8(fabsf(kept.At(item, h)), read(items[item], vector), sum);
      }
      layout.SumOverSides(sum);
      if (vector < vectors && layout.side == 0) Store8(to + vector * 8, sum);
    }
  }
}

// The gradients of the logits of a tile of destinations, and the tile's share of `folded`'s.
template <typename Rows, typename Grad>
__global__ void __launch_bounds__(kBlock)
    LogitGradientKernel(Rows rows, Slots slots, int number, AttentionShape shape, const BatchHeader* header,
                        AttentionWeightsOnDevice weights, const Grad* grad_out, AttentionGradients gradients) {
  __shared__ float shares[kWarps][kBlockColumns];
  const int32_t first_row = static_cast<int32_t>(blockIdx.x) * kTileRows;
  const int32_t all_rows = RowsAfter(header, number);
  if (first_row >= all_rows) return;
  const int32_t last_row = min(first_row + kTileRows, all_rows);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  const WarpLayout layout(vectors, lane);
  const auto read = rows.Open();

  for (int32_t row = first_row + warp; row < last_row; row += kWarps) {
    const Items items = ItemsOf(slots, row, rows.Self(row));
    const ItemValues alpha = ValuesOf(weights.slots, weights.self, heads, slots, row, heads);
    const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
    for (int32_t h = 0; h < heads; ++h) {
      const Grad* g = grad_out + (static_cast<int64_t>(row) * heads + h) * shape.width;
      DotItems(read, layout, items, vectors, gradient, h, [&](int32_t vector) { return Load8(g + vector * 8); });
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
    const int32_t vector = vectors_before + layout.part;
    const bool mine = vector < vectors;
    for (int32_t h = 0; h < heads; ++h) {
      Float8 by_source = {}, by_destination = {};
      for (int32_t row = first_row + warp; row < last_row; row += kWarps) {
        const Items items = ItemsOf(slots, row, rows.Self(row));
        const ItemValues gradient = ValuesOf(gradients.slots, gradients.self, 2 * heads, slots, row, heads);
#pragma unroll kInFlight
        for (int32_t item = layout.side; item < items.count; item += layout.sides) {
          if (!mine) continue;
          const Float8 x = read(items[item], vector);
          AddScaled8(gradient.At(item, h), x, by_source);
          if (item == 0) AddScaled8(gradient.self[heads + h], x, by_destination);
        }
      }
      for (int role = 0; role < 2; ++role) {
        Float8 share = role == 0 ? by_source : by_destination;
        layout.SumOverSides(share);
        if (layout.side == 0 && mine) Store8(&shares[warp][layout.part * 8], share);
        __syncthreads();
        const int32_t column = vectors_before * 8 + static_cast<int32_t>(threadIdx.x);
        if (static_cast<int32_t>(threadIdx.x) < min(kBlockColumns, (vectors - vectors_before) * 8)) {
          float sum = 0;
          for (int w = 0; w < kWarps; ++w) sum += shares[w][threadIdx.x];
          partial[(static_cast<int64_t>(role) * heads + h) * shape.width + column] = sum;
        }
        __syncthreads();
      }
    }
  }
}

// folded = the sum of the tiles' partials, in one order whatever the envelope.
__global__ void JoinPartialsKernel(int number, int32_t columns, const BatchHeader* header, const float* partials, float* folded) {
  __shared__ float sums[kJoinLanes][33];
  const int32_t column = static_cast<int32_t>(blockIdx.x * 32 + threadIdx.x);
  const int32_t tiles = (RowsAfter(header, number) + kTileRows - 1) / kTileRows;
  float sum = 0;
  if (column < columns) {
#pragma unroll 4
    for (int32_t tile = static_cast<int32_t>(threadIdx.y); tile < tiles; tile += kJoinLanes) {
      sum += partials[static_cast<int64_t>(tile) * columns + column];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int lane = 1; lane < kJoinLanes; ++lane) sum += sums[lane][threadIdx.x];
  folded[column] = sum;
}

// A warp a source: what its slots, itself and its logits pass on.
template <typename T>
__global__ void __launch_bounds__(kBlock)
    SourceGradientKernel(HopOnDevice hop, int number, AttentionShape shape, const float* folded, const T* z,
                         Activation activation, ActivationOnLoad on_load, const RunState* state,
                         const BatchHeader* header, const int32_t* nodes, AttentionWeightsOnDevice weights,
                         const T* grad_out, int32_t padded_sources, AttentionGradients gradients, T* grad_z) {
  const int32_t source = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (source >= padded_sources) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t vectors = shape.width / 8, heads = shape.heads;
  T* to = grad_z + static_cast<int64_t>(source) * shape.width;
  if (source >= RowsAfter(header, number + 1)) {
    for (int32_t vector = lane; vector < vectors; vector += 32) Store8(to + vector * 8, Float8{});
    return;
  }
  const bool is_destination = source < RowsAfter(header, number);
  const int32_t begin = hop.first[source], end = hop.end[source];
  const float* own = gradients.self + static_cast<int64_t>(source) * 2 * heads;
  const DropoutKey mask = MaskKey(on_load, state, header);
  for (int32_t base = 0; base < vectors; base += 32) {
    const int32_t vector = base + lane;
    const bool mine = vector < vectors;
    Float8 sum = {};
    for (int32_t h = 0; h < heads; ++h) {
      if (mine && is_destination) {
        const float weight = fabsf(weights.self[static_cast<int64_t>(source) * heads + h]);
        AddScaled8(weight, Load8(grad_out + (static_cast<int64_t>(source) * heads + h) * shape.width + vector * 8), sum);
      }
      float score = 0;  // the gradient of the node's score as a source
      for (int32_t from = begin; from < end; from += 32) {  // 32 slots at a time, one a lane, then handed round
        int32_t row = 0;
        float weight = 0;
        if (from + lane < end) {
          const int64_t slot = hop.sorted_slots[from + lane];
          row = static_cast<int32_t>(slot) / hop.fanout;
          weight = fabsf(weights.slots[slot * heads + h]);
          score += gradients.slots[slot * heads + h];
        }
        const int32_t here = min(32, end - from);
#pragma unroll 4
        for (int j = 0; j < here; ++j) {
          const int32_t r = __shfl_sync(kFullWarp, row, j);
          const float w = __shfl_sync(kFullWarp, weight, j);
          if (mine) AddScaled8(w, Load8(grad_out + (static_cast<int64_t>(r) * heads + h) * shape.width + vector * 8), sum);
        }
      }
      score = WarpSum(score);
      if (is_destination) score += own[h];
      if (!mine) continue;
      const float* as_source = folded + static_cast<int64_t>(h) * shape.width + vector * 8;
      AddScaled8(score, Load8(as_source), sum);
      if (is_destination) AddScaled8(own[heads + h], Load8(as_source + static_cast<int64_t>(heads) * shape.width), sum);
    }
    if (!mine) continue;
    Drop8(mask, static_cast<uint32_t>(nodes[source]), static_cast<uint32_t>(vector), sum);
    ActivationSlope8(activation, nullptr, vector, Load8(z + (static_cast<int64_t>(source) * vectors + vector) * 8), sum);
    Store8(to + vector * 8, sum);
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

// A block takes 32 columns of one of the 2 * heads vectors; its rows of threads share the columns of the head.
__global__ void FoldKernel(AttentionShape shape, int32_t head_width, const float* weight, int64_t weight_stride,
                           const float* att_src, const float* att_dst, float* folded) {
  __shared__ float sums[kJoinLanes][33];
  const int32_t column = static_cast<int32_t>(blockIdx.x * 32 + threadIdx.x);
  const int32_t vector = static_cast<int32_t>(blockIdx.y), h = vector % shape.heads;
  const float* attention = (vector < shape.heads ? att_src : att_dst) + static_cast<int64_t>(h) * head_width;
  float sum = 0;
  if (column < shape.width) {
#pragma unroll 4
    for (int32_t c = static_cast<int32_t>(threadIdx.y); c < head_width; c += kJoinLanes) {
      sum += attention[c] * weight[(static_cast<int64_t>(h) * head_width + c) * weight_stride + column];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= shape.width) return;
  for (int lane = 1; lane < kJoinLanes; ++lane) sum += sums[lane][threadIdx.x];
  folded[static_cast<int64_t>(vector) * shape.width + column] = sum;
}

// A warp a row of the weight.
__global__ void UnfoldKernel(AttentionShape shape, int32_t head_width, const float* weight, int64_t weight_stride,
                             const float* att_src, const float* att_dst, const float* grad_folded, float* grad_weight,
                             float* grad_att_src, float* grad_att_dst) {
  const int32_t row = static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= shape.heads * head_width) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* by_source = grad_folded + static_cast<int64_t>(row / head_width) * shape.width;
  const float* by_destination = by_source + static_cast<int64_t>(shape.heads) * shape.width;
  float source = 0, destination = 0;
  for (int32_t column = lane; column < shape.width; column += 32) {
    const int64_t at = static_cast<int64_t>(row) * weight_stride + column;
    source += weight[at] * by_source[column];
    destination += weight[at] * by_destination[column];
    grad_weight[at] += att_src[row] * by_source[column] + att_dst[row] * by_destination[column];
  }
  source = WarpSum(source);
  destination = WarpSum(destination);
  if (lane != 0) return;
  grad_att_src[row] = source;
  grad_att_dst[row] = destination;
}

template <typename Rows, typename Out>
cudaError_t LaunchAttention(const Rows& rows, const Slots& slots, int32_t envelope, int number,
                            const AttentionShape& shape, const float* folded, const BatchHeader* header,
                            const AttentionWeightsOnDevice& weights, void* out, cudaStream_t stream) {
  return Launch(AttentionKernel<Rows, Out>, Blocks(envelope, kWarps), kBlock, 0, stream, rows, slots, number, shape,
                folded, header, weights, static_cast<Out*>(out));
}

template <typename Rows, typename Grad>
cudaError_t LaunchLogitGradient(const Rows& rows, const Slots& slots, int32_t envelope, int number,
                                const AttentionShape& shape, const BatchHeader* header,
                                const AttentionWeightsOnDevice& weights, const void* grad_out,
                                const AttentionGradients& gradients, cudaStream_t stream) {
  const cudaError_t error = Launch(LogitGradientKernel<Rows, Grad>, Tiles(envelope), kBlock, 0, stream, rows, slots,
                                   number, shape, header, weights, static_cast<const Grad*>(grad_out), gradients);
  if (error != cudaSuccess) return error;
  const int32_t columns = 2 * shape.heads * shape.width;
  return Launch(JoinPartialsKernel, Blocks(columns, 32), dim3(32, kJoinLanes), 0, stream, number, columns, header,
                gradients.partials, gradients.folded);
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
HiddenRows<T> RowsOf(const T*, const AttentionInput& input, const AttentionShape& shape, const RunState* state,
                     const BatchHeader* header, const int32_t* nodes) {
  return {static_cast<const T*>(input.z), shape.width / 8, input.activation, input.on_load, state, header, nodes};
}

}  // namespace

int64_t AttentionPartials(int32_t rows, const AttentionShape& shape) {
  return static_cast<int64_t>(Tiles(rows)) * 2 * shape.heads * shape.width;
}

cudaError_t EnqueueFoldAttention(const AttentionShape& shape, int32_t head_width, const float* weight,
                                 int64_t weight_stride, const float* att_src, const float* att_dst, float* folded,
                                 cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(Blocks(shape.width, 32)), static_cast<unsigned>(2 * shape.heads));
  return Launch(FoldKernel, grid, dim3(32, kJoinLanes), 0, stream, shape, head_width, weight, weight_stride, att_src,
                att_dst, folded);
}

cudaError_t EnqueueUnfoldAttention(const AttentionShape& shape, int32_t head_width, const float* weight,
                                   int64_t weight_stride, const float* att_src, const float* att_dst,
                                   const float* grad_folded, float* grad_weight, float* grad_att_src,
                                   float* grad_att_dst, cudaStream_t stream) {
  return Launch(UnfoldKernel, Blocks(static_cast<int64_t>(shape.heads) * head_width, kWarps), kBlock, 0, stream, shape,
                head_width, weight, weight_stride, att_src, att_dst, grad_folded, grad_weight, grad_att_src, grad_att_dst);
}

cudaError_t EnqueueAttention(const HopOnDevice& hop, int number, const AttentionShape& shape, const float* folded,
                             Element element, const AttentionInput& input, const RunState* state,
                             const BatchHeader* header, const int32_t* nodes, const AttentionWeightsOnDevice& weights,
                             void* out, cudaStream_t stream) {
  const Slots slots{hop.fanout, hop.columns, hop.counts};
  return WithActivations(element, [&]<typename T>(const T* type) {
    return LaunchAttention<HiddenRows<T>, T>(RowsOf(type, input, shape, state, header, nodes), slots, hop.rows, number,
                                             shape, folded, header, weights, out, stream);
  });
}

cudaError_t EnqueueAttentionBackward(const HopOnDevice& hop, int number, const AttentionShape& shape,
                                     const float* folded, Element element, const AttentionInput& input,
                                     const RunState* state, const BatchHeader* header, const int32_t* nodes,
                                     const AttentionWeightsOnDevice& weights, const void* grad_out,
                                     int32_t padded_sources, const AttentionGradients& gradients, void* grad_z,
                                     cudaStream_t stream) {
  const Slots slots{hop.fanout, hop.columns, hop.counts};
  return WithActivations(element, [&]<typename T>(const T* type) {
    const cudaError_t error = LaunchLogitGradient<HiddenRows<T>, T>(RowsOf(type, input, shape, state, header, nodes),
                                                                    slots, hop.rows, number, shape, header, weights,
                                                                    grad_out, gradients, stream);
    if (error != cudaSuccess) return error;
    return Launch(SourceGradientKernel<T>, Blocks(padded_sources, kWarps), kBlock, 0, stream, hop, number, shape,
                  folded, static_cast<const T*>(input.z), input.activation, input.on_load, state, header, nodes, weights,
                  static_cast<const T*>(grad_out), padded_sources, gradients, static_cast<T*>(grad_z));
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
      return WithRows<In>(graph, [&]<typename Rows>(const Rows& features) {
        return LaunchAttention<FeatureRows<Rows>, Out>({features, nodes}, slots, outer.rows, number, shape, folded, header,
                                                       weights, out, stream);
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
      return WithRows<In>(graph, [&]<typename Rows>(const Rows& features) {
        return LaunchLogitGradient<FeatureRows<Rows>, Grad>({features, nodes}, slots, outer.rows, number, shape, header,
                                                            weights, grad_out, gradients, stream);
      });
    });
  });
}

}  // namespace hone::gnn::cuda
