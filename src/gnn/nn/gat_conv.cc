// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements GATConv (Velickovic et al. 2018). Scores and sums are computed over raw features, which linearity allows;
// see ops/attention.h.
//
// A node's score as a source is att_src . (W x) = (W^T att_src) . x. The two attention vectors of each head are thus
// folded into one small matrix, so that all scores are one thin product. Backward unfolds that matrix's gradient again.
#include <algorithm>
#include <cmath>

#include "gnn/nn/modules.h"
#include "gnn/ops/attention.h"
#include "gnn/ops/linear.h"
#include "hone/base/status.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {
namespace {

template <typename T>
class GatConv final : public Layer<T> {
 public:
  GatConv(const GatConvOptions& options, const std::string& name, Rng rng)
      : options_(options),
        lin_(name + ".lin", options.in_width, options.heads * options.width, /*bias=*/false, WeightInit::kGlorot, rng),
        att_src_(MakeParameter<T>(name + ".att_src", {1, options.heads, options.width}, /*trainable=*/true)),
        att_dst_(MakeParameter<T>(name + ".att_dst", {1, options.heads, options.width}, /*trainable=*/true)) {
    HONE_CHECK(options.heads >= 1 && options.width >= 1, "GATConv needs at least one head of at least one column");
    const double bound = std::sqrt(6.0 / static_cast<double>(options.heads + options.width));
    FillUniform(att_src_, bound, rng);
    FillUniform(att_dst_, bound, rng);
    if (options.bias) bias_ = MakeParameter<T>(name + ".bias", {out_width()}, /*trainable=*/true);
  }

  std::string_view kind() const override { return "GATConv"; }
  int64_t in_width() const override { return options_.in_width; }
  int64_t out_width() const override { return options_.concatenate ? options_.heads * options_.width : options_.width; }
  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> parameters = {&att_src_, &att_dst_};
    lin_.Collect(parameters);
    if (options_.bias) parameters.push_back(&bias_);
    return parameters;
  }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& layer_state,
               const LayerContext& context) override {
    out = FirstRows(out, block.num_dst);
    auto& state = static_cast<State&>(layer_state);
    const int heads = options_.heads;
    const int64_t dim = options_.in_width;
    Fold(state.folded.Resize(2 * heads, dim));
    const Matrix<T> scores = state.scores.Resize(block.num_src, 2 * heads);
    LinearForward<T>({x.data, block.num_src, dim, x.stride}, FoldedWeights(state), /*bias=*/nullptr,
                     /*accumulate=*/false, scores, context.threads);
    const AttentionWeights<T> weights{state.edge_weights.Resize(block.num_edges() * heads),
                                      state.self_weights.Resize(int64_t{block.num_dst} * heads)};
    const Matrix<T> sums = state.sums.Resize(block.num_dst, heads * dim);
    AttentionForward<T>(block, {x.data, block.num_src, dim, x.stride}, scores, heads, Slope(), weights, sums,
                        context.threads);
    for (int h = 0; h < heads; ++h) {
      LinearForward<T>(HeadSums(sums, h), HeadWeight(h), /*bias=*/nullptr, !options_.concatenate && h > 0,
                       HeadOut(out, h), context.threads);
    }
    Finish(out);
  }

  // Returns the width of a projected row, which holds the columns of every head, then each head's score as a source and
  // as a destination. With projected rows, the weighted sums have heads * width columns per edge; with raw rows they
  // have heads * in_width.
  int64_t projected_width() const override {
    const int64_t width = options_.heads * (options_.width + 2);
    return width < options_.heads * options_.in_width ? width : 0;
  }
  void Project(Matrix<const T> x, Matrix<T> out, LayerState& layer_state, const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const int64_t dim = options_.in_width, columns = options_.heads * options_.width;
    const Matrix<T> folded = state.folded.Resize(2 * options_.heads, dim);
    Fold(folded);
    const Matrix<T> weights = state.projection.Resize(columns + 2 * options_.heads, dim);
    std::copy_n(lin_.weight().data, columns * dim, weights.data);
    for (int row = 0; row < 2 * options_.heads; ++row) {
      const int h = row % options_.heads, side = row / options_.heads;
      std::copy_n(folded.Row(row), dim, weights.Row(columns + 2 * h + side));
    }
    LinearForward<T>(x, weights, /*bias=*/nullptr, /*accumulate=*/false, out, context.threads);
  }
  void ForwardProjected(const BlockView& block, Matrix<const T> projected, Matrix<T> out, LayerState& layer_state,
                        const LayerContext& context) override {
    out = FirstRows(out, block.num_dst);
    auto& state = static_cast<State&>(layer_state);
    const int heads = options_.heads;
    const int64_t width = options_.width;
    const AttentionWeights<T> weights{state.edge_weights.Resize(block.num_edges()),
                                      state.self_weights.Resize(block.num_dst)};
    for (int h = 0; h < heads; ++h) {
      const Matrix<const T> rows = {projected.data + h * width, block.num_src, width, projected.stride};
      const Matrix<const T> scores = {projected.data + heads * width + 2 * h, block.num_src, 2, projected.stride};
      const bool adds = !options_.concatenate && h > 0;
      const Matrix<T> sums = adds ? state.sums.Resize(block.num_dst, width) : HeadOut(out, h);
      AttentionForward<T>(block, rows, scores, 1, Slope(), weights, sums, context.threads);
      if (adds) Add(sums, out);
    }
    Finish(out);
  }

  void Backward(const BlockView& block, Matrix<const T> x, Matrix<T> grad_out, Matrix<T> grad_x,
                LayerState& layer_state, const LayerContext& context) override {
    grad_out = FirstRows(grad_out, block.num_dst);
    auto& state = static_cast<State&>(layer_state);
    const int heads = options_.heads;
    const int64_t dim = options_.in_width;
    const int threads = context.threads;
    if (options_.bias) AddColumnSums<T>(grad_out, bias_.gradient.data(), threads);
    if (!options_.concatenate && heads > 1) Scale(grad_out, T(1) / static_cast<T>(heads));
    const Matrix<T> sums = {state.sums.data(), block.num_dst, heads * dim, heads * dim};
    for (int h = 0; h < heads; ++h) {
      const Matrix<T> grad_weight = lin_.grad_weight();
      LinearBackwardWeight<T>(HeadOut(grad_out, h), HeadSums(sums, h),
                              {grad_weight.Row(h * options_.width), options_.width, dim, dim}, state.partials, threads);
      LinearBackwardInput<T>(HeadOut(grad_out, h), HeadWeight(h), /*accumulate=*/false, HeadSums(sums, h), threads);
    }
    // From here on `sums` holds its own gradient.
    BySource(block, state.by_source);
    const Matrix<const T> sources = {x.data, block.num_src, dim, x.stride};
    const Matrix<const T> scores = {state.scores.data(), block.num_src, 2 * heads, 2 * heads};
    const Matrix<T> grad_scores = state.grad_scores.Resize(block.num_src, 2 * heads);
    AttentionBackward<T>(block, state.by_source, sources, scores, heads, Slope(),
                         {state.edge_weights.data(), state.self_weights.data()}, sums,
                         state.edge_grads.Resize(block.num_edges() * heads),
                         state.self_grads.Resize(int64_t{block.num_dst} * heads), grad_scores, grad_x, threads);
    if (!grad_x.empty())
      LinearBackwardInput<T>(grad_scores, FoldedWeights(state), /*accumulate=*/true, grad_x, threads);
    const Matrix<T> grad_folded = state.grad_folded.Resize(2 * heads, dim);
    std::fill_n(grad_folded.data, grad_folded.rows * dim, T(0));
    LinearBackwardWeight<T>(grad_scores, sources, grad_folded, state.partials, threads);
    Unfold(grad_folded);
  }

 private:
  struct State final : LayerState {
    Buffer<T> folded, grad_folded;       // [2 * heads, in_width]
    Buffer<T> projection;                // [heads * (width + 2), in_width]
    Buffer<T> scores, grad_scores;       // [num_src, 2 * heads]
    Buffer<T> edge_weights, edge_grads;  // [num_edges, heads]
    Buffer<T> self_weights, self_grads;  // [num_dst, heads]
    Buffer<T> sums;                      // [num_dst, heads * in_width]
    Buffer<T> partials;
    SourceMajorBlock by_source;
  };

  // Averages the heads if the options require it, and adds the bias.
  void Finish(Matrix<T> out) const {
    if (!options_.concatenate && options_.heads > 1) Scale(out, T(1) / static_cast<T>(options_.heads));
    if (!options_.bias) return;
    for (int64_t i = 0; i < out.rows; ++i) {
      T* row = out.Row(i);
      for (int64_t c = 0; c < out_width(); ++c) row[c] += bias_.value[static_cast<size_t>(c)];
    }
  }
  T Slope() const { return static_cast<T>(options_.negative_slope); }
  Matrix<const T> FoldedWeights(const State& state) const {
    return {state.folded.data(), 2 * options_.heads, options_.in_width, options_.in_width};
  }
  // Returns the weight rows of head h.
  Matrix<const T> HeadWeight(int h) const {
    return {lin_.weight().Row(h * options_.width), options_.width, options_.in_width, options_.in_width};
  }
  // Returns the columns of head h in a matrix of `heads` * `in_width` columns.
  Matrix<T> HeadSums(Matrix<T> sums, int h) const {
    return {sums.data + h * options_.in_width, sums.rows, options_.in_width, sums.stride};
  }
  // Returns the columns of `out` to which head h writes: its own, or, where the heads are averaged, the same for all.
  Matrix<T> HeadOut(Matrix<T> out, int h) const {
    return {out.data + (options_.concatenate ? h * options_.width : 0), out.rows, options_.width, out.stride};
  }
  static void Add(Matrix<const T> x, Matrix<T> to) {
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t c = 0; c < x.cols; ++c) to.Row(i)[c] += x.Row(i)[c];
    }
  }
  static void Scale(Matrix<T> x, T factor) {
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t c = 0; c < x.cols; ++c) x.Row(i)[c] *= factor;
    }
  }

  const Parameter<T>& Side(int side) const { return side == 0 ? att_src_ : att_dst_; }

  // Computes the folded matrix: row side * heads + h is W_h^T * att_side,h, where side 0 is the source.
  void Fold(Matrix<T> folded) const {
    for (int row = 0; row < 2 * options_.heads; ++row) {
      const int h = row % options_.heads;
      const T* vector = Side(row / options_.heads).value.data() + h * options_.width;
      const Matrix<const T> weight = HeadWeight(h);
      T* out = folded.Row(row);
      std::fill_n(out, folded.cols, T(0));
      for (int64_t c = 0; c < options_.width; ++c) {
        const T* w = weight.Row(c);
        for (int64_t f = 0; f < folded.cols; ++f) out[f] += vector[c] * w[f];
      }
    }
  }
  // Adds the folded matrix's gradient to the parameters': d(att)[c] += W_h[c] . grad and dW_h[c] += att[c] * grad.
  void Unfold(Matrix<const T> grad_folded) {
    for (int row = 0; row < 2 * options_.heads; ++row) {
      const int h = row % options_.heads;
      Parameter<T>& side = row < options_.heads ? att_src_ : att_dst_;
      const T* grad = grad_folded.Row(row);
      for (int64_t c = 0; c < options_.width; ++c) {
        const int64_t at = h * options_.width + c;
        const T* w = lin_.weight().Row(at);
        T* dw = lin_.grad_weight().Row(at);
        const T vector = side.value[static_cast<size_t>(at)];
        double sum = 0;
        for (int64_t f = 0; f < grad_folded.cols; ++f) {
          sum += static_cast<double>(w[f]) * static_cast<double>(grad[f]);
          dw[f] += vector * grad[f];
        }
        side.gradient[static_cast<size_t>(at)] += static_cast<T>(sum);
      }
    }
  }

  GatConvOptions options_;
  Linear<T> lin_;
  Parameter<T> att_src_, att_dst_, bias_;
};

}  // namespace

template <typename T>
std::unique_ptr<Layer<T>> MakeGatConv(const GatConvOptions& options, const std::string& name, uint64_t seed) {
  return std::make_unique<GatConv<T>>(options, name, Rng(seed));
}
template std::unique_ptr<Layer<float>> MakeGatConv<float>(const GatConvOptions&, const std::string&, uint64_t);
template std::unique_ptr<Layer<double>> MakeGatConv<double>(const GatConvOptions&, const std::string&, uint64_t);

}  // namespace hone::gnn
