// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/nn/operations/operation.h"
#include "gnn/ops/scaled_sum.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

template <typename T>
class Aggregate final : public Operation<T> {
 public:
  explicit Aggregate(const AggregateSpec& spec)
      : kind_(spec.how == AggregateSpec::How::kMax   ? Aggregation::kMax
              : spec.how == AggregateSpec::How::kSum ? Aggregation::kSum
                                                     : Aggregation::kMean),
        symmetric_(spec.scale == AggregateSpec::Scale::kSymmetric) {}

  GradientFlow flow() const override { return GradientFlow::kComputed; }
  std::unique_ptr<LayerState> MakeState() const override { return std::make_unique<State>(); }

  void Forward(const OperationCall<T>& call) override {
    auto& state = static_cast<State&>(*call.state);
    const Matrix<const T> x = call.operands[0];
    if (symmetric_) {
      HONE_CHECK(call.context.graph != nullptr, "an aggregate with scale \"symmetric\" is given the whole graph");
      SymmetricScales(*call.context.graph, call.block, call.context.nodes, state.scales);
      ScaledSumForward<T>(call.block, x, state.scales, call.out, call.context.threads);
      return;
    }
    int32_t* winners = kind_ == Aggregation::kMax ? state.winners.Resize(call.out.rows * call.out.cols) : nullptr;
    AggregateForward<T>(kind_, call.block, x, call.out, winners, call.context.threads);
  }

  void BackwardOperand(const OperationCall<T>& call, Matrix<T> grad, bool, Matrix<T> grad_operand) override {
    const auto& state = static_cast<const State&>(*call.state);
    const SourceMajorBlock& sources = call.sources->Get(call.block);
    const int threads = call.context.threads;
    if (symmetric_) {
      ScaledSumBackward<T>(call.block, sources, grad, state.scales, grad_operand, threads);
    } else if (kind_ == Aggregation::kMax) {
      MaxBackward<T>(call.block, sources, state.winners.data(), grad, grad_operand, threads);
    } else {
      AggregateBackward<T>(kind_, call.block, sources, grad, grad_operand, threads);
    }
  }

 private:
  struct State final : LayerState {
    Buffer<int32_t> winners;
    EdgeScales<T> scales;
  };
  Aggregation kind_;
  bool symmetric_;
};

}  // namespace

template <typename T>
std::unique_ptr<Operation<T>> MakeAggregate(const AggregateSpec& spec) {
  return std::make_unique<Aggregate<T>>(spec);
}
template std::unique_ptr<Operation<float>> MakeAggregate<float>(const AggregateSpec&);
template std::unique_ptr<Operation<double>> MakeAggregate<double>(const AggregateSpec&);

}  // namespace hone::gnn
