// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements SAGE-RI, written by layers (x_0 is the input after dropout, t the rows that are also destinations):
//
//   a_i     = dropout(activation(normalise(SAGEConv(x_i))))       the conv draws its own masks, on both its inputs;
//                                                               the first mask on neighbors uses the draws of x_0's
//   x_{i+1} = a_i + res_linear(t_0) for i = 0, a_i + t_i after
//   logits  = Linear(Linear([x_0 | x_1 | … | x_L] of the seeds)),  in + L * hidden -> 2 * classes -> classes
//
// Layer-wise inference cannot keep every x_i of every node. The head's first Linear is a sum over the parts of its
// input. A pass therefore hands on [the sum over the parts so far | x_i]: 2 * classes + hidden columns, whatever the
// depth.
#include "gnn/nn/sage_ri.h"

#include <string>
#include <vector>

#include "gnn/nn/modules.h"
#include "gnn/ops/dropout.h"
#include "gnn/ops/linear.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

template <typename T>
Matrix<T> ColumnsOf(Matrix<T> x, int64_t first, int64_t count) {
  return {x.data + first, x.rows, count, x.stride};
}

template <typename T>
class SageRi final : public Model<T> {
 public:
  SageRi(const ModelOptions& options, const SageRiPlan& plan) : options_(options), plan_(plan), rate_(plan.dropout) {
    Rng rng(options.seed);
    for (int i = 0; i < options.layers; ++i) {
      SageConvOptions conv;
      conv.in_width = Width(i);
      conv.out_width = options.hidden;
      conv.input_dropout = plan.dropout;
      if (i == 0) conv.dropped_before = plan.dropout;
      const std::string index = std::to_string(i);
      convs_.push_back(MakeSageConv<T>(conv, "convs." + index, rng.Split(static_cast<uint64_t>(i)).Next()));
      if (plan.normalise) norms_.emplace_back("bns." + index, options.hidden);
    }
    Rng mlp_rng = rng.Split(static_cast<uint64_t>(options.layers));
    residual_ =
        Linear<T>("res_linears.0", options.in_width, options.hidden, /*bias=*/true, WeightInit::kFanIn, mlp_rng);
    lin0_ = Linear<T>("mlp.module_list.0", options.in_width + options.layers * options.hidden, Middle(), /*bias=*/true,
                      WeightInit::kFanIn, mlp_rng);
    lin1_ = Linear<T>("mlp.module_list.1", Middle(), options.num_classes, /*bias=*/true, WeightInit::kFanIn, mlp_rng);
  }

  const ModelOptions& options() const override { return options_; }
  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> parameters;
    for (const auto& conv : convs_) {
      for (Parameter<T>* p : conv->parameters()) parameters.push_back(p);
    }
    for (BatchNorm<T>& norm : norms_) norm.Collect(parameters);
    residual_.Collect(parameters);
    lin0_.Collect(parameters);
    lin1_.Collect(parameters);
    return parameters;
  }
  std::unique_ptr<typename Model<T>::State> MakeState() const override {
    auto state = std::make_unique<State>();
    for (const auto& conv : convs_) {
      state->steps.emplace_back();
      state->steps.back().conv = conv->MakeState();
    }
    return state;
  }

  void Forward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> logits, typename Model<T>::State& model_state,
               const LayerContext& given) override {
    auto& state = static_cast<State&>(model_state);
    HONE_CHECK(sample.hops() == options_.layers, "a sample with as many hops as the model has layers");
    LayerContext context = given;
    context.nodes = sample.nodes;
    x = DropInput(sample, FirstRows(x, sample.num_nodes()), state, context);
    const int64_t seeds = sample.num_seeds();
    const Matrix<T> collected = state.collected.Resize(seeds, lin0_.in());
    CopyTo<T>(FirstRows(x, seeds), ColumnsOf(collected, 0, Width(0)), context.threads);
    for (int i = 0; i < options_.layers; ++i) {
      context.layer = i;
      const BlockView block = sample.Block(i);
      const Matrix<T> out = Step(state, i).out.Resize(block.num_dst, options_.hidden);
      RunLayer(i, block, x, out, Step(state, i), context);
      x = out;
      CopyTo<T>(FirstRows(x, seeds), ColumnsOf(collected, CollectedAt(i + 1), options_.hidden), context.threads);
    }
    const Matrix<T> middle = state.middle.Resize(seeds, Middle());
    lin0_.Forward(collected, /*accumulate=*/false, middle, context.threads);
    lin1_.Forward(middle, /*accumulate=*/false, logits, context.threads);
  }

  void Backward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> grad_logits,
                typename Model<T>::State& model_state, const LayerContext& given) override {
    auto& state = static_cast<State&>(model_state);
    LayerContext context = given;
    context.nodes = sample.nodes;
    const int threads = context.threads;
    if (Drops(context)) x = {state.input.data(), sample.num_nodes(), Width(0), Width(0)};
    const int64_t seeds = sample.num_seeds();
    const int64_t hidden = options_.hidden;
    grad_logits = FirstRows(grad_logits, seeds);

    const Matrix<T> collected = {state.collected.data(), seeds, lin0_.in(), lin0_.in()};
    const Matrix<T> middle = {state.middle.data(), seeds, Middle(), Middle()};
    lin1_.BackwardParameters(middle, grad_logits, state.partials, threads);
    lin1_.BackwardInput(grad_logits, /*accumulate=*/false, middle, threads);  // the gradient of `middle` overwrites it
    lin0_.BackwardParameters(collected, middle, state.partials, threads);
    lin0_.BackwardInput(middle, /*accumulate=*/false, collected, threads);  // the gradient of `collected` overwrites it

    Matrix<T> grad = state.gradients[0].Resize(seeds, hidden);
    CopyTo<T>(ColumnsOf(collected, CollectedAt(options_.layers), hidden), grad, threads);
    for (int i = options_.layers - 1; i >= 0; --i) {
      context.layer = i;
      const BlockView block = sample.Block(i);
      const Matrix<const T> in =
          i == 0 ? x : Matrix<const T>{Step(state, i - 1).out.data(), block.num_src, hidden, hidden};
      // The residual also needs `grad`, so the path through the layer works on a copy.
      const Matrix<T> through = state.through.Resize(block.num_dst, hidden);
      CopyTo<T>(grad, through, threads);
      ActivatedBackward(i, Step(state, i), through, state, context);
      const Matrix<T> grad_in =
          i == 0 ? Matrix<T>{} : state.gradients[(options_.layers - i) % 2].Resize(block.num_src, hidden);
      Conv(i).Backward(block, in, through, grad_in, *Step(state, i).conv, context);
      if (i == 0) {
        residual_.BackwardParameters(FirstRows(x, block.num_dst), grad, state.partials, threads);
        return;
      }
      AddTo<T>(grad, FirstRows(grad_in, block.num_dst), threads);
      AddTo<T>(ColumnsOf(collected, CollectedAt(i), hidden), FirstRows(grad_in, seeds), threads);
      grad = grad_in;
    }
  }

  int num_passes() const override { return options_.layers; }
  int64_t PassWidth(int pass) const override {
    if (pass == 0) return options_.in_width;
    return pass == num_passes() ? options_.num_classes : Middle() + options_.hidden;
  }
  void RunPass(int pass, const BlockView& block, Matrix<const T> x, Matrix<T> out, const LayerContext& given) override {
    LayerContext context = given;
    context.training = false;
    context.layer = pass;
    const int threads = context.threads;
    if (pass_state_ == nullptr) pass_state_ = MakeState();
    auto& state = static_cast<State&>(*pass_state_);
    const bool is_last = pass + 1 == num_passes();
    const int64_t at = pass == 0 ? 0 : Middle();
    out = FirstRows(out, block.num_dst);
    const Matrix<const T> in = ColumnsOf(x, at, Width(pass));
    const Matrix<T> middle = is_last ? state.middle.Resize(block.num_dst, Middle()) : ColumnsOf(out, 0, Middle());
    const Matrix<T> next_rows = is_last ? Step(state, pass).out.Resize(block.num_dst, options_.hidden)
                                        : ColumnsOf(out, Middle(), options_.hidden);
    RunLayer(pass, block, in, next_rows, Step(state, pass), context);
    if (pass == 0) {
      LinearForward<T>(FirstRows(in, block.num_dst), ColumnsOf(lin0_.weight(), 0, Width(0)), lin0_.bias(),
                       /*accumulate=*/false, middle, threads);
    } else {
      CopyTo<T>(ColumnsOf(FirstRows(x, block.num_dst), 0, Middle()), middle, threads);
    }
    LinearForward<T>(next_rows, ColumnsOf(lin0_.weight(), CollectedAt(pass + 1), options_.hidden), /*bias=*/nullptr,
                     /*accumulate=*/true, middle, threads);
    if (is_last) lin1_.Forward(middle, /*accumulate=*/false, out, threads);
  }

 private:
  struct LayerStep {
    std::unique_ptr<LayerState> conv;
    Buffer<T> plain;  // output of the SAGEConv, before normalisation
    Buffer<T> out;    // x_{i+1}
    ColumnStatistics statistics;
    Buffer<uint8_t> bits;
    DropoutMask mask;
  };
  struct State final : Model<T>::State {
    Buffer<T> input;  // x_0, if dropout makes it differ from the features
    Buffer<uint8_t> input_bits;
    std::vector<LayerStep> steps;
    Buffer<T> collected, middle;
    Buffer<T> through, activated, gradients[2];
    Buffer<T> partials;
  };

  int64_t Width(int i) const { return i == 0 ? options_.in_width : options_.hidden; }  // columns of x_i
  int64_t Middle() const { return 2 * options_.num_classes; }
  // Returns the first column of x_i among the head's inputs.
  int64_t CollectedAt(int i) const { return i == 0 ? 0 : options_.in_width + (i - 1) * options_.hidden; }
  bool Drops(const LayerContext& context) const { return context.training && rate_.active(); }
  Layer<T>& Conv(int i) { return *convs_[static_cast<size_t>(i)]; }
  static LayerStep& Step(State& state, int i) { return state.steps[static_cast<size_t>(i)]; }

  // Returns x_0: the features after dropout, or the features themselves.
  Matrix<const T> DropInput(const NeighborSample& sample, Matrix<const T> x, State& state, LayerContext context) {
    if (!Drops(context)) return x;
    context.layer = 0;
    const Matrix<T> dropped = state.input.Resize(sample.num_nodes(), Width(0));
    const DropoutMask mask =
        MakeDropoutMask(rate_, DropoutSite::kInput, context, dropped.rows, dropped.cols, state.input_bits);
    ApplyDropout<T>(mask, rate_.scale, x, dropped, context.threads);
    return dropped;
  }

  // Computes out = x_{i+1} from x = x_i.
  void RunLayer(int i, const BlockView& block, Matrix<const T> x, Matrix<T> out, LayerStep& step,
                const LayerContext& context) {
    const int threads = context.threads;
    const Matrix<T> before_norm = step.plain.Resize(block.num_dst, options_.hidden);
    Conv(i).Forward(block, x, before_norm, *step.conv, context);
    if (plan_.normalise) {
      norms_[static_cast<size_t>(i)].Forward(before_norm, context.training, step.statistics, out, threads);
    } else {
      CopyTo<T>(before_norm, out, threads);
    }
    ActivationForward<T>(plan_.activation, out, threads);
    if (Drops(context)) {
      step.mask = MakeDropoutMask(rate_, DropoutSite::kActivation, context, out.rows, out.cols, step.bits);
      ApplyDropout<T>(step.mask, rate_.scale, out, out, threads);
    }
    const Matrix<const T> own = FirstRows(x, block.num_dst);
    if (i == 0) {
      residual_.Forward(own, /*accumulate=*/true, out, threads);
    } else {
      AddTo<T>(own, out, threads);
    }
  }

  // Computes the gradient of the conv's output from the gradient of a_i. Adding the residual has overwritten the
  // activation's output, which is therefore computed again.
  void ActivatedBackward(int i, LayerStep& step, Matrix<T> grad, State& state, const LayerContext& context) {
    const int threads = context.threads;
    if (Drops(context)) ApplyDropout<T>(step.mask, rate_.scale, grad, grad, threads);
    const Matrix<T> before_norm = {step.plain.data(), grad.rows, grad.cols, grad.cols};
    const Matrix<T> activated = state.activated.Resize(grad.rows, grad.cols);
    if (plan_.normalise) {
      norms_[static_cast<size_t>(i)].Apply(before_norm, step.statistics, activated, threads);
    } else {
      CopyTo<T>(before_norm, activated, threads);
    }
    ActivationForward<T>(plan_.activation, activated, threads);
    ActivationBackward<T>(plan_.activation, 1.0, activated, grad, threads);
    if (plan_.normalise) {
      norms_[static_cast<size_t>(i)].Backward(before_norm, context.training, step.statistics, grad, threads);
    }
  }

  ModelOptions options_;
  SageRiPlan plan_;
  DropoutRate rate_;
  std::vector<std::unique_ptr<Layer<T>>> convs_;
  std::vector<BatchNorm<T>> norms_;
  Linear<T> residual_, lin0_, lin1_;
  std::unique_ptr<typename Model<T>::State> pass_state_;
};

}  // namespace

template <typename T>
std::unique_ptr<Model<T>> MakeSageRi(const ModelOptions& options, const SageRiPlan& plan) {
  return std::make_unique<SageRi<T>>(options, plan);
}
template std::unique_ptr<Model<float>> MakeSageRi<float>(const ModelOptions&, const SageRiPlan&);
template std::unique_ptr<Model<double>> MakeSageRi<double>(const ModelOptions&, const SageRiPlan&);

}  // namespace hone::gnn
