// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements Activate and Drop, in place if the interpreter allows it; Add, Concat and Collect.
#include "gnn/ops/elementwise.h"

#include "gnn/nn/modules.h"
#include "gnn/nn/operations/operation.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn {
namespace {

template <typename T>
class Activate final : public Operation<T> {
 public:
  explicit Activate(const ActivateSpec& spec)
      : function_(spec.function == ActivateSpec::Function::kElu         ? Activation::kElu
                  : spec.function == ActivateSpec::Function::kLeakyRelu ? Activation::kLeakyRelu
                                                                        : Activation::kRelu) {}
  GradientFlow flow() const override { return GradientFlow::kInPlace; }
  bool works_in_place() const override { return true; }
  bool keeps_output() const override { return true; }
  void Forward(const OperationCall<T>& call) override {
    if (call.operands[0].data != call.out.data) {
      CopyTo<T>(FirstRows(call.operands[0], call.out.rows), call.out, call.context.threads);
    }
    ActivationForward<T>(function_, call.out, call.context.threads);
  }
  void BackwardInPlace(const OperationCall<T>& call, Matrix<T> grad) override {
    ActivationBackward<T>(function_, call.out_scale, call.out, grad, call.context.threads);
  }

 private:
  Activation function_;
};

template <typename T>
class Drop final : public Operation<T> {
 public:
  Drop(const DropSpec& spec, const OperationSetup& setup)
      : before_(setup.dropped_before), rate_(spec.probability), key_(setup.drop_key) {}

  GradientFlow flow() const override { return GradientFlow::kInPlace; }
  bool works_in_place() const override { return true; }
  bool active(bool training) const override { return training && rate_.active(); }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const OperationCall<T>& call) override {
    auto& state = static_cast<State&>(*call.state);
    LayerContext context = call.context;
    context.layer = key_.layer;
    state.mask = MakeDropoutMask(before_.Then(rate_), static_cast<DropoutSite>(key_.site), context, call.out.rows,
                                 call.out.cols, state.bits);
    ApplyDropout<T>(state.mask, scale(/*training=*/true), FirstRows(call.operands[0], call.out.rows), call.out,
                    context.threads);
  }
  void BackwardInPlace(const OperationCall<T>& call, Matrix<T> grad) override {
    ApplyDropout<T>(static_cast<State&>(*call.state).mask, scale(/*training=*/true), grad, grad, call.context.threads);
  }
  double scale(bool training) const override { return training ? before_.Then(rate_).scale / before_.scale : 1; }

 private:
  struct State final : LayerState {
    Buffer<uint8_t> bits;
    DropoutMask mask;
  };
  DropoutRate before_, rate_;
  SpecShapes::DropKey key_;
};

template <typename T>
class Add final : public Operation<T> {
 public:
  Add(const AddSpec& spec, const OperationSetup& setup) : last_(setup.in.size() - 1) {
    if (spec.eps) eps_ = MakeParameter<T>(setup.parameters + ".eps", {1}, /*trainable=*/false);
  }
  GradientFlow flow() const override { return GradientFlow::kShared; }
  bool works_in_place() const override { return true; }
  void Collect(std::vector<Parameter<T>*>& parameters) override {
    if (!eps_.value.empty()) parameters.push_back(&eps_);
  }
  bool sums() const override { return true; }
  void ForwardOperand(const OperationCall<T>& call, size_t i) override {
    const Matrix<const T> operand = FirstRows(call.operands[i], call.out.rows);
    if (i > 0) {
      AddTo<T>(operand, call.out, call.context.threads, Share(i).factor);
    } else if (operand.data != call.out.data) {
      CopyTo<T>(operand, call.out, call.context.threads);
    }
  }
  GradientShare<T> Share(size_t operand) const override {
    if (eps_.value.empty() || operand != last_) return {};
    return {0, T(1) + eps_.value[0], true};
  }

 private:
  size_t last_;  // index of the last operand, which eps scales
  Parameter<T> eps_;
};

template <typename T>
class Concat final : public Operation<T> {
 public:
  explicit Concat(const OperationSetup& setup) : widths_(setup.in) {}
  GradientFlow flow() const override { return GradientFlow::kShared; }
  void Forward(const OperationCall<T>& call) override {
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const Matrix<T> to = {call.out.data + Share(i).first_column, call.out.rows, widths_[i], call.out.stride};
      CopyTo<T>(FirstRows(call.operands[i], call.out.rows), to, call.context.threads);
    }
  }
  GradientShare<T> Share(size_t operand) const override {
    GradientShare<T> share;
    for (size_t i = 0; i < operand; ++i) share.first_column += widths_[i];
    return share;
  }

 private:
  std::vector<int64_t> widths_;
};

}  // namespace

template <typename T>
std::unique_ptr<Operation<T>> MakeActivate(const ActivateSpec& spec) {
  return std::make_unique<Activate<T>>(spec);
}
template <typename T>
std::unique_ptr<Operation<T>> MakeDrop(const DropSpec& spec, const OperationSetup& setup) {
  return std::make_unique<Drop<T>>(spec, setup);
}
template <typename T>
std::unique_ptr<Operation<T>> MakeAdd(const AddSpec& spec, const OperationSetup& setup) {
  return std::make_unique<Add<T>>(spec, setup);
}
template <typename T>
std::unique_ptr<Operation<T>> MakeConcat(const OperationSetup& setup) {
  return std::make_unique<Concat<T>>(setup);
}

template <typename T>
std::unique_ptr<Operation<T>> MakeOperation(const OperationSpec& spec, const OperationSetup& setup) {
  if (const auto* o = std::get_if<AggregateSpec>(&spec)) return MakeAggregate<T>(*o);
  if (const auto* o = std::get_if<AttentionSpec>(&spec)) return MakeAttention<T>(*o, setup);
  if (const auto* o = std::get_if<LinearSpec>(&spec)) return MakeLinear<T>(o->bias, o->init, setup);
  if (const auto* o = std::get_if<HeadSpec>(&spec)) return MakeLinear<T>(o->bias, LinearSpec::Init::kFanIn, setup);
  if (const auto* o = std::get_if<NormSpec>(&spec)) return MakeNorm<T>(*o, setup);
  if (const auto* o = std::get_if<ActivateSpec>(&spec)) return MakeActivate<T>(*o);
  if (const auto* o = std::get_if<DropSpec>(&spec)) return MakeDrop<T>(*o, setup);
  if (const auto* o = std::get_if<AddSpec>(&spec)) return MakeAdd<T>(*o, setup);
  if (const auto* o = std::get_if<OwnSpec>(&spec)) return MakeOwn<T>(*o, setup);
  return MakeConcat<T>(setup);
}

#define HONE_INSTANTIATE(T)                                                                   \
  template std::unique_ptr<Operation<T>> MakeActivate<T>(const ActivateSpec&);                \
  template std::unique_ptr<Operation<T>> MakeDrop<T>(const DropSpec&, const OperationSetup&); \
  template std::unique_ptr<Operation<T>> MakeAdd<T>(const AddSpec&, const OperationSetup&);   \
  template std::unique_ptr<Operation<T>> MakeConcat<T>(const OperationSetup&);                \
  template std::unique_ptr<Operation<T>> MakeOperation<T>(const OperationSpec&, const OperationSetup&);
HONE_INSTANTIATE(float)
HONE_INSTANTIATE(double)
#undef HONE_INSTANTIATE

}  // namespace hone::gnn
