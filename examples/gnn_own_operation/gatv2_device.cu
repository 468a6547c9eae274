// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements GATv2 on a GPU. A warp works on each destination or source; its lanes have columns of a head. Sums have
// one order.
#include <algorithm>

#include "gatv2.h"
#include "hone/gnn/op_kernels.h"

using namespace hone::gnn;  // NOLINT: an example, not a header

namespace {

constexpr int kBlock = 128;  // threads of a block
constexpr int kTile = 64;    // destinations whose gradient of att one block sums
constexpr unsigned kAll = 0xffffffffu;

// Sizes that the kernels share. Slot `counts[i]` of destination i stands for the node itself.
struct Shape {
  int32_t heads, width, slots;  // slots: slots of a destination, including that of the node itself
  float slope;
  int32_t columns, stride, out_stride;
  const float* lin_edge;  // W of gatv2.h [columns, hop.edge_columns]; unused if edges have no features
};

__device__ inline int32_t WarpOfGrid() { return static_cast<int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32); }
__device__ inline int Lane() { return static_cast<int>(threadIdx.x % 32); }
__device__ inline float WarpSum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kAll, x, offset);
  return x;
}
__device__ inline float Leaky(const Shape& shape, float z) { return z > 0 ? z : shape.slope * z; }
__device__ inline int32_t SourceOf(const DeviceHop& hop, int32_t row, int32_t slot) {
  return slot < hop.counts[row] ? hop.columns[static_cast<int64_t>(row) * hop.fanout + slot] : row;
}
// Returns whether a slot is skipped, because it is an edge of the node to itself: the slot after the others stands for
// that.
__device__ inline bool Skips(const DeviceHop& hop, int32_t row, int32_t slot) {
  return slot < hop.counts[row] && SourceOf(hop, row, slot) == row;
}
// Returns the features of a slot's edge; null if edges have none, and for the slot of the node itself.
__device__ inline const float* EdgeOf(const DeviceHop& hop, int32_t row, int32_t slot) {
  if (hop.edge_features == nullptr || slot >= hop.counts[row]) return nullptr;
  return hop.edge_features + (static_cast<int64_t>(row) * hop.fanout + slot) * hop.edge_stride;
}
// Returns what the edge in a slot adds to the score's argument in `column`. It is computed anew wherever it is needed,
// because edges have few features.
__device__ inline float EdgeTerm(const DeviceHop& hop, const Shape& shape, int32_t row, int32_t slot, int32_t column) {
  const float* const edge = EdgeOf(hop, row, slot);
  if (edge == nullptr) return 0;
  float sum = 0;
  for (int32_t f = 0; f < hop.edge_columns; ++f) sum += shape.lin_edge[column * hop.edge_columns + f] * edge[f];
  return sum;
}
// Returns the index of a slot's and head's weight in alpha and in arrays of the same shape.
__device__ inline int64_t At(const Shape& shape, int32_t row, int32_t slot, int32_t h) {
  return (static_cast<int64_t>(row) * shape.slots + slot) * shape.heads + h;
}

// Computes `out`, and alpha and factor [most_dst, slots, heads]: softmax's weights, and dropout's factors.
template <typename T>
__global__ void ForwardKernel(DeviceHop hop, Shape shape, DeviceDropRate rate, const T* x, const float* att,
                              float* alpha, float* factor, T* out) {
  const int32_t row = WarpOfGrid();
  if (row >= NumDst(hop)) return;
  const int32_t last = hop.counts[row];
  const int lane = Lane();
  for (int32_t h = 0; h < shape.heads; ++h) {
    const int32_t first = h * shape.width;
    const T* right = x + static_cast<int64_t>(row) * shape.stride + shape.columns + first;
    float largest = -INFINITY;
    for (int32_t slot = 0; slot <= last; ++slot) {
      if (Skips(hop, row, slot)) continue;
      const T* left = x + static_cast<int64_t>(SourceOf(hop, row, slot)) * shape.stride + first;
      float sum = 0;
      for (int32_t c = lane; c < shape.width; c += 32) {
        sum += att[first + c] * Leaky(shape, LoadElement(left + c) + LoadElement(right + c) +
                                                 EdgeTerm(hop, shape, row, slot, first + c));
      }
      sum = WarpSum(sum);
      if (lane == 0) alpha[At(shape, row, slot, h)] = sum;
      largest = fmaxf(largest, sum);
    }
    __syncwarp();
    float total = 0;
    for (int32_t slot = lane; slot <= last; slot += 32) {
      if (!Skips(hop, row, slot)) total += expf(alpha[At(shape, row, slot, h)] - largest);
    }
    total = WarpSum(total);
    for (int32_t slot = lane; slot <= last; slot += 32) {
      const int64_t at = At(shape, row, slot, h);
      alpha[at] = Skips(hop, row, slot) ? 0.0f : expf(alpha[at] - largest) / total;
      factor[at] = Kept(hop, rate, hop.nodes[row], slot * shape.heads + h) ? rate.scale : 0.0f;
    }
    __syncwarp();
    for (int32_t c = lane; c < shape.width; c += 32) {
      float sum = 0;
      for (int32_t slot = 0; slot <= last; ++slot) {
        if (Skips(hop, row, slot)) continue;
        const int64_t at = At(shape, row, slot, h);
        sum += alpha[at] * factor[at] *
               LoadElement(x + static_cast<int64_t>(SourceOf(hop, row, slot)) * shape.stride + first + c);
      }
      StoreElement(out + static_cast<int64_t>(row) * shape.out_stride + first + c, sum);
    }
    __syncwarp();  // before the next head's weights
  }
}

// Computes the gradients of the scores, shaped like alpha; of att, a row per destination; and of the right halves, in
// grad_x.
template <typename T>
__global__ void DestinationsKernel(DeviceHop hop, Shape shape, const T* x, const T* grad_out, const float* att,
                                   const float* alpha, const float* factor, float* grad_scores, float* grad_att,
                                   T* grad_x) {
  const int32_t row = WarpOfGrid();
  if (row >= NumDst(hop)) return;
  const int32_t last = hop.counts[row];
  const int lane = Lane();
  for (int32_t h = 0; h < shape.heads; ++h) {
    const int32_t first = h * shape.width;
    const T* grad = grad_out + static_cast<int64_t>(row) * shape.out_stride + first;
    const T* right = x + static_cast<int64_t>(row) * shape.stride + shape.columns + first;
    float total = 0;
    for (int32_t slot = 0; slot <= last; ++slot) {
      if (Skips(hop, row, slot)) continue;
      const T* left = x + static_cast<int64_t>(SourceOf(hop, row, slot)) * shape.stride + first;
      float dot = 0;
      for (int32_t c = lane; c < shape.width; c += 32) dot += LoadElement(grad + c) * LoadElement(left + c);
      const int64_t at = At(shape, row, slot, h);
      dot = factor[at] * WarpSum(dot);
      total += alpha[at] * dot;
      if (lane == 0) grad_scores[at] = dot;
    }
    __syncwarp();
    for (int32_t slot = lane; slot <= last; slot += 32) {
      const int64_t at = At(shape, row, slot, h);
      grad_scores[at] = Skips(hop, row, slot) ? 0.0f : alpha[at] * (grad_scores[at] - total);
    }
    __syncwarp();
    for (int32_t c = lane; c < shape.width; c += 32) {
      float of_att = 0, of_right = 0;
      for (int32_t slot = 0; slot <= last; ++slot) {
        if (Skips(hop, row, slot)) continue;
        const float score = grad_scores[At(shape, row, slot, h)];
        const float z = LoadElement(x + static_cast<int64_t>(SourceOf(hop, row, slot)) * shape.stride + first + c) +
                        LoadElement(right + c) + EdgeTerm(hop, shape, row, slot, first + c);
        of_att += score * Leaky(shape, z);
        of_right += score * (z > 0 ? 1.0f : shape.slope);
      }
      grad_att[static_cast<int64_t>(row) * shape.columns + first + c] = of_att;
      if (grad_x != nullptr) {
        StoreElement(grad_x + static_cast<int64_t>(row) * shape.stride + shape.columns + first + c,
                     of_right * att[first + c]);
      }
    }
    __syncwarp();
  }
}

// Computes the left halves of grad_x, from the slots that drew each source. Also writes the right halves of sources
// that are no destinations.
template <typename T>
__global__ void SourcesKernel(DeviceHop hop, Shape shape, const T* x, const T* grad_out, const float* att,
                              const float* alpha, const float* factor, const float* grad_scores, T* grad_x) {
  const int32_t source = WarpOfGrid();
  if (source >= NumSrc(hop)) return;
  const bool is_destination = source < NumDst(hop);
  const int32_t slots = hop.end[source] - hop.first[source];
  T* to = grad_x + static_cast<int64_t>(source) * shape.stride;
  for (int32_t column = Lane(); column < shape.columns; column += 32) {
    const int32_t h = column / shape.width;
    const float own = LoadElement(x + static_cast<int64_t>(source) * shape.stride + column);
    float sum = 0;
    for (int32_t k = 0; k < slots + (is_destination ? 1 : 0); ++k) {
      int32_t row = source, slot = 0;
      if (k < slots) {
        const auto place = static_cast<int32_t>(hop.slots_by_source[hop.first[source] + k]);
        row = place / hop.fanout;
        slot = place % hop.fanout;
        if (row == source) continue;
      } else {
        slot = hop.counts[row];
      }
      const int64_t at = At(shape, row, slot, h);
      const float z = own + LoadElement(x + static_cast<int64_t>(row) * shape.stride + shape.columns + column) +
                      EdgeTerm(hop, shape, row, slot, column);
      sum += alpha[at] * factor[at] * LoadElement(grad_out + static_cast<int64_t>(row) * shape.out_stride + column) +
             grad_scores[at] * att[column] * (z > 0 ? 1.0f : shape.slope);
    }
    StoreElement(to + column, sum);
    if (!is_destination) StoreElement(to + shape.columns + column, 0.0f);
  }
}

// Computes the gradient of W over kTile destinations per block. A thread adds up the rows of its own columns.
template <typename T>
__global__ void EdgeTilesKernel(DeviceHop hop, Shape shape, const T* x, const float* att, const float* grad_scores,
                                float* tiles) {
  const int32_t first = static_cast<int32_t>(blockIdx.x) * kTile;
  const int32_t end = min(NumDst(hop), first + kTile);
  for (int32_t column = static_cast<int32_t>(threadIdx.x); column < shape.columns; column += kBlock) {
    float* const to = tiles + (static_cast<int64_t>(blockIdx.x) * shape.columns + column) * hop.edge_columns;
    for (int32_t f = 0; f < hop.edge_columns; ++f) to[f] = 0;
    for (int32_t row = first; row < end; ++row) {
      const float right = LoadElement(x + static_cast<int64_t>(row) * shape.stride + shape.columns + column);
      for (int32_t slot = 0; slot < hop.counts[row]; ++slot) {
        if (Skips(hop, row, slot)) continue;
        const float z = LoadElement(x + static_cast<int64_t>(SourceOf(hop, row, slot)) * shape.stride + column) +
                        right + EdgeTerm(hop, shape, row, slot, column);
        const float through =
            grad_scores[At(shape, row, slot, column / shape.width)] * att[column] * (z > 0 ? 1.0f : shape.slope);
        const float* const edge = EdgeOf(hop, row, slot);
        for (int32_t f = 0; f < hop.edge_columns; ++f) to[f] += through * edge[f];
      }
    }
  }
}

// Sums grad_att over kTile destinations per block, and then over the tiles, in an order that does not depend on the
// grid's timing.
__global__ void TilesKernel(DeviceHop hop, int32_t columns, const float* grad_att, float* tiles) {
  const int32_t first = static_cast<int32_t>(blockIdx.x) * kTile;
  const int32_t end = min(NumDst(hop), first + kTile);
  for (int32_t c = static_cast<int32_t>(threadIdx.x); c < columns; c += kBlock) {
    float sum = 0;
    for (int32_t row = first; row < end; ++row) sum += grad_att[static_cast<int64_t>(row) * columns + c];
    tiles[static_cast<int64_t>(blockIdx.x) * columns + c] = sum;
  }
}
__global__ void JoinTilesKernel(DeviceHop hop, int32_t columns, const float* tiles, float* gradient) {
  const auto c = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= columns) return;
  float sum = 0;
  for (int32_t tile = 0; tile * kTile < NumDst(hop); ++tile) sum += tiles[static_cast<int64_t>(tile) * columns + c];
  gradient[c] = sum;
}

int64_t Tiles(const DeviceOpShape& shape) { return (shape.most_dst + kTile - 1) / kTile; }
int64_t WarpBlocks(int64_t rows) { return (rows * 32 + kBlock - 1) / kBlock; }

class GatV2OnDevice final : public DeviceOp {
 public:
  explicit GatV2OnDevice(const OpPlace& place) : shape_(ShapeOf(place)) {}

  DeviceOpBytes Bytes(const DeviceOpShape& of) const override {
    const int64_t weights = Weights(of), columns = shape_.columns();
    const int64_t sums = (of.most_dst + Tiles(of) * std::max(shape_.edge_columns, 1)) * columns;
    return {.saved = 2 * weights * 4, .workspace = of.trains ? (weights + sums) * 4 : 0};
  }
  hone::Status EnqueueForward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const override {
    return call.shape.element == OpElement::kFloat32 ? Forward<float>(call, x, out)
                                                     : Forward<__nv_bfloat16>(call, x, out);
  }
  hone::Status EnqueueBackward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& grad_out,
                               const DeviceRows& grad_x) const override {
    return call.shape.element == OpElement::kFloat32 ? Backward<float>(call, x, grad_out, grad_x)
                                                     : Backward<__nv_bfloat16>(call, x, grad_out, grad_x);
  }

 private:
  int64_t Weights(const DeviceOpShape& of) const { return int64_t{of.most_dst} * (of.fanout + 1) * shape_.heads; }
  Shape OnDevice(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const {
    return {shape_.heads,
            shape_.width,
            call.shape.fanout + 1,
            shape_.slope,
            shape_.columns(),
            static_cast<int32_t>(x.stride),
            static_cast<int32_t>(out.stride),
            shape_.edge_columns > 0 ? call.parameters[1] : nullptr};
  }

  template <typename T>
  hone::Status Forward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const {
    auto* const alpha = static_cast<float*>(call.saved);
    const DeviceDropRate rate = call.shape.trains ? DeviceDropRate::Of(shape_.dropout) : DeviceDropRate{};
    return LaunchOp(call, ForwardKernel<T>, WarpBlocks(call.shape.most_dst), kBlock, call.hop, OnDevice(call, x, out),
                    rate, static_cast<const T*>(x.data), call.parameters[0], alpha, alpha + Weights(call.shape),
                    static_cast<T*>(out.data));
  }

  template <typename T>
  hone::Status Backward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& grad_out,
                        const DeviceRows& grad_x) const {
    const Shape shape = OnDevice(call, x, grad_out);
    const auto* const alpha = static_cast<const float*>(call.saved);
    const float* const factor = alpha + Weights(call.shape);
    auto* const grad_scores = static_cast<float*>(call.workspace);
    float* const grad_att = grad_scores + Weights(call.shape);
    float* const tiles = grad_att + int64_t{call.shape.most_dst} * shape_.columns();
    const auto* const rows = static_cast<const T*>(x.data);
    const auto* const grad = static_cast<const T*>(grad_out.data);
    auto* const to = static_cast<T*>(grad_x.data);
    HONE_RETURN_IF_ERROR(LaunchOp(call, DestinationsKernel<T>, WarpBlocks(call.shape.most_dst), kBlock, call.hop, shape,
                                  rows, grad, call.parameters[0], alpha, factor, grad_scores, grad_att, to));
    if (to != nullptr) {
      HONE_RETURN_IF_ERROR(LaunchOp(call, SourcesKernel<T>, WarpBlocks(call.shape.most_src), kBlock, call.hop, shape,
                                    rows, grad, call.parameters[0], alpha, factor, grad_scores, to));
    }
    HONE_RETURN_IF_ERROR(
        LaunchOp(call, TilesKernel, Tiles(call.shape), kBlock, call.hop, shape_.columns(), grad_att, tiles));
    HONE_RETURN_IF_ERROR(JoinTiles(call, shape_.columns(), tiles, call.gradients[0]));
    if (shape_.edge_columns == 0) return hone::Status::Ok();
    // The tiles of att have been joined, and their memory is used again.
    HONE_RETURN_IF_ERROR(LaunchOp(call, EdgeTilesKernel<T>, Tiles(call.shape), kBlock, call.hop, shape, rows,
                                  call.parameters[0], grad_scores, tiles));
    return JoinTiles(call, shape_.columns() * shape_.edge_columns, tiles, call.gradients[1]);
  }
  static hone::Status JoinTiles(const DeviceOpCall& call, int32_t columns, const float* tiles, float* gradient) {
    return LaunchOp(call, JoinTilesKernel, (columns + kBlock - 1) / kBlock, kBlock, call.hop, columns, tiles, gradient);
  }

  const GatV2Shape shape_;
};

}  // namespace

std::unique_ptr<DeviceOp> MakeGatV2OnDevice(const OpPlace& place) { return std::make_unique<GatV2OnDevice>(place); }
