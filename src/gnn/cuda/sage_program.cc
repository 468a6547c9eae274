// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// GraphSAGE's program:
//
//   layer l aggregates hop L-1-l:       A_l = [mean | self]   (l = 0: drawn and gathered in one kernel)
//                                       Z_l = A_l W_l^T
//   loss on Z_{L-1};  then backwards    dW_l = dZ_l^T A_l,  dA_l = dZ_l W_l,  dZ_{l-1} = gather by source of dA_l
//
// Only pre-activations Z are kept: whoever reads one applies ReLU and dropout as it loads.
#include <fmt/format.h>

#include "gnn/cuda/dense.h"
#include "gnn/cuda/gather_kernels.h"
#include "gnn/cuda/program.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

// Sizes of a layer, padded to whole 8-element vectors; columns past the true widths stay zero.
struct SageLayer {
  int64_t in = 0, padded_in = 0;
  int64_t out = 0, padded_out = 0;
  int64_t weight_at = 0;  // [padded_out, lin_l padded_in | lin_r padded_in]
};

class SageProgram final : public Program {
 public:
  SageProgram(const ProgramContext& context, const Envelope& envelope, std::vector<SageLayer> layers,
              const DropoutRate& rate)
      : context_(context), envelope_(envelope), layers_(std::move(layers)), rate_(rate) {}

  Status Make() {
    const int64_t size = ElementBytes(context_.element);
    const auto count = layers_.size();
    inputs_.resize(count);
    outputs_.resize(count);
    input_grads_.resize(count);
    output_grads_.resize(count);
    dense_.resize(count);
    for (size_t l = 0; l < count; ++l) {
      const SageLayer& shape = layers_[l];
      const int64_t rows = envelope_.Rows(static_cast<int>(l));
      const bool last = l + 1 == count;
      if (l > 0) HONE_RETURN_IF_ERROR(inputs_[l].Allocate(rows * 2 * shape.padded_in * size));
      if (!last) HONE_RETURN_IF_ERROR(outputs_[l].Allocate(rows * shape.padded_out * size));
      HONE_RETURN_IF_ERROR(dense_[l].Plan(context_, {.rows = rows,
                                                     .in = 2 * shape.padded_in,
                                                     .out = shape.padded_out,
                                                     .weight_at = shape.weight_at,
                                                     .trains = envelope_.trains,
                                                     .input_gradient = l > 0,
                                                     .result = last ? Element::kFloat32 : context_.element}));
      if (!envelope_.trains) continue;
      if (!last) HONE_RETURN_IF_ERROR(output_grads_[l].Allocate(rows * shape.padded_out * size));
      if (l > 0) HONE_RETURN_IF_ERROR(input_grads_[l].Allocate(rows * 2 * shape.padded_in * size));
    }
    return Status::Ok();
  }

  int64_t OuterBytes() const override {
    return envelope_.Rows(0) * 2 * layers_[0].padded_in * ElementBytes(context_.element);
  }

  Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) override {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleMean(
        context_.graph->view(), context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
        envelope_.known.back(), batch.state, batch.header, batch.nodes, context_.element, batch.outer, stream));
    return Status::Ok();
  }

  Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) override {
    for (size_t l = 0; l < layers_.size(); ++l) {
      if (l > 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherMean(
            Hop(batch, l), HopNumber(l), context_.element, outputs_[l - 1].get(),
            static_cast<int32_t>(layers_[l].padded_in), Activation(l - 1), batch.state, batch.header, batch.nodes,
            inputs_[l].get(), stream));
      }
      void* out = l + 1 == layers_.size() ? static_cast<void*>(logits) : outputs_[l].get();
      HONE_RETURN_IF_ERROR(dense_[l].Forward(Input(batch, l), out, stream));
    }
    return Status::Ok();
  }

  Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) override {
    for (size_t l = layers_.size(); l-- > 0;) {
      const void* grad = l + 1 == layers_.size() ? grad_logits : output_grads_[l].get();
      HONE_RETURN_IF_ERROR(dense_[l].WeightGradient(grad, Input(batch, l), stream));
      if (l == 0) break;
      HONE_RETURN_IF_ERROR(dense_[l].InputGradient(grad, input_grads_[l].get(), stream));
      HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherMeanBackward(
          Hop(batch, l), HopNumber(l), context_.element, input_grads_[l].get(), outputs_[l - 1].get(),
          static_cast<int32_t>(layers_[l].padded_in), static_cast<int32_t>(envelope_.Rows(static_cast<int>(l) - 1)),
          Activation(l - 1), batch.state, batch.header, batch.nodes, output_grads_[l - 1].get(), stream));
    }
    return Status::Ok();
  }

 private:
  int HopNumber(size_t layer) const { return envelope_.HopOf(static_cast<int>(layer)); }
  const HopOnDevice& Hop(const BatchOnDevice& batch, size_t layer) const { return batch.hops[HopNumber(layer)]; }
  const void* Input(const BatchOnDevice& batch, size_t layer) const {
    return layer == 0 ? batch.outer : inputs_[layer].get();
  }
  // Of what layer `layer` put out.
  ActivationOnLoad Activation(size_t layer) const {
    return {static_cast<uint32_t>(layer), static_cast<uint32_t>(DropoutSite::kActivation),
            envelope_.trains ? rate_.threshold : 0, static_cast<float>(rate_.scale)};
  }

  const ProgramContext& context_;
  const Envelope envelope_;
  const std::vector<SageLayer> layers_;
  const DropoutRate rate_;
  std::vector<DeviceArray<unsigned char>> inputs_, outputs_, input_grads_, output_grads_;  // A, Z, dA, dZ
  std::vector<Dense> dense_;
};

class SagePlan final : public ModelPlan {
 public:
  explicit SagePlan(const ModelOptions& model) : rate_(model.dropout < 0 ? 0.5 : model.dropout) {
    for (int l = 0; l < model.layers; ++l) {
      SageLayer layer;
      layer.in = l == 0 ? model.in_width : model.hidden;
      layer.out = l + 1 == model.layers ? model.num_classes : model.hidden;
      layer.padded_in = RoundUp(layer.in, 8);
      layer.padded_out = RoundUp(layer.out, 8);
      layer.weight_at = layout_.Reserve(layer.padded_out * 2 * layer.padded_in);
      for (int half = 0; half < 2; ++half) {
        layout_.PlaceMatrix(fmt::format("convs.{}.lin_{}.weight", l, half == 0 ? 'l' : 'r'), layer.out, layer.in,
                            layer.weight_at + half * layer.padded_in, 2 * layer.padded_in);
      }
      layers_.push_back(layer);
    }
  }
  ParameterLayout Layout() const override { return layout_; }
  int64_t padded_classes() const override { return layers_.back().padded_out; }
  Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const override {
    auto program = std::make_unique<SageProgram>(context, envelope, layers_, rate_);
    HONE_RETURN_IF_ERROR(program->Make());
    return std::unique_ptr<Program>(std::move(program));
  }

 private:
  DropoutRate rate_;
  ParameterLayout layout_;
  std::vector<SageLayer> layers_;
};

}  // namespace

Result<std::unique_ptr<ModelPlan>> PlanSage(const ModelOptions& model) {
  if (model.aggregation != "mean" || model.norm == "batch" ||
      !(model.activation.empty() || model.activation == "relu")) {
    return Status::InvalidArgument("the GPU engine trains GraphSAGE with mean aggregation, ReLU and no normalisation");
  }
  return std::unique_ptr<ModelPlan>(std::make_unique<SagePlan>(model));
}

}  // namespace hone::gnn::cuda
