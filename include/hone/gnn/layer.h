// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a layer of a graph network owes the engine: an explicit forward and an explicit backward over one block.
//
// Layers are written once for float and for double (T): training runs in float, gradient checks in double. A layer
// owns its parameters and nothing about a batch: whatever backward needs from forward it leaves in a LayerState that
// the caller keeps, so that several batches can be under way with one set of parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/gnn/mini_batch.h"

namespace hone::gnn {

// Row-major matrix, borrowed. `stride` is in elements.
template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  T* Row(int64_t i) const { return data + i * stride; }
  bool empty() const { return data == nullptr; }
  operator Matrix<const T>() const { return {data, rows, cols, stride}; }  // NOLINT: views convert freely
};

// A named tensor with its gradient. Names are those of PyTorch Geometric's state_dict ("convs.0.lin_l.weight").
template <typename T>
struct Parameter {
  std::string name;
  std::vector<int64_t> shape;  // a Linear weight is [out, in], as in PyTorch
  std::vector<T> value;
  std::vector<T> gradient;  // same size; empty for a buffer (batch-norm running statistics)
  bool trainable() const { return !gradient.empty(); }
};

// Everything a layer may need besides its input. Plain data; the same context gives the same bits.
struct LayerContext {
  BatchKey key;  // keys every dropout mask, together with layer, site, global node id and column
  int layer = 0;
  bool training = false;
  std::span<const NodeId> nodes;  // global id by local id of the sources; needed where dropout is active
  const CsrView* graph = nullptr;  // the whole graph, needed where a layer reads degrees; borrowed
  int threads = 1;                // results must not depend on it
};

// Dropout for layers of your own, keyed as that of ours: the mask of one row, a bit an element (bit c % 8 of byte c /
// 8, 1 for kept), a pure function of (seed, epoch, step, layer, site, the row's global id, column). `kept` has (cols +
// 7) / 8 bytes; bits past `cols` mean nothing. Two masks of one layer need two sites; 128 to 255 are yours. Returns the
// factor for what is kept. The probability, in [0, 1), is rounded to a 65,536th.
double DropoutRow(const LayerContext& context, uint8_t site, int64_t row, int64_t cols, double probability,
                  std::span<uint8_t> kept);

// What one forward pass leaves for its backward pass. A layer derives its own; reused from batch to batch.
class LayerState {
 public:
  virtual ~LayerState() = default;
};

template <typename T>
class Layer {
 public:
  virtual ~Layer() = default;
  virtual std::string_view kind() const = 0;  // "SAGEConv", "GATConv", …
  virtual int64_t in_width() const = 0;
  virtual int64_t out_width() const = 0;
  // Parameters and buffers, in a fixed order; owned by the layer.
  virtual std::vector<Parameter<T>*> parameters() = 0;
  virtual std::unique_ptr<LayerState> MakeState() const = 0;
  //   x    [block.num_src, in_width]
  //   out  [block.num_dst, out_width], overwritten; must not overlap x
  // Rows of x beyond num_src are never read and rows of out beyond num_dst never written: a batch may be padded with
  // anything. Every reduction (statistics, weight gradients) runs over the real rows alone. May update buffers (running
  // statistics) when context.training. `out` belongs to the caller, who may change it before Backward.
  virtual void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& state,
                       const LayerContext& context) = 0;
  // Exact inference gathers every neighbor's row for every edge. A layer whose map of a single row comes before the
  // aggregation, or may by linearity, can offer it for all rows once, so that narrower rows are gathered:
  //   projected_width   of the rows that Project gives; 0: the layer does not offer it, or it would not pay
  //   Project           x [n, in_width] -> out [n, projected_width], row by row
  //   ForwardProjected  what Forward gives for x, but for rounding, from Project's rows of it [block.num_src, …]
  // Never in training mode.
  virtual int64_t projected_width() const { return 0; }
  virtual void Project(Matrix<const T> /*x*/, Matrix<T> /*out*/, LayerState& /*state*/,
                       const LayerContext& /*context*/) {}
  virtual void ForwardProjected(const BlockView& /*block*/, Matrix<const T> /*projected*/, Matrix<T> /*out*/,
                                LayerState& /*state*/, const LayerContext& /*context*/) {}
  // After Forward with the same block, x and context.
  //   grad_out [block.num_dst, out_width]; may be overwritten as scratch
  //   grad_x   [block.num_src, in_width], overwritten; empty(): not wanted (the first layer)
  // Adds to the parameters' gradients.
  virtual void Backward(const BlockView& block, Matrix<const T> x, Matrix<T> grad_out, Matrix<T> grad_x,
                        LayerState& state, const LayerContext& context) = 0;
};

// The layers that the published models are made of. `name` prefixes the parameters' names ("convs.0"); `seed` draws
// the initial weights. A value an option cannot have is a mistake of the caller's; MakeModel checks a user's.

// out = aggregate(x of the neighbors) * lin_l^T + (x of the node) * lin_r^T. Weights from ±1 / sqrt(in_width).
struct SageConvOptions {
  int64_t in_width = 0;
  int64_t out_width = 0;
  std::string aggregation = "mean";  // mean | sum | max; of no neighbors: zero
  bool bias = false;                 // on lin_l
  double input_dropout = 0;          // two masks, one on what neighbors send and one on the node's own row
  // Of the mask that x has been through, drawn for this layer at site kInput (gnn/ops/dropout.h): the mask on what
  // neighbors send is then taken from the same draws, so that a row takes one and not two. 0: x went through none.
  double dropped_before = 0;
};
template <typename T>
std::unique_ptr<Layer<T>> MakeSageConv(const SageConvOptions& options, const std::string& name, uint64_t seed);

// Graph attention (Velickovic et al. 2018). Each destination attends to its neighbors and to itself: edges from itself
// are replaced by exactly one. Glorot weights, attention vectors too; both sides share one projection.
// "NAME.lin.weight" [heads * width, in_width], "NAME.att_src" and "NAME.att_dst" [1, heads, width]; with a bias, which
// starts at zero, "NAME.bias" [out_width].
struct GatConvOptions {
  int64_t in_width = 0;
  int64_t width = 0;  // of one head
  int heads = 1;
  bool concatenate = true;  // out_width = heads * width; otherwise the mean of the heads: width
  double negative_slope = 0.2;
  bool bias = false;
};
template <typename T>
std::unique_ptr<Layer<T>> MakeGatConv(const GatConvOptions& options, const std::string& name, uint64_t seed);

// Graph isomorphism (Xu et al. 2019): MLP(sum of the neighbors + the node's own row), the MLP being Linear, batch
// normalisation, activation, Linear, activation. Xavier weights with the gain of ReLU.
// "NAME.eps" (a constant 0, kept for PyG's sake), "NAME.nn.0", ".nn.1" (the normalisation), ".nn.3"; without
// normalisation the second Linear is ".nn.2".
struct GinConvOptions {
  int64_t in_width = 0;
  int64_t out_width = 0;            // of both Linears
  std::string activation = "relu";  // relu | leaky_relu | elu
  bool normalise = true;
};
template <typename T>
std::unique_ptr<Layer<T>> MakeGinConv(const GinConvOptions& options, const std::string& name, uint64_t seed);

}  // namespace hone::gnn
