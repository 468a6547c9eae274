// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements exact_kernels.h. Rows narrower than a warp's 32 vectors are read several at a time, side by side.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/base/row_math.cuh"
#include "gnn/cuda/infer/exact_kernels.h"
#include "gnn/cuda/kernels/attention_rows.cuh"
#include "gnn/ops/layer_norm.h"

namespace hone::gnn::cuda {
namespace {

constexpr int kBlock = 256;
constexpr float kNoLogit = -3.0e38f;  // below every logit, so that its weight exp(logit - largest) is 0

__host__ unsigned Blocks(int64_t warps) { return static_cast<unsigned>((warps + kBlock / 32 - 1) / (kBlock / 32)); }

__device__ int64_t WarpOfGrid() { return (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; }

// Returns the place of a node's row: >= 0 in device memory, < 0 in host memory. The place is found once for all vectors
// of a row.
__device__ int32_t PlaceOf(const RowTable& table, int32_t v) {
  if (table.ranks == nullptr) return v;
  const int32_t rank = __ldg(table.ranks + v);
  if (rank < table.on_device) return rank;
  return ~(table.host_by_id ? v : rank - table.on_device);
}
__device__ unsigned char* RowIn(const RowTable& table, int32_t row_place) {
  return row_place >= 0 ? table.device + row_place * table.stride_bytes
                        : table.host + static_cast<int64_t>(~row_place) * table.stride_bytes;
}
__device__ unsigned char* RowAt(const RowTable& table, int64_t v) {
  return RowIn(table, PlaceOf(table, static_cast<int32_t>(v)));
}
__device__ int64_t NodeOf(const BlockRows& rows, int64_t i) {
  return rows.ids == nullptr ? rows.first + i : static_cast<int64_t>(__ldg(rows.ids + i));
}

__device__ void Reduce8(Reduction reduction, const Float8& x, Float8& to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to.v[i] = reduction == Reduction::kMax ? fmaxf(to.v[i], x.v[i]) : to.v[i] + x.v[i];
}
__device__ void Scale8(float factor, Float8& x) {
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] *= factor;
}
__device__ Float8 Broadcast8(float value) {
  Float8 x;
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = value;
  return x;
}

// Says how the lanes of a warp share a row of `vectors` vectors.
struct Lanes {
  int parts;  // lanes side by side along a row; a power of two
  int side;   // this lane's row among those read at once
  int sides;  // rows that the warp reads at once
  int part;   // this lane's vector among `parts`
  __device__ explicit Lanes(int32_t vectors) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    parts = 1;
    while (parts < vectors && parts < 32) parts *= 2;
    side = lane / parts;
    sides = 32 / parts;
    part = lane % parts;
  }
};

constexpr int kInFlight = 8;  // rows that a lane loads before it adds the first, so that their latencies overlap

// Reduces column vector `vector` of the rows that slots begin … end - 1 name; with kScaled, each row is multiplied by
// its scale. All lanes with the same `part` get the same result. Whole warps call this; lanes without a vector pass
// reads = false.
template <typename In, bool kScaled>
__device__ Float8 ReduceSlots(Reduction reduction, const float* scales, const int32_t* columns, int64_t begin,
                              int64_t end, const RowTable& x, const Lanes& lanes, int32_t vector, bool reads) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Float8 sum = Broadcast8(reduction == Reduction::kMax ? -INFINITY : 0.0f);
  int32_t next_node = begin + lane < end ? __ldg(columns + begin + lane) : 0;
  for (int64_t first_slot = begin; first_slot < end; first_slot += 32) {
    const int64_t slots_left = end - first_slot;
    const int count = slots_left < 32 ? static_cast<int>(slots_left) : 32;
    const int32_t my_place = PlaceOf(x, next_node);
    const float my_scale = kScaled ? __ldg(scales + next_node) : 1.0f;
    next_node = first_slot + 32 + lane < end ? __ldg(columns + first_slot + 32 + lane) : 0;
    for (int j = 0; j < count; j += kInFlight * lanes.sides) {
      Raw8<In> rows[kInFlight];
      float factors[kScaled ? kInFlight : 1];
#pragma unroll
      for (int u = 0; u < kInFlight; ++u) {
        const int item = j + u * lanes.sides + lanes.side;
        const int32_t row_place = __shfl_sync(kFullWarp, my_place, item & 31);
        if (kScaled) factors[kScaled ? u : 0] = __shfl_sync(kFullWarp, my_scale, item & 31);
        if (reads && item < count) rows[u] = LoadRaw8(reinterpret_cast<const In*>(RowIn(x, row_place)) + vector * 8);
      }
#pragma unroll
      for (int u = 0; u < kInFlight; ++u) {
        if (!reads || j + u * lanes.sides + lanes.side >= count) continue;
        Float8 row = WidenRaw8(rows[u]);
        if (kScaled) Scale8(factors[kScaled ? u : 0], row);
        Reduce8(reduction, row, sum);
      }
    }
  }
  for (int offset = lanes.parts; offset < 32; offset *= 2) {
    Float8 other;
#pragma unroll
    for (int i = 0; i < 8; ++i) other.v[i] = __shfl_xor_sync(kFullWarp, sum.v[i], offset);
    Reduce8(reduction, other, sum);
  }
  return sum;
}

// Writes vector `vector` of an output row from the reduced neighbors `sum` and the node's own row `self`.
template <typename In, typename Out>
__device__ void PutAggregate(const FullAggregate& aggregate, int64_t node, int64_t degree, Float8 sum, const In* self,
                             const Lanes& lanes, int32_t vector, int32_t vectors, Out* to) {
  if (lanes.side != 0) return;
  if (degree == 0) sum = Float8{};
  if (aggregate.reduction == Reduction::kMean && degree > 0) Scale8(1.0f / static_cast<float>(degree), sum);
  const float scale = aggregate.scales == nullptr ? 1.0f : __ldg(aggregate.scales + node);
  if (aggregate.scales != nullptr) Scale8(scale, sum);
  if (aggregate.self != FullAggregate::Self::kLeftOut) {
    Float8 own_row = Load8(self + vector * 8);
    if (aggregate.self == FullAggregate::Self::kAdded) {
      Scale8(aggregate.scales == nullptr ? aggregate.own_factor : aggregate.own_factor * scale * scale, own_row);
      Add8(own_row, sum);
    } else {
      Store8(to + (vectors + vector) * 8, own_row);
    }
  }
  Store8(to + vector * 8, sum);
}

// Aggregates with one warp per row; rows of more than kPieceNeighbors neighbors are left to the next two kernels.
template <typename In, typename Out, bool kScaled>
__global__ void __launch_bounds__(kBlock)
    FullAggregateKernel(FullAggregate aggregate, BlockRows rows, RowTable x, int32_t vectors, Out* out) {
  const int64_t row = WarpOfGrid();
  if (row >= rows.count) return;
  const int64_t node = NodeOf(rows, row);
  const int64_t begin = __ldg(rows.row_offsets + node), degree = __ldg(rows.row_offsets + node + 1) - begin;
  if (degree > kPieceNeighbors) return;
  const Lanes lanes(vectors);
  Out* to = out + row * vectors * (aggregate.self == FullAggregate::Self::kBeside ? 16 : 8);
  for (int32_t first = 0; first < vectors; first += lanes.parts) {
    const int32_t vector = first + lanes.part;
    const bool reads = vector < vectors;
    const Float8 sum = ReduceSlots<In, kScaled>(aggregate.reduction, aggregate.scales, rows.columns, begin,
                                                begin + degree, x, lanes, vector, reads);
    if (!reads) continue;
    PutAggregate(aggregate, node, degree, sum, reinterpret_cast<const In*>(RowAt(x, node)), lanes, vector, vectors, to);
  }
}

// The slots begin … end - 1 of a piece of a long row.
struct Piece {
  int64_t node, begin, end;
};
__device__ Piece PieceAt(const BlockRows& rows, const LongRows& long_rows, int64_t piece) {
  const int64_t row = __ldg(long_rows.piece_rows + piece) - long_rows.first_row;
  const int64_t number = long_rows.first_piece + piece - __ldg(long_rows.first_pieces + row);
  Piece at;
  at.node = NodeOf(rows, __ldg(long_rows.positions + row) - long_rows.first_position);
  const int64_t row_end = __ldg(rows.row_offsets + at.node + 1);
  at.begin = __ldg(rows.row_offsets + at.node) + number * kPieceNeighbors;
  at.end = at.begin + kPieceNeighbors < row_end ? at.begin + kPieceNeighbors : row_end;
  return at;
}

// Reduces each piece of the long rows with one warp.
template <typename In, bool kScaled>
__global__ void __launch_bounds__(kBlock)
    AggregatePiecesKernel(FullAggregate aggregate, BlockRows rows, LongRows long_rows, RowTable x, int32_t vectors,
                          float* partials) {
  const int64_t piece = WarpOfGrid();
  if (piece >= long_rows.pieces) return;
  const Piece at = PieceAt(rows, long_rows, piece);
  const Lanes lanes(vectors);
  for (int32_t first = 0; first < vectors; first += lanes.parts) {
    const int32_t vector = first + lanes.part;
    const bool reads = vector < vectors;
    const Float8 sum = ReduceSlots<In, kScaled>(aggregate.reduction, aggregate.scales, rows.columns, at.begin, at.end,
                                                x, lanes, vector, reads);
    if (reads && lanes.side == 0) Store8(partials + (piece * vectors + vector) * 8, sum);
  }
}

// Joins the pieces of each long row in order and writes the row, with one warp.
template <typename In, typename Out>
__global__ void __launch_bounds__(kBlock)
    JoinPiecesKernel(FullAggregate aggregate, BlockRows rows, LongRows long_rows, RowTable x, int32_t vectors,
                     const float* partials, Out* out) {
  const int64_t at = WarpOfGrid();
  if (at >= long_rows.count) return;
  const int64_t row = long_rows.positions[at] - long_rows.first_position;
  const int64_t node = NodeOf(rows, row);
  const int64_t degree = rows.row_offsets[node + 1] - rows.row_offsets[node];
  const int64_t begin = long_rows.first_pieces[at] - long_rows.first_piece;
  const int64_t end = long_rows.first_pieces[at + 1] - long_rows.first_piece;
  const Lanes lanes(vectors);
  Out* to = out + row * vectors * (aggregate.self == FullAggregate::Self::kBeside ? 16 : 8);
  for (int32_t vector = lanes.part; vector < vectors; vector += lanes.parts) {
    Float8 sum = Load8(partials + (begin * vectors + vector) * 8);
    for (int64_t piece = begin + 1; piece < end; ++piece) {
      Reduce8(aggregate.reduction, Load8(partials + (piece * vectors + vector) * 8), sum);
    }
    PutAggregate(aggregate, node, degree, sum, reinterpret_cast<const In*>(RowAt(x, node)), lanes, vector, vectors, to);
  }
}

__global__ void __launch_bounds__(kBlock)
    SymmetricScalesKernel(const int64_t* row_offsets, int64_t num_nodes, float* scales) {
  const int64_t node = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (node >= num_nodes) return;
  const int64_t degree = __ldg(row_offsets + node + 1) - __ldg(row_offsets + node);
  scales[node] = static_cast<float>(1.0 / sqrt(static_cast<double>(degree) + 1.0));
}

// ---- attention ----

template <typename In>
__global__ void __launch_bounds__(kBlock)
    ScoresKernel(FullAttention attention, int64_t num_nodes, RowTable x, int32_t vectors, float* scores) {
  const int64_t node = WarpOfGrid();
  if (node >= num_nodes) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const In* row = reinterpret_cast<const In*>(RowAt(x, node));
  for (int32_t vector_number = 0; vector_number < 2 * attention.heads; ++vector_number) {
    const float* folded = attention.folded + static_cast<int64_t>(vector_number) * vectors * 8;
    float sum = 0;
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      const Float8 a = Load8(row + vector * 8), b = Load8(folded + vector * 8);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum += a.v[i] * b.v[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kFullWarp, sum, offset);
    if (lane == 0) scores[node * 2 * attention.heads + vector_number] = sum;
  }
}

__device__ float AttentionLogit(const FullAttention& attention, const float* scores, int64_t source, int64_t node,
                                int head) {
  const float sum = __ldg(scores + source * 2 * attention.heads + head) +
                    __ldg(scores + node * 2 * attention.heads + attention.heads + head);
  return sum > 0.0f ? sum : attention.negative_slope * sum;
}

// The largest logit and the sum of exp(logit - largest) over some of a node's slots. Slots that name the node itself
// are left out.
struct Softmax {
  float largest, sum;
};
__device__ Softmax SoftmaxOf(const FullAttention& attention, const int32_t* columns, int64_t begin, int64_t end,
                             int64_t node, const float* scores, int head) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Softmax result = {kNoLogit, 0.0f};
  for (int64_t slot = begin + lane; slot < end; slot += 32) {
    const int32_t source = __ldg(columns + slot);
    if (source != node) result.largest = fmaxf(result.largest, AttentionLogit(attention, scores, source, node, head));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    result.largest = fmaxf(result.largest, __shfl_xor_sync(kFullWarp, result.largest, offset));
  }
  for (int64_t slot = begin + lane; slot < end; slot += 32) {
    const int32_t source = __ldg(columns + slot);
    if (source != node) result.sum += expf(AttentionLogit(attention, scores, source, node, head) - result.largest);
  }
  for (int offset = 16; offset > 0; offset /= 2) result.sum += __shfl_xor_sync(kFullWarp, result.sum, offset);
  return result;
}

// Returns vector `vector` of the sum, over the same slots, of exp(logit - largest) times the source's row.
template <typename In>
__device__ Float8 WeightedSlots(const FullAttention& attention, const int32_t* columns, int64_t begin, int64_t end,
                                int64_t node, const float* scores, int head, float largest, const RowTable& x,
                                const Lanes& lanes, int32_t vector, bool reads) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t own_place = PlaceOf(x, static_cast<int32_t>(node));
  Float8 sum = {};
  for (int64_t first_slot = begin; first_slot < end; first_slot += 32) {
    const int64_t slots_left = end - first_slot;
    const int count = slots_left < 32 ? static_cast<int>(slots_left) : 32;
    const int32_t my_source = lane < count ? __ldg(columns + first_slot + lane) : 0;
    const int32_t my_place = PlaceOf(x, my_source);
    float weight = 0;
    if (lane < count && my_source != node)
      weight = expf(AttentionLogit(attention, scores, my_source, node, head) - largest);
#pragma unroll 4
    for (int j = 0; j < count; j += lanes.sides) {
      const int item = j + lanes.side;
      const int32_t row_place = __shfl_sync(kFullWarp, my_place, item < 32 ? item : 0);
      const float factor = __shfl_sync(kFullWarp, weight, item < 32 ? item : 0);
      if (!reads || item >= count || row_place == own_place) continue;
      const Float8 row = Load8(reinterpret_cast<const In*>(RowIn(x, row_place)) + vector * 8);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum.v[i] += factor * row.v[i];
    }
  }
  for (int offset = lanes.parts; offset < 32; offset *= 2) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.v[i] += __shfl_xor_sync(kFullWarp, sum.v[i], offset);
  }
  return sum;
}

// Combines the sum over the slots and the node's own row, each relative to the larger of the two largest logits, and
// writes vector `vector` of the output row.
template <typename In, typename Out>
__device__ void PutAttention(const Softmax& of_slots, float own_logit, Float8 sum, const In* self, const Lanes& lanes,
                             int32_t vector, Out* to) {
  if (lanes.side != 0) return;
  const float largest = fmaxf(of_slots.largest, own_logit);
  const float slots_factor = expf(of_slots.largest - largest), own_factor = expf(own_logit - largest);
  const float inverse = 1.0f / (of_slots.sum * slots_factor + own_factor);
  const Float8 own_row = Load8(self + vector * 8);
#pragma unroll
  for (int i = 0; i < 8; ++i) sum.v[i] = (sum.v[i] * slots_factor + own_row.v[i] * own_factor) * inverse;
  Store8(to + vector * 8, sum);
}

// Attends with one warp per row; rows of more than kPieceNeighbors neighbors are left to the next two kernels.
template <typename In, typename Out>
__global__ void __launch_bounds__(kBlock)
    FullAttentionKernel(FullAttention attention, BlockRows rows, const float* scores, RowTable x, int32_t vectors,
                        Out* out) {
  const int64_t row = WarpOfGrid();
  if (row >= rows.count) return;
  const int64_t node = NodeOf(rows, row);
  const int64_t begin = __ldg(rows.row_offsets + node), end = __ldg(rows.row_offsets + node + 1);
  if (end - begin > kPieceNeighbors) return;
  const Lanes lanes(vectors);
  const In* self = reinterpret_cast<const In*>(RowAt(x, node));
  for (int32_t head = 0; head < attention.heads; ++head) {
    const Softmax of_slots = SoftmaxOf(attention, rows.columns, begin, end, node, scores, head);
    Out* to = out + (row * attention.heads + head) * vectors * 8;
    for (int32_t first = 0; first < vectors; first += lanes.parts) {
      const int32_t vector = first + lanes.part;
      const bool reads = vector < vectors;
      const Float8 sum = WeightedSlots<In>(attention, rows.columns, begin, end, node, scores, head, of_slots.largest, x,
                                           lanes, vector, reads);
      if (reads)
        PutAttention(of_slots, AttentionLogit(attention, scores, node, node, head), sum, self, lanes, vector, to);
    }
  }
}

// partials: [pieces, heads, vectors * 8] sums, then [pieces, heads, 2], each a Softmax.
template <typename In>
__global__ void __launch_bounds__(kBlock)
    AttentionPiecesKernel(FullAttention attention, BlockRows rows, LongRows long_rows, const float* scores, RowTable x,
                          int32_t vectors, float* partials) {
  const int64_t piece = WarpOfGrid();
  if (piece >= long_rows.pieces) return;
  const Piece at = PieceAt(rows, long_rows, piece);
  const Lanes lanes(vectors);
  float* softmaxes = partials + static_cast<int64_t>(long_rows.pieces) * attention.heads * vectors * 8;
  for (int32_t head = 0; head < attention.heads; ++head) {
    const int64_t partial_index = piece * attention.heads + head;
    const Softmax of_slots = SoftmaxOf(attention, rows.columns, at.begin, at.end, at.node, scores, head);
    if (threadIdx.x % 32 == 0) {
      softmaxes[2 * partial_index] = of_slots.largest;
      softmaxes[2 * partial_index + 1] = of_slots.sum;
    }
    for (int32_t first = 0; first < vectors; first += lanes.parts) {
      const int32_t vector = first + lanes.part;
      const bool reads = vector < vectors;
      const Float8 sum = WeightedSlots<In>(attention, rows.columns, at.begin, at.end, at.node, scores, head,
                                           of_slots.largest, x, lanes, vector, reads);
      if (reads && lanes.side == 0) Store8(partials + (partial_index * vectors + vector) * 8, sum);
    }
  }
}

// Joins the pieces of each long row in order and writes the row, with one warp.
template <typename In, typename Out>
__global__ void __launch_bounds__(kBlock)
    JoinAttentionKernel(FullAttention attention, BlockRows rows, LongRows long_rows, const float* scores, RowTable x,
                        int32_t vectors, const float* partials, Out* out) {
  const int64_t at = WarpOfGrid();
  if (at >= long_rows.count) return;
  const int64_t row = long_rows.positions[at] - long_rows.first_position;
  const int64_t node = NodeOf(rows, row);
  const int64_t begin = long_rows.first_pieces[at] - long_rows.first_piece;
  const int64_t end = long_rows.first_pieces[at + 1] - long_rows.first_piece;
  const Lanes lanes(vectors);
  const In* self = reinterpret_cast<const In*>(RowAt(x, node));
  const float* softmaxes = partials + static_cast<int64_t>(long_rows.pieces) * attention.heads * vectors * 8;
  for (int32_t head = 0; head < attention.heads; ++head) {
    Softmax merged_softmax = {kNoLogit, 0.0f};
    for (int64_t piece = begin; piece < end; ++piece) {
      merged_softmax.largest = fmaxf(merged_softmax.largest, softmaxes[2 * (piece * attention.heads + head)]);
    }
    for (int64_t piece = begin; piece < end; ++piece) {
      const float* softmax = softmaxes + 2 * (piece * attention.heads + head);
      merged_softmax.sum += softmax[1] * expf(softmax[0] - merged_softmax.largest);
    }
    Out* to = out + (row * attention.heads + head) * vectors * 8;
    for (int32_t vector = lanes.part; vector < vectors; vector += lanes.parts) {
      Float8 sum = {};
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t partial_index = piece * attention.heads + head;
        const float factor = expf(softmaxes[2 * partial_index] - merged_softmax.largest);
        const Float8 part = Load8(partials + (partial_index * vectors + vector) * 8);
#pragma unroll
        for (int i = 0; i < 8; ++i) sum.v[i] += factor * part.v[i];
      }
      PutAttention(merged_softmax, AttentionLogit(attention, scores, node, node, head), sum, self, lanes, vector, to);
    }
  }
}

// ---- after the products: one vector per thread ----

template <typename T>
__global__ void __launch_bounds__(kBlock)
    FinishRowsKernel(FinishRows finish, BlockRows rows, const T* x, int32_t vectors, RowsOut y, T* also) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = at / vectors;
  const auto vector = static_cast<int32_t>(at % vectors);
  if (row >= rows.count) return;
  Float8 value = Load8(x + at * 8);
  if (finish.scale != nullptr) {
    const Float8 mean = Load8(finish.mean + vector * 8), scale = Load8(finish.scale + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) value.v[i] = (value.v[i] - mean.v[i]) * scale.v[i];
  }
  Activate8(finish.activation, finish.shift, vector, value);
  if (finish.residual != nullptr) {
    const Float8 residual = Load8(static_cast<const T*>(finish.residual) + row * finish.residual_stride + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) value.v[i] += finish.residual_factor * residual.v[i];
  }
  if (finish.residual_bias != nullptr) Add8(Load8(finish.residual_bias + vector * 8), value);
  unsigned char* to = y.block != nullptr ? y.block + row * y.block_stride_bytes : RowAt(y.table, NodeOf(rows, row));
  if (to != nullptr) Store8(reinterpret_cast<T*>(to) + vector * 8, value);
  if (also != nullptr) Store8(also + at * 8, value);
}

// Normalises one row per warp.
template <typename T>
__global__ void __launch_bounds__(kBlock)
    NormaliseRowsKernel(BlockRows rows, const T* x, int32_t columns, int32_t vectors, const float* weight,
                        const float* bias, T* y) {
  const int64_t row = WarpOfGrid();
  if (row >= rows.count) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const T* from = x + row * vectors * 8;
  const auto mean_of_row = [&](float mean, bool squares) {
    float sum = 0;
    for (int32_t vector = lane; vector < vectors; vector += 32) {
      const Float8 v = Load8(from + vector * 8);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float d = vector * 8 + i < columns ? v.v[i] - mean : 0.0f;
        sum += squares ? d * d : d;
      }
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kFullWarp, sum, offset);
    return sum / static_cast<float>(columns);
  };
  const float mean = mean_of_row(0.0f, /*squares=*/false);
  const float inverse = 1.0f / sqrtf(mean_of_row(mean, /*squares=*/true) + static_cast<float>(kLayerNormEpsilon));
  for (int32_t vector = lane; vector < vectors; vector += 32) {
    Float8 v = Load8(from + vector * 8);
    const Float8 w = Load8(weight + vector * 8), b = Load8(bias + vector * 8);
#pragma unroll
    for (int i = 0; i < 8; ++i) v.v[i] = (v.v[i] - mean) * inverse * w.v[i] + b.v[i];
    Store8(y + (row * vectors + vector) * 8, v);
  }
}

__device__ inline void StoreOne(float* p, float x) { *p = x; }
__device__ inline void StoreOne(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }
__device__ inline float LoadOne(const float* p) { return __ldg(p); }
__device__ inline float LoadOne(const __half* p) { return __half2float(*p); }
__device__ inline float LoadOne(const __nv_bfloat16* p) { return __bfloat162float(*p); }

// Copies a vector per thread if rows and columns begin at vectors' boundaries (`by_vectors`), otherwise an element per
// thread.
template <typename In, typename Out>
__global__ void __launch_bounds__(kBlock)
    CopyColumnsKernel(BlockRows rows, RowsIn from, int32_t width, RowsOut to, int32_t fill, bool by_vectors) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int32_t parts = by_vectors ? fill / 8 : fill;
  const int64_t row = at / parts;
  const auto part = static_cast<int32_t>(at % parts);
  if (row >= rows.count) return;
  const int64_t node = NodeOf(rows, row);
  const auto* source = reinterpret_cast<const In*>(from.block != nullptr ? from.block + row * from.block_stride_bytes
                                                                         : RowAt(from.table, node));
  auto* target =
      reinterpret_cast<Out*>(to.block != nullptr ? to.block + row * to.block_stride_bytes : RowAt(to.table, node));
  if (by_vectors) {
    Store8(target + part * 8, part * 8 < width ? Load8(source + part * 8) : Float8{});
  } else {
    StoreOne(target + part, part < width ? LoadOne(source + part) : 0.0f);
  }
}

__global__ void __launch_bounds__(kBlock)
    AddToTableKernel(bool fresh, BlockRows rows, const float* x, int32_t vectors, RowTable sums) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = at / vectors;
  if (row >= rows.count) return;
  float* to = reinterpret_cast<float*>(RowAt(sums, NodeOf(rows, row))) + at % vectors * 8;
  Float8 value = Load8(x + at * 8);
  if (!fresh) {
#pragma unroll
    for (int i = 0; i < 8; ++i) value.v[i] += to[i];
  }
  Store8(to, value);
}

// Finishes the logits and finds the class of the largest, with one warp per row.
__global__ void __launch_bounds__(kBlock)
    FinishLogitsKernel(BlockRows rows, const float* x, int32_t stride, int32_t classes, bool adds, RowTable sums,
                       const float* bias, float* logits, int32_t* predicted) {
  const int64_t row = WarpOfGrid();
  if (row >= rows.count) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float* other_sum = adds ? reinterpret_cast<const float*>(RowAt(sums, NodeOf(rows, row))) : nullptr;
  float best = -INFINITY;
  int32_t class_index = classes;  // no class yet
  for (int32_t c = lane; c < classes; c += 32) {
    float value = x[row * stride + c];
    if (other_sum != nullptr) value += other_sum[c];
    if (bias != nullptr) value += bias[c];
    logits[row * classes + c] = value;
    if (value > best || class_index == classes) {
      best = value;
      class_index = c;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_value = __shfl_xor_sync(kFullWarp, best, offset);
    const int32_t other_class = __shfl_xor_sync(kFullWarp, class_index, offset);
    if (other_class < classes &&
        (class_index == classes || other_value > best || (other_value == best && other_class < class_index))) {
      best = other_value;
      class_index = other_class;
    }
  }
  if (lane == 0) predicted[row] = class_index;
}

__global__ void __launch_bounds__(kBlock) CountReadersKernel(const int32_t* columns, int64_t num_edges, uint32_t* counts) {
  const int64_t slot = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (slot < num_edges) atomicAdd(counts + __ldg(columns + slot), 1u);
}

// ---- dispatch ----

unsigned ThreadBlocks(int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

template <typename In, typename Out, bool kScaled>
cudaError_t LaunchAggregate(const FullAggregate& aggregate, const BlockRows& rows, const LongRows& long_rows,
                            const RowTable& x, int32_t vectors, void* out, float* partials, cudaStream_t stream) {
  Launch(FullAggregateKernel<In, Out, kScaled>, Blocks(rows.count), kBlock, 0, stream, aggregate, rows, x, vectors,
         static_cast<Out*>(out));
  if (long_rows.count > 0) {
    Launch(AggregatePiecesKernel<In, kScaled>, Blocks(long_rows.pieces), kBlock, 0, stream, aggregate, rows, long_rows,
           x, vectors, partials);
    Launch(JoinPiecesKernel<In, Out>, Blocks(long_rows.count), kBlock, 0, stream, aggregate, rows, long_rows, x,
           vectors, partials, static_cast<Out*>(out));
  }
  return cudaPeekAtLastError();
}

template <typename In, typename Out>
cudaError_t LaunchAttention(const FullAttention& attention, const BlockRows& rows, const LongRows& long_rows,
                            const float* scores, const RowTable& x, int32_t vectors, void* out, float* partials,
                            cudaStream_t stream) {
  Launch(FullAttentionKernel<In, Out>, Blocks(rows.count), kBlock, 0, stream, attention, rows, scores, x, vectors,
         static_cast<Out*>(out));
  if (long_rows.count > 0) {
    Launch(AttentionPiecesKernel<In>, Blocks(long_rows.pieces), kBlock, 0, stream, attention, rows, long_rows, scores,
           x, vectors, partials);
    Launch(JoinAttentionKernel<In, Out>, Blocks(long_rows.count), kBlock, 0, stream, attention, rows, long_rows, scores,
           x, vectors, partials, static_cast<Out*>(out));
  }
  return cudaPeekAtLastError();
}

// Calls with<In, Out>() with the types of the two dtypes.
template <typename With>
cudaError_t ForElements(Element in, Element out, const With& with) {
  const bool wide = out == Element::kFloat32;
  switch (in) {
    case Element::kFloat32:
      return wide ? with.template operator()<float, float>() : with.template operator()<float, __nv_bfloat16>();
    case Element::kFloat16:
      return wide ? with.template operator()<__half, float>() : with.template operator()<__half, __nv_bfloat16>();
    case Element::kBFloat16:
      return wide ? with.template operator()<__nv_bfloat16, float>()
                  : with.template operator()<__nv_bfloat16, __nv_bfloat16>();
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t EnqueueFullAggregate(const FullAggregate& aggregate, const BlockRows& rows, const LongRows& long_rows,
                                 const RowTable& x, Element in_element, int32_t width, Element element, void* out,
                                 float* partials, cudaStream_t stream) {
  return ForElements(in_element, element, [&]<typename In, typename Out>() {
    if (aggregate.scales != nullptr) {
      return LaunchAggregate<In, Out, true>(aggregate, rows, long_rows, x, width / 8, out, partials, stream);
    }
    return LaunchAggregate<In, Out, false>(aggregate, rows, long_rows, x, width / 8, out, partials, stream);
  });
}

cudaError_t EnqueueScores(const FullAttention& attention, int64_t num_nodes, const RowTable& x, Element in_element,
                          int32_t width, float* scores, cudaStream_t stream) {
  return ForElements(in_element, Element::kFloat32, [&]<typename In, typename>() {
    Launch(ScoresKernel<In>, Blocks(num_nodes), kBlock, 0, stream, attention, num_nodes, x, width / 8, scores);
    return cudaPeekAtLastError();
  });
}

cudaError_t EnqueueFullAttention(const FullAttention& attention, const BlockRows& rows, const LongRows& long_rows,
                                 const float* scores, const RowTable& x, Element in_element, int32_t width,
                                 Element element, void* out, float* partials, cudaStream_t stream) {
  return ForElements(in_element, element, [&]<typename In, typename Out>() {
    return LaunchAttention<In, Out>(attention, rows, long_rows, scores, x, width / 8, out, partials, stream);
  });
}

cudaError_t EnqueueFinishRows(const FinishRows& finish, const BlockRows& rows, Element element, const void* x,
                              int32_t width, const RowsOut& y, void* also, cudaStream_t stream) {
  const unsigned blocks = ThreadBlocks(static_cast<int64_t>(rows.count) * (width / 8));
  if (element == Element::kFloat32) {
    Launch(FinishRowsKernel<float>, blocks, kBlock, 0, stream, finish, rows, static_cast<const float*>(x), width / 8, y,
           static_cast<float*>(also));
  } else {
    Launch(FinishRowsKernel<__nv_bfloat16>, blocks, kBlock, 0, stream, finish, rows,
           static_cast<const __nv_bfloat16*>(x), width / 8, y, static_cast<__nv_bfloat16*>(also));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueSymmetricScales(const int64_t* row_offsets, int64_t num_nodes, float* scales, cudaStream_t stream) {
  Launch(SymmetricScalesKernel, ThreadBlocks(num_nodes), kBlock, 0, stream, row_offsets, num_nodes, scales);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueNormaliseRows(const BlockRows& rows, Element element, const void* x, int32_t columns, int32_t width,
                                 const float* weight, const float* bias, void* y, cudaStream_t stream) {
  if (element == Element::kFloat32) {
    Launch(NormaliseRowsKernel<float>, Blocks(rows.count), kBlock, 0, stream, rows, static_cast<const float*>(x),
           columns, width / 8, weight, bias, static_cast<float*>(y));
  } else {
    Launch(NormaliseRowsKernel<__nv_bfloat16>, Blocks(rows.count), kBlock, 0, stream, rows,
           static_cast<const __nv_bfloat16*>(x), columns, width / 8, weight, bias, static_cast<__nv_bfloat16*>(y));
  }
  return cudaPeekAtLastError();
}

cudaError_t EnqueueCopyColumns(const BlockRows& rows, const RowsIn& from, Element from_element, int32_t width,
                               const RowsOut& to, Element to_element, int32_t fill, cudaStream_t stream) {
  const auto on_boundary = [](const unsigned char* p, int64_t stride) {
    return reinterpret_cast<uintptr_t>(p) % 16 == 0 && stride % 16 == 0;
  };
  const auto table_is = [&](const RowTable& table) {
    return on_boundary(table.device, table.stride_bytes) && on_boundary(table.host, table.stride_bytes);
  };
  const bool by_vectors =
      width % 8 == 0 && fill % 8 == 0 &&
      (from.block != nullptr ? on_boundary(from.block, from.block_stride_bytes) : table_is(from.table)) &&
      (to.block != nullptr ? on_boundary(to.block, to.block_stride_bytes) : table_is(to.table));
  const unsigned blocks = ThreadBlocks(static_cast<int64_t>(rows.count) * (by_vectors ? fill / 8 : fill));
  return ForElements(from_element, to_element, [&]<typename In, typename Out>() {
    Launch(CopyColumnsKernel<In, Out>, blocks, kBlock, 0, stream, rows, from, width, to, fill, by_vectors);
    return cudaPeekAtLastError();
  });
}

cudaError_t EnqueueCountReaders(const int32_t* columns, int64_t num_edges, uint32_t* counts, cudaStream_t stream) {
  if (num_edges == 0) return cudaSuccess;
  Launch(CountReadersKernel, ThreadBlocks(num_edges), kBlock, 0, stream, columns, num_edges, counts);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueAddToTable(bool fresh, const BlockRows& rows, const float* x, int32_t width, const RowTable& sums,
                              cudaStream_t stream) {
  Launch(AddToTableKernel, ThreadBlocks(static_cast<int64_t>(rows.count) * (width / 8)), kBlock, 0, stream, fresh, rows,
         x, width / 8, sums);
  return cudaPeekAtLastError();
}

cudaError_t EnqueueFinishLogits(const BlockRows& rows, const float* x, int32_t stride, int32_t classes,
                                const RowTable* sums, const float* bias, float* logits, int32_t* predicted,
                                cudaStream_t stream) {
  Launch(FinishLogitsKernel, Blocks(rows.count), kBlock, 0, stream, rows, x, stride, classes, sums != nullptr,
         sums != nullptr ? *sums : RowTable{}, bias, logits, predicted);
  return cudaPeekAtLastError();
}

}  // namespace hone::gnn::cuda
