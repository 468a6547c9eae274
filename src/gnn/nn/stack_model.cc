// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the stack of stack_model.h. Backward visits the steps of Forward in reverse, so the two are best read side
// by side.
#include "gnn/nn/stack_model.h"

#include <string>
#include <utility>

#include "hone/base/status.h"

namespace hone::gnn {
namespace {

template <typename T>
class StackModel final : public Model<T> {
 public:
  StackModel(const ModelOptions& options, const StackPlan& plan, std::vector<std::unique_ptr<Layer<T>>> layers)
      : options_(options),
        plan_(plan),
        between_rate_(plan.dropout_between),
        head_rate_(plan.head_dropout),
        layers_(std::move(layers)) {
    if (plan.normalise_between) {
      for (size_t i = 0; i + 1 < layers_.size(); ++i) {
        norms_.emplace_back("bns." + std::to_string(i), layers_[i]->out_width());
      }
    }
    if (plan.head) {
      Rng rng = Rng(options.seed).Split(layers_.size());
      lin1_ = Linear<T>("lin1", layers_.back()->out_width(), options.hidden, /*bias=*/true, WeightInit::kFanIn, rng);
      lin2_ = Linear<T>("lin2", options.hidden, options.num_classes, /*bias=*/true, WeightInit::kFanIn, rng);
    }
  }

  const ModelOptions& options() const override { return options_; }
  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> parameters;
    for (const auto& layer : layers_) {
      for (Parameter<T>* p : layer->parameters()) parameters.push_back(p);
    }
    for (BatchNorm<T>& norm : norms_) norm.Collect(parameters);
    if (plan_.head) {
      lin1_.Collect(parameters);
      lin2_.Collect(parameters);
    }
    return parameters;
  }
  std::unique_ptr<typename Model<T>::State> MakeState() const override {
    auto state = std::make_unique<StackState>();
    for (const auto& layer : layers_) {
      state->steps.emplace_back();
      state->steps.back().layer = layer->MakeState();
    }
    return state;
  }

  void Forward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> logits, typename Model<T>::State& model_state,
               const LayerContext& given) override {
    auto& state = static_cast<StackState&>(model_state);
    HONE_CHECK(sample.hops() == static_cast<int>(layers_.size()), "a sample with as many hops as the model has layers");
    logits = FirstRows(logits, sample.num_seeds());
    LayerContext context = given;
    context.nodes = sample.nodes;
    for (size_t i = 0; i < layers_.size(); ++i) {
      context.layer = static_cast<int>(i);
      const BlockView block = sample.Block(context.layer);
      const bool is_last = i + 1 == layers_.size();
      Step& step = state.steps[i];
      const Matrix<T> out = is_last && !plan_.head ? logits : step.out.Resize(block.num_dst, layers_[i]->out_width());
      layers_[i]->Forward(block, x, Normalises(i) ? step.plain.Resize(out.rows, out.cols) : out, *step.layer, context);
      if (!is_last) ApplyAfterLayer(i, step, out, context);
      x = out;
    }
    if (plan_.head) ApplyHead(x, logits, state, context);
  }

  void Backward(const NeighborSample& sample, Matrix<const T> x, Matrix<T> grad_logits,
                typename Model<T>::State& model_state, const LayerContext& given) override {
    auto& state = static_cast<StackState&>(model_state);
    LayerContext context = given;
    context.nodes = sample.nodes;
    Matrix<T> grad = FirstRows(grad_logits, sample.num_seeds());
    int into = 0;  // index of the gradient buffer that is free
    const auto output = [&](size_t i) -> Matrix<const T> {
      return Matrix<const T>{state.steps[i].out.data(), sample.Block(static_cast<int>(i)).num_dst,
                             layers_[i]->out_width(), layers_[i]->out_width()};
    };
    if (plan_.head) {
      context.layer = static_cast<int>(layers_.size());
      grad = HeadBackward(output(layers_.size() - 1), grad, state, context);
      into = 1;
    }
    for (size_t i = layers_.size(); i-- > 0;) {
      context.layer = static_cast<int>(i);
      const BlockView block = sample.Block(context.layer);
      Step& step = state.steps[i];
      if (i + 1 < layers_.size()) BackwardAfterLayer(i, step, output(i), grad, context);
      const Matrix<const T> in = i == 0 ? x : output(i - 1);
      const Matrix<T> grad_in = i == 0 ? Matrix<T>{} : state.gradients[into].Resize(block.num_src, in.cols);
      layers_[i]->Backward(block, in, grad, grad_in, *step.layer, context);
      grad = grad_in;
      into = 1 - into;
    }
  }

  int num_passes() const override { return static_cast<int>(layers_.size()); }
  int64_t PassWidth(int pass) const override {
    if (pass == 0) return options_.in_width;
    return pass == num_passes() ? options_.num_classes : layers_[static_cast<size_t>(pass) - 1]->out_width();
  }
  void RunPass(int pass, const BlockView& block, Matrix<const T> x, Matrix<T> out, const LayerContext& given) override {
    FinishPass(pass, block, out, given,
               [&](Layer<T>& layer, LayerState& state, Matrix<T> rows, const LayerContext& context) {
                 layer.Forward(block, x, rows, state, context);
               });
  }
  int64_t ProjectedWidth(int pass) const override { return layers_[static_cast<size_t>(pass)]->projected_width(); }
  void ProjectRows(int pass, Matrix<const T> x, Matrix<T> out, const LayerContext& given) override {
    LayerContext context = given;
    context.training = false;
    context.layer = pass;
    if (pass_state_ == nullptr) pass_state_ = MakeState();
    const auto i = static_cast<size_t>(pass);
    layers_[i]->Project(x, out, *static_cast<StackState&>(*pass_state_).steps[i].layer, context);
  }
  void RunProjectedPass(int pass, const BlockView& block, Matrix<const T> projected, Matrix<T> out,
                        const LayerContext& given) override {
    FinishPass(pass, block, out, given,
               [&](Layer<T>& layer, LayerState& state, Matrix<T> rows, const LayerContext& context) {
                 layer.ForwardProjected(block, projected, rows, state, context);
               });
  }

 private:
  // Runs a pass: the layer, by `run`, and the operations after it.
  template <typename Run>
  void FinishPass(int pass, const BlockView& block, Matrix<T> out, const LayerContext& given, const Run& run) {
    const auto i = static_cast<size_t>(pass);
    out = FirstRows(out, block.num_dst);
    LayerContext context = given;
    context.training = false;
    context.layer = pass;
    if (pass_state_ == nullptr) pass_state_ = MakeState();
    auto& state = static_cast<StackState&>(*pass_state_);
    Step& step = state.steps[i];
    const bool is_last = i + 1 == layers_.size();
    const Matrix<T> before_norm =
        Normalises(i) || (is_last && plan_.head) ? step.plain.Resize(block.num_dst, layers_[i]->out_width()) : out;
    run(*layers_[i], *step.layer, before_norm, context);
    if (!is_last) ApplyAfterLayer(i, step, out, context);
    if (is_last && plan_.head) ApplyHead(before_norm, out, state, context);
  }

  struct Step {
    std::unique_ptr<LayerState> layer;
    Buffer<T> plain;  // the layer's output before normalisation
    Buffer<T> out;    // after all operations between layers
    ColumnStatistics statistics;
    Buffer<uint8_t> bits;
    DropoutMask mask;
  };
  struct StackState final : Model<T>::State {
    std::vector<Step> steps;
    Step head;  // output of lin1
    Buffer<T> gradients[2];
    Buffer<T> partials;
  };

  // Returns whether layer i is followed by a normalisation.
  bool Normalises(size_t i) const { return plan_.normalise_between && i + 1 < layers_.size(); }

  // Applies the activation, and dropout if it is on.
  static void Activate(Activation kind, const DropoutRate& rate, DropoutSite site, Step& step, Matrix<T> out,
                       const LayerContext& context) {
    ActivationForward<T>(kind, out, context.threads);
    if (!context.training || !rate.active()) return;
    step.mask = MakeDropoutMask(rate, site, context, out.rows, out.cols, step.bits);
    ApplyDropout<T>(step.mask, rate.scale, out, out, context.threads);
  }
  // Turns the gradient of Activate's output into that of its input, in place.
  static void ActivateBackward(Activation kind, const DropoutRate& rate, const Step& step, Matrix<const T> out,
                               Matrix<T> grad, const LayerContext& context) {
    const bool dropped = context.training && rate.active();
    if (dropped) ApplyDropout<T>(step.mask, rate.scale, grad, grad, context.threads);
    ActivationBackward<T>(kind, dropped ? rate.scale : 1.0, out, grad, context.threads);
  }

  // Applies the operations after layer i, in place.
  void ApplyAfterLayer(size_t i, Step& step, Matrix<T> out, const LayerContext& context) {
    if (Normalises(i)) {
      norms_[i].Forward({step.plain.data(), out.rows, out.cols, out.cols}, context.training, step.statistics, out,
                        context.threads);
    }
    Activate(plan_.between, between_rate_, DropoutSite::kActivation, step, out, context);
  }
  // Turns the gradient of ApplyAfterLayer's output into that of its input, in place.
  void BackwardAfterLayer(size_t i, Step& step, Matrix<const T> out, Matrix<T> grad, const LayerContext& context) {
    ActivateBackward(plan_.between, between_rate_, step, out, grad, context);
    if (Normalises(i)) {
      norms_[i].Backward({step.plain.data(), out.rows, out.cols, out.cols}, context.training, step.statistics, grad,
                         context.threads);
    }
  }

  // Applies the head: linear, activation and dropout, linear.
  void ApplyHead(Matrix<const T> x, Matrix<T> logits, StackState& state, LayerContext context) {
    context.layer = static_cast<int>(layers_.size());
    const Matrix<T> hidden = state.head.out.Resize(x.rows, options_.hidden);
    lin1_.Forward(x, /*accumulate=*/false, hidden, context.threads);
    Activate(plan_.head_activation, head_rate_, DropoutSite::kHead, state.head, hidden, context);
    lin2_.Forward(hidden, /*accumulate=*/false, logits, context.threads);
  }
  // Adds the gradients of the head's parameters, and returns the gradient of its input.
  Matrix<T> HeadBackward(Matrix<const T> x, Matrix<T> grad_logits, StackState& state, const LayerContext& context) {
    const Matrix<const T> hidden = {state.head.out.data(), x.rows, options_.hidden, options_.hidden};
    lin2_.BackwardParameters(hidden, grad_logits, state.partials, context.threads);
    const Matrix<T> grad_hidden = state.gradients[1].Resize(x.rows, options_.hidden);
    lin2_.BackwardInput(grad_logits, /*accumulate=*/false, grad_hidden, context.threads);
    ActivateBackward(plan_.head_activation, head_rate_, state.head, hidden, grad_hidden, context);
    lin1_.BackwardParameters(x, grad_hidden, state.partials, context.threads);
    const Matrix<T> grad = state.gradients[0].Resize(x.rows, x.cols);
    lin1_.BackwardInput(grad_hidden, /*accumulate=*/false, grad, context.threads);
    return grad;
  }

  ModelOptions options_;
  StackPlan plan_;
  DropoutRate between_rate_, head_rate_;
  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<BatchNorm<T>> norms_;  // one less than layers, or none
  Linear<T> lin1_, lin2_;
  std::unique_ptr<typename Model<T>::State> pass_state_;
};

}  // namespace

template <typename T>
std::unique_ptr<Model<T>> MakePlannedStack(const ModelOptions& options, const StackPlan& plan,
                                           std::vector<std::unique_ptr<Layer<T>>> layers) {
  return std::make_unique<StackModel<T>>(options, plan, std::move(layers));
}
template std::unique_ptr<Model<float>> MakePlannedStack<float>(const ModelOptions&, const StackPlan&,
                                                               std::vector<std::unique_ptr<Layer<float>>>);
template std::unique_ptr<Model<double>> MakePlannedStack<double>(const ModelOptions&, const StackPlan&,
                                                                 std::vector<std::unique_ptr<Layer<double>>>);

}  // namespace hone::gnn
