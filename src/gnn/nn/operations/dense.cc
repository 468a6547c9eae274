// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements Linear, and the normalisations.
#include "gnn/nn/modules.h"
#include "gnn/nn/operations/operation.h"
#include "gnn/ops/layer_norm.h"

namespace hone::gnn {
namespace {

template <typename T>
class LinearOperation final : public Operation<T> {
 public:
  LinearOperation(bool bias, LinearSpec::Init init, const OperationSetup& setup)
      : linear_(setup.parameters, setup.in[0], setup.out, bias,
                init == LinearSpec::Init::kGlorot       ? WeightInit::kGlorot
                : init == LinearSpec::Init::kXavierRelu ? WeightInit::kXavierRelu
                                                        : WeightInit::kFanIn,
                setup.stream->Draw()) {}

  GradientFlow flow() const override { return GradientFlow::kComputed; }
  bool adds() const override { return true; }
  bool accumulates() const override { return true; }
  void Collect(std::vector<Parameter<T>*>& parameters) override { linear_.Collect(parameters); }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const OperationCall<T>& call) override {
    linear_.Forward(Rows(call), /*accumulate=*/false, call.out, call.context.threads);
  }
  void ForwardAdd(const OperationCall<T>& call) override {
    linear_.Forward(Rows(call), /*accumulate=*/true, call.out, call.context.threads);
  }
  void BackwardParameters(const OperationCall<T>& call, Matrix<T> grad, bool) override {
    linear_.BackwardParameters(Rows(call), grad, static_cast<State&>(*call.state).partials, call.context.threads);
  }
  void BackwardOperand(const OperationCall<T>& call, Matrix<T> grad, bool add, Matrix<T> grad_operand) override {
    linear_.BackwardInput(grad, add, grad_operand, call.context.threads);
  }

 private:
  struct State final : LayerState {
    Buffer<T> partials;
  };
  static Matrix<const T> Rows(const OperationCall<T>& call) { return FirstRows(call.operands[0], call.out.rows); }
  Linear<T> linear_;
};

template <typename T>
class BatchNormOperation final : public Operation<T> {
 public:
  explicit BatchNormOperation(const OperationSetup& setup) : norm_(setup.parameters, setup.out) {}

  GradientFlow flow() const override { return GradientFlow::kInPlace; }
  void Collect(std::vector<Parameter<T>*>& parameters) override { norm_.Collect(parameters); }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const OperationCall<T>& call) override {
    norm_.Forward(FirstRows(call.operands[0], call.out.rows), call.context.training,
                  static_cast<State&>(*call.state).statistics, call.out, call.context.threads);
  }
  void BackwardInPlace(const OperationCall<T>& call, Matrix<T> grad) override {
    norm_.Backward(FirstRows(call.operands[0], call.out.rows), call.context.training,
                   static_cast<State&>(*call.state).statistics, grad, call.context.threads);
  }

 private:
  struct State final : LayerState {
    ColumnStatistics statistics;
  };
  BatchNorm<T> norm_;
};

template <typename T>
class LayerNormOperation final : public Operation<T> {
 public:
  explicit LayerNormOperation(const OperationSetup& setup)
      : weight_(MakeParameter<T>(setup.parameters + ".weight", {setup.out}, /*trainable=*/true)),
        bias_(MakeParameter<T>(setup.parameters + ".bias", {setup.out}, /*trainable=*/true)) {
    std::fill(weight_.value.begin(), weight_.value.end(), T(1));
  }

  GradientFlow flow() const override { return GradientFlow::kInPlace; }
  void Collect(std::vector<Parameter<T>*>& parameters) override {
    parameters.push_back(&weight_);
    parameters.push_back(&bias_);
  }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const OperationCall<T>& call) override {
    LayerNormForward<T>(FirstRows(call.operands[0], call.out.rows), weight_.value.data(), bias_.value.data(),
                        static_cast<State&>(*call.state).moments, call.out, call.context.threads);
  }
  void BackwardInPlace(const OperationCall<T>& call, Matrix<T> grad) override {
    LayerNormBackward<T>(FirstRows(call.operands[0], call.out.rows), static_cast<State&>(*call.state).moments,
                         weight_.value.data(), grad, weight_.gradient.data(), bias_.gradient.data(),
                         call.context.threads);
  }

 private:
  struct State final : LayerState {
    RowMoments moments;
  };
  Parameter<T> weight_, bias_;
};

}  // namespace

template <typename T>
std::unique_ptr<Operation<T>> MakeLinear(bool bias, LinearSpec::Init init, const OperationSetup& setup) {
  return std::make_unique<LinearOperation<T>>(bias, init, setup);
}
template <typename T>
std::unique_ptr<Operation<T>> MakeNorm(const NormSpec& spec, const OperationSetup& setup) {
  if (spec.over == NormSpec::Over::kLayer) return std::make_unique<LayerNormOperation<T>>(setup);
  return std::make_unique<BatchNormOperation<T>>(setup);
}
#define HONE_INSTANTIATE(T)                                                                            \
  template std::unique_ptr<Operation<T>> MakeLinear<T>(bool, LinearSpec::Init, const OperationSetup&); \
  template std::unique_ptr<Operation<T>> MakeNorm<T>(const NormSpec&, const OperationSetup&);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)
#undef HONE_INSTANTIATE

}  // namespace hone::gnn
