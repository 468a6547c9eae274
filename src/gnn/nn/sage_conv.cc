// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements SAGEConv (Hamilton, Ying and Leskovec 2017): out = aggregate(neighbors) * lin_l^T + self * lin_r^T.
//
// The layer aggregates before it multiplies, because a block has fewer destinations than sources. In backward, the
// gradient of the aggregate overwrites the aggregate, once lin_l has used it.
#include "gnn/nn/modules.h"
#include "gnn/ops/aggregate.h"
#include "gnn/ops/dropout.h"
#include "gnn/ops/elementwise.h"
#include "hone/base/status.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {
namespace {

template <typename T>
class SageConv final : public Layer<T> {
 public:
  SageConv(const SageConvOptions& options, const std::string& name, Rng rng)
      : options_(options),
        kind_(options.aggregation == "max"   ? Aggregation::kMax
              : options.aggregation == "sum" ? Aggregation::kSum
                                             : Aggregation::kMean),
        rate_(options.input_dropout),
        before_(options.dropped_before),
        neighbors_(name + ".lin_l", options.in_width, options.out_width, options.bias, WeightInit::kFanIn, rng),
        self_(name + ".lin_r", options.in_width, options.out_width, /*bias=*/false, WeightInit::kFanIn, rng) {
    HONE_CHECK(options.aggregation == "mean" || kind_ != Aggregation::kMean,
               "SAGEConv aggregates by mean, sum or max, not '" + options.aggregation + "'");
  }

  std::string_view kind() const override { return "SAGEConv"; }
  int64_t in_width() const override { return options_.in_width; }
  int64_t out_width() const override { return options_.out_width; }
  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> parameters;
    neighbors_.Collect(parameters);
    self_.Collect(parameters);
    return parameters;
  }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerState& layer_state,
               const LayerContext& context) override {
    auto& state = static_cast<State&>(layer_state);
    const int64_t width = options_.in_width;
    Matrix<const T> from_neighbors = {x.data, block.num_src, width, x.stride};
    Matrix<const T> from_self = {x.data, block.num_dst, width, x.stride};
    if (Drops(context)) {
      const DropoutSite neighbors = before_.active() ? DropoutSite::kInput : DropoutSite::kNeighbors;
      state.neighbor_mask =
          MakeDropoutMask(before_.Then(rate_), neighbors, context, block.num_src, width, state.neighbor_bits);
      state.self_mask = MakeDropoutMask(rate_, DropoutSite::kSelf, context, block.num_dst, width, state.self_bits);
      const Matrix<T> dropped = state.dropped_neighbors.Resize(block.num_src, width);
      ApplyDropout<T>(state.neighbor_mask, NeighborScale(), from_neighbors, dropped, context.threads);
      from_neighbors = dropped;
      const Matrix<T> dropped_self = state.dropped_self.Resize(block.num_dst, width);
      ApplyDropout<T>(state.self_mask, rate_.scale, from_self, dropped_self, context.threads);
      from_self = dropped_self;
    }
    const Matrix<T> aggregate = state.aggregate.Resize(block.num_dst, width);
    int32_t* winners = kind_ == Aggregation::kMax ? state.winners.Resize(block.num_dst * width) : nullptr;
    AggregateForward<T>(kind_, block, from_neighbors, aggregate, winners, context.threads);
    neighbors_.Forward(aggregate, /*accumulate=*/false, out, context.threads);
    self_.Forward(from_self, /*accumulate=*/true, out, context.threads);
  }

  void Backward(const BlockView& block, Matrix<const T> x, Matrix<T> grad_out, Matrix<T> grad_x,
                LayerState& layer_state, const LayerContext& context) override {
    grad_out = FirstRows(grad_out, block.num_dst);
    auto& state = static_cast<State&>(layer_state);
    const int64_t width = options_.in_width;
    const bool drops = Drops(context);
    const Matrix<T> aggregate = {state.aggregate.data(), block.num_dst, width, width};
    Matrix<const T> from_self = {x.data, block.num_dst, width, x.stride};
    if (drops) from_self = {state.dropped_self.data(), block.num_dst, width, width};
    neighbors_.BackwardParameters(aggregate, grad_out, state.partials, context.threads);
    self_.BackwardParameters(from_self, grad_out, state.partials, context.threads);
    if (grad_x.empty()) return;

    // The gradient overwrites the aggregate.
    neighbors_.BackwardInput(grad_out, /*accumulate=*/false, aggregate, context.threads);
    const Matrix<T> sources = {grad_x.data, block.num_src, width, grad_x.stride};
    const Matrix<T> destinations = {grad_x.data, block.num_dst, width, grad_x.stride};
    BySource(block, state.by_source);
    if (kind_ == Aggregation::kMax) {
      MaxBackward<T>(block, state.by_source, state.winners.data(), aggregate, sources, context.threads);
    } else {
      AggregateBackward<T>(kind_, block, state.by_source, aggregate, sources, context.threads);
    }
    if (!drops) {
      self_.BackwardInput(grad_out, /*accumulate=*/true, destinations, context.threads);
      return;
    }
    ApplyDropout<T>(state.neighbor_mask, NeighborScale(), sources, sources, context.threads);
    // The aggregate is overwritten once more, now by the gradient of the node's own rows.
    self_.BackwardInput(grad_out, /*accumulate=*/false, aggregate, context.threads);
    ApplyDropout<T>(state.self_mask, rate_.scale, aggregate, aggregate, context.threads);
    AddTo<T>(aggregate, destinations, context.threads);
  }

 private:
  struct State final : LayerState {
    Buffer<T> aggregate, dropped_neighbors, dropped_self, partials;
    Buffer<int32_t> winners;
    Buffer<uint8_t> neighbor_bits, self_bits;
    DropoutMask neighbor_mask, self_mask;
    SourceMajorBlock by_source;
  };
  bool Drops(const LayerContext& context) const { return context.training && rate_.active(); }
  // Returns the factor of kept neighbors' elements, beyond the factor that an earlier dropout applied.
  double NeighborScale() const { return before_.Then(rate_).scale / before_.scale; }

  SageConvOptions options_;
  Aggregation kind_;
  DropoutRate rate_, before_;
  Linear<T> neighbors_, self_;
};

}  // namespace

template <typename T>
std::unique_ptr<Layer<T>> MakeSageConv(const SageConvOptions& options, const std::string& name, uint64_t seed) {
  return std::make_unique<SageConv<T>>(options, name, Rng(seed));
}
template std::unique_ptr<Layer<float>> MakeSageConv<float>(const SageConvOptions&, const std::string&, uint64_t);
template std::unique_ptr<Layer<double>> MakeSageConv<double>(const SageConvOptions&, const std::string&, uint64_t);

}  // namespace hone::gnn
