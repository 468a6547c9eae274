// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements a registered operation (hone/gnn/op.h) with its Layer, whose Backward computes the gradients of the
// parameters and of the operand together.
#include <type_traits>

#include "gnn/nn/operations/operation.h"
#include "gnn/spec/own_operations.h"

namespace hone::gnn {
namespace {

template <typename T>
class Own final : public Operation<T> {
 public:
  Own(const OwnSpec& spec, const OperationSetup& setup) : layer_of_mask_(setup.drop_key.layer) {
    const OpKind& kind = *FindOp(spec.kind);
    aggregates_ = kind.aggregates();
    const OpPlace op = PlaceOf(spec, setup.parameters, setup.in[0], setup.out, setup.edge_width, setup.drop_key,
                               setup.stream->LayerSeed());
    if constexpr (std::is_same_v<T, float>) {
      layer_ = kind.MakeLayer(op);
    } else {
      layer_ = kind.MakeDoubleLayer(op);
    }
    HONE_CHECK(layer_ != nullptr && layer_->in_width() == op.in && layer_->out_width() == op.out,
               "a registered operation makes a layer of the columns that it was asked for");
  }

  GradientFlow flow() const override { return GradientFlow::kComputed; }
  bool overwrites_grad() const override { return true; }
  void Collect(std::vector<Parameter<T>*>& parameters) override {
    for (Parameter<T>* p : layer_->parameters()) parameters.push_back(p);
  }
  std::unique_ptr<LayerState> MakeState() const override { return layer_->MakeState(); }

  void Forward(const OperationCall<T>& call) override {
    layer_->Forward(Block(call), call.operands[0], call.out, *call.state, Context(call));
  }
  void BackwardParameters(const OperationCall<T>& call, Matrix<T> grad, bool accumulate) override {
    if (!accumulate) layer_->Backward(Block(call), call.operands[0], grad, {}, *call.state, Context(call));
  }
  void BackwardOperand(const OperationCall<T>& call, Matrix<T> grad, bool, Matrix<T> grad_operand) override {
    layer_->Backward(Block(call), call.operands[0], grad, grad_operand, *call.state, Context(call));
  }

 private:
  // Returns the call's block; for an operation that does not aggregate, one without edges.
  BlockView Block(const OperationCall<T>& call) const {
    if (aggregates_) return call.block;
    BlockView rows;
    rows.num_dst = rows.num_src = static_cast<int32_t>(call.out.rows);
    return rows;
  }
  LayerContext Context(const OperationCall<T>& call) const {
    LayerContext context = call.context;
    context.layer = layer_of_mask_;
    return context;
  }

  bool aggregates_ = false;
  int layer_of_mask_;
  std::unique_ptr<Layer<T>> layer_;
};

}  // namespace

template <typename T>
std::unique_ptr<Operation<T>> MakeOwn(const OwnSpec& spec, const OperationSetup& setup) {
  return std::make_unique<Own<T>>(spec, setup);
}
template std::unique_ptr<Operation<float>> MakeOwn<float>(const OwnSpec&, const OperationSetup&);
template std::unique_ptr<Operation<double>> MakeOwn<double>(const OwnSpec&, const OperationSetup&);

}  // namespace hone::gnn
