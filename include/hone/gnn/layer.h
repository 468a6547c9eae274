// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the interface of a graph network's layers: an explicit forward and an explicit backward pass over one block.
//
// Layers are written once for float and for double (T): training runs in float, gradient checks in double. A layer owns
// its parameters, but nothing that belongs to a batch. Forward stores what Backward needs in a LayerState that the
// caller owns, so several batches can be in flight with one set of parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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
#ifdef __CUDACC__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 554  // a Matrix<const T> converts to itself, which calls nothing
#endif
  operator Matrix<const T>() const { return {data, rows, cols, stride}; }  // NOLINT: views convert freely
#ifdef __CUDACC__
#pragma nv_diagnostic pop
#endif
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

// Everything a layer may need besides its input. Plain data; equal contexts give equal bits.
struct LayerContext {
  BatchKey key;                    // key of every dropout mask, together with layer, site, global node id and column
  int layer = 0;                   // index of the layer; 0 runs first
  bool training = false;           // true: dropout is on, and normalisation uses the batch's statistics
  std::span<const NodeId> nodes;   // [num_src] global id by local id of the sources; needed where dropout is active
  const CsrView* graph = nullptr;  // the whole graph, for layers that read degrees; borrowed
  // Features of all edges of the graph, for models that read them (ReadsEdgeFeatures in model.h); borrowed.
  const FeatureView* edge_features = nullptr;
  int threads = 1;  // must not change results
  // Features of the block's edges, which the model gathers for an operation that reads them (op.h): [block.num_edges(),
  // columns], row e for block.columns[e], in the layer's precision. EdgeRows<T>() returns them.
  std::variant<std::monostate, Matrix<const float>, Matrix<const double>> edge_rows = {};
  // Returns the features of the block's edges; an empty matrix (empty()) if the graph has none, or if the operation
  // does not read them.
  template <typename T>
  Matrix<const T> EdgeRows() const {
    const auto* rows = std::get_if<Matrix<const T>>(&edge_rows);
    return rows != nullptr ? *rows : Matrix<const T>();
  }
};

// Draws the dropout mask of one row for a layer of your own, keyed like the built-in layers' masks: one bit per element
// (bit c % 8 of byte c / 8, 1 for kept), a pure function of (seed, epoch, step, layer, site, the row's global id,
// column). `kept` has (cols + 7) / 8 bytes; bits past `cols` mean nothing. Two masks of one layer need two sites; sites
// 128 to 255 are yours. Returns the factor by which kept elements are multiplied. The probability, in [0, 1), is
// rounded to a multiple of 1 / 65,536.
double DropoutRow(const LayerContext& context, uint8_t site, int64_t row, int64_t cols, double probability,
                  std::span<uint8_t> kept);

// State that one forward pass leaves for its backward pass. Each layer derives its own; reused from batch to batch.
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
  // Returns parameters and buffers, in a fixed order; owned by the layer.
  virtual std::vector<Parameter<T>*> parameters() = 0;
  virtual std::unique_ptr<LayerState> MakeState() const = 0;
  // Computes out from x, and leaves in `state` what Backward needs.
  //   x    [block.num_src, in_width]
  //   out  [block.num_dst, out_width], overwritten; must not overlap x
  // Rows of x beyond num_src are never read and rows of out beyond num_dst never written: a batch may be padded with
  // anything. Every reduction (statistics, weight gradients) runs over the real rows alone. May update buffers (running
  // statistics) when context.training. `out` belongs to the caller, who may change it before Backward.
  virtual void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& state,
                       const LayerContext& context) = 0;
  // Exact inference gathers every neighbor's row for every edge. A layer that maps each row before it aggregates, or
  // could do so because the map is linear, can offer this map for all rows at once, so that narrower rows are gathered:
  //   projected_width   width of Project's rows; 0: the layer does not offer Project, or it would cost more than it
  //   saves Project           x [n, in_width] -> out [n, projected_width], row by row ForwardProjected  what Forward
  //   computes from x, except for rounding; its input is Project(x) [block.num_src, …]
  // These functions are never called in training mode.
  virtual int64_t projected_width() const { return 0; }
  virtual void Project(Matrix<const T> /*x*/, Matrix<T> /*out*/, LayerState& /*state*/,
                       const LayerContext& /*context*/) {}
  virtual void ForwardProjected(const BlockView& /*block*/, Matrix<const T> /*projected*/, Matrix<T> /*out*/,
                                LayerState& /*state*/, const LayerContext& /*context*/) {}
  // Called after Forward with the same block, x and context.
  //   grad_out [block.num_dst, out_width]; may be overwritten as scratch
  //   grad_x   [block.num_src, in_width], overwritten; empty(): not computed (the first layer)
  // Adds to the parameters' gradients.
  virtual void Backward(const BlockView& block, Matrix<const T> x, Matrix<T> grad_out, Matrix<T> grad_x,
                        LayerState& state, const LayerContext& context) = 0;
};

// Layers of the published models. `name` prefixes the parameters' names ("convs.0"); `seed` draws the initial weights.
// An option with an impossible value is a bug of the caller; MakeModel checks values from users.

// Options of a GraphSAGE layer, which computes out = aggregate(x of the neighbors) * lin_l^T + (x of the node) *
// lin_r^T. Initial weights are uniform in ±1 / sqrt(in_width).
struct SageConvOptions {
  int64_t in_width = 0;
  int64_t out_width = 0;
  std::string aggregation = "mean";  // mean | sum | max; zero where a node has no neighbors
  bool bias = false;                 // on lin_l
  double input_dropout = 0;          // two masks, one on the neighbors' rows and one on the node's own row
  // Dropout probability that was already applied to x, with a mask drawn for this layer at site kInput
  // (gnn/ops/dropout.h). If it is not zero, the neighbors' mask reuses those draws, which saves one draw per row.
  double dropped_before = 0;
};
template <typename T>
std::unique_ptr<Layer<T>> MakeSageConv(const SageConvOptions& options, const std::string& name, uint64_t seed);

// Graph attention (Velickovic et al. 2018). Each destination attends to its neighbors and to itself: self-loops are
// replaced by exactly one. Weights and attention vectors have Glorot initial values; both sides share one projection.
// "NAME.lin.weight" [heads * width, in_width], "NAME.att_src" and "NAME.att_dst" [1, heads, width]; with a bias, which
// starts at zero, "NAME.bias" [out_width].
struct GatConvOptions {
  int64_t in_width = 0;
  int64_t width = 0;  // width of one head
  int heads = 1;
  bool concatenate = true;  // out_width = heads * width; otherwise the mean of the heads: width
  double negative_slope = 0.2;
  bool bias = false;
};
template <typename T>
std::unique_ptr<Layer<T>> MakeGatConv(const GatConvOptions& options, const std::string& name, uint64_t seed);

// Graph isomorphism (Xu et al. 2019): MLP(sum of the neighbors + the node's own row), the MLP being Linear, batch
// normalisation, activation, Linear, activation. Initial weights are Xavier's with the gain of ReLU.
// "NAME.eps" (a constant 0, kept for PyG's sake), "NAME.nn.0", ".nn.1" (the normalisation), ".nn.3"; without
// normalisation the second Linear is ".nn.2".
struct GinConvOptions {
  int64_t in_width = 0;
  int64_t out_width = 0;            // width of both Linears
  std::string activation = "relu";  // relu | leaky_relu | elu
  bool normalise = true;
};
template <typename T>
std::unique_ptr<Layer<T>> MakeGinConv(const GinConvOptions& options, const std::string& name, uint64_t seed);

}  // namespace hone::gnn
