// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements GINConv (Xu, Hu, Leskovec and Jegelka 2019): an MLP over the sum of the neighbors' rows and the node's
// own.
#include <algorithm>

#include "gnn/nn/modules.h"
#include "gnn/nn/stack_model.h"
#include "gnn/ops/aggregate.h"
#include "gnn/ops/elementwise.h"
#include "hone/base/status.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {
namespace {

template <typename T>
class GinConv final : public Layer<T> {
 public:
  GinConv(const GinConvOptions& options, const std::string& name, Rng rng)
      : options_(options), eps_(MakeParameter<T>(name + ".eps", {1}, /*trainable=*/false)) {
    const Result<Activation> activation = ParseActivation(options.activation, Activation::kRelu);
    HONE_CHECK(activation.ok(), activation.status().message());
    activation_ = *activation;
    lin0_ = Linear<T>(name + ".nn.0", options.in_width, options.out_width, /*bias=*/true, WeightInit::kXavierRelu, rng);
    if (options.normalise) norm_ = BatchNorm<T>(name + ".nn.1", options.out_width);
    lin1_ = Linear<T>(name + (options.normalise ? ".nn.3" : ".nn.2"), options.out_width, options.out_width,
                      /*bias=*/true, WeightInit::kXavierRelu, rng);
  }

  std::string_view kind() const override { return "GINConv"; }
  int64_t in_width() const override { return options_.in_width; }
  int64_t out_width() const override { return options_.out_width; }
  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> parameters = {&eps_};
    lin0_.Collect(parameters);
    if (options_.normalise) norm_.Collect(parameters);
    lin1_.Collect(parameters);
    return parameters;
  }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& layer_state,
               const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const int threads = context.threads;
    const int64_t width = options_.out_width;
    const Matrix<T> sum = state.sum.Resize(block.num_dst, options_.in_width);
    AggregateForward<T>(Aggregation::kSum, block, {x.data, block.num_src, sum.cols, x.stride}, sum, nullptr, threads);
    AddTo<T>({x.data, block.num_dst, sum.cols, x.stride}, sum, threads, T(1) + eps_.value[0]);
    const Matrix<T> hidden = state.hidden.Resize(block.num_dst, width);
    if (options_.normalise) {
      const Matrix<T> before_norm = state.plain.Resize(block.num_dst, width);
      lin0_.Forward(sum, /*accumulate=*/false, before_norm, threads);
      norm_.Forward(before_norm, context.training, state.statistics, hidden, threads);
    } else {
      lin0_.Forward(sum, /*accumulate=*/false, hidden, threads);
    }
    ActivationForward<T>(activation_, hidden, threads);
    // Backward reads the result again, so it is kept apart from `out`, which the caller may change.
    const Matrix<T> result = state.result.Resize(block.num_dst, width);
    lin1_.Forward(hidden, /*accumulate=*/false, result, threads);
    ActivationForward<T>(activation_, result, threads);
    CopyTo<T>(result, out, threads);
  }

  void Backward(const BlockView& block, Matrix<const T>, Matrix<T> grad_out, Matrix<T> grad_x, LayerState& layer_state,
                const LayerContext& context) override {
    grad_out = FirstRows(grad_out, block.num_dst);
    auto& state = static_cast<State&>(layer_state);
    const int threads = context.threads;
    const int64_t width = options_.out_width;
    const auto kept = [&](const Buffer<T>& buffer, int64_t cols) {
      return Matrix<T>{buffer.data(), block.num_dst, cols, cols};
    };
    const Matrix<T> hidden = kept(state.hidden, width);
    const Matrix<T> sum = kept(state.sum, options_.in_width);
    const Matrix<T> grad = kept(state.result, width);  // overwrites the result, which is no longer needed
    ActivationBackward<T>(activation_, 1.0, grad, grad_out, threads);
    lin1_.BackwardParameters(hidden, grad_out, state.partials, threads);
    lin1_.BackwardInput(grad_out, /*accumulate=*/false, grad, threads);
    ActivationBackward<T>(activation_, 1.0, hidden, grad, threads);
    if (options_.normalise) {
      norm_.Backward(kept(state.plain, width), context.training, state.statistics, grad, threads);
    }
    lin0_.BackwardParameters(sum, grad, state.partials, threads);
    if (grad_x.empty()) return;
    lin0_.BackwardInput(grad, /*accumulate=*/false, sum, threads);  // the gradient overwrites the sum
    BySource(block, state.by_source);
    AggregateBackward<T>(Aggregation::kSum, block, state.by_source, sum,
                         {grad_x.data, block.num_src, sum.cols, grad_x.stride}, threads);
    AddTo<T>(sum, {grad_x.data, block.num_dst, sum.cols, grad_x.stride}, threads, T(1) + eps_.value[0]);
  }

 private:
  struct State final : LayerState {
    Buffer<T> sum;     // [num_dst, in_width]
    Buffer<T> plain;   // [num_dst, out_width] before normalisation
    Buffer<T> hidden;  // [num_dst, out_width] after the first activation
    Buffer<T> result;  // [num_dst, out_width] after the second activation
    Buffer<T> partials;
    ColumnStatistics statistics;
    SourceMajorBlock by_source;
  };

  GinConvOptions options_;
  Activation activation_ = Activation::kRelu;
  Parameter<T> eps_;
  Linear<T> lin0_, lin1_;
  BatchNorm<T> norm_;
};

}  // namespace

template <typename T>
std::unique_ptr<Layer<T>> MakeGinConv(const GinConvOptions& options, const std::string& name, uint64_t seed) {
  return std::make_unique<GinConv<T>>(options, name, Rng(seed));
}
template std::unique_ptr<Layer<float>> MakeGinConv<float>(const GinConvOptions&, const std::string&, uint64_t);
template std::unique_ptr<Layer<double>> MakeGinConv<double>(const GinConvOptions&, const std::string&, uint64_t);

}  // namespace hone::gnn
