// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements attention with the layer GATConv (gat_conv.cc), whose Backward computes the gradients of the parameters
// and of the operand together.
#include "gnn/nn/operations/operation.h"

namespace hone::gnn {
namespace {

template <typename T>
class Attention final : public Operation<T> {
 public:
  Attention(const AttentionSpec& spec, const OperationSetup& setup) {
    GatConvOptions options;
    options.in_width = setup.in[0];
    options.width = spec.concatenate ? setup.out / spec.heads : setup.out;
    options.heads = spec.heads;
    options.concatenate = spec.concatenate;
    options.negative_slope = spec.negative_slope;
    options.bias = spec.bias;
    layer_ = MakeGatConv<T>(options, setup.parameters, setup.stream->LayerSeed());
  }

  GradientFlow flow() const override { return GradientFlow::kComputed; }
  bool overwrites_grad() const override { return true; }
  void Collect(std::vector<Parameter<T>*>& parameters) override {
    for (Parameter<T>* p : layer_->parameters()) parameters.push_back(p);
  }
  std::unique_ptr<LayerState> MakeState() const override { return layer_->MakeState(); }

  void Forward(const OperationCall<T>& call) override {
    layer_->Forward(call.block, call.operands[0], call.out, *call.state, call.context);
  }
  void BackwardParameters(const OperationCall<T>& call, Matrix<T> grad, bool accumulate) override {
    if (!accumulate) layer_->Backward(call.block, call.operands[0], grad, {}, *call.state, call.context);
  }
  void BackwardOperand(const OperationCall<T>& call, Matrix<T> grad, bool, Matrix<T> grad_operand) override {
    layer_->Backward(call.block, call.operands[0], grad, grad_operand, *call.state, call.context);
  }

 private:
  std::unique_ptr<Layer<T>> layer_;
};

}  // namespace

template <typename T>
std::unique_ptr<Operation<T>> MakeAttention(const AttentionSpec& spec, const OperationSetup& setup) {
  return std::make_unique<Attention<T>>(spec, setup);
}
template std::unique_ptr<Operation<float>> MakeAttention<float>(const AttentionSpec&, const OperationSetup&);
template std::unique_ptr<Operation<double>> MakeAttention<double>(const AttentionSpec&, const OperationSetup&);

}  // namespace hone::gnn
