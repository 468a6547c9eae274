// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SageProgram computes GraphSAGE:
//
//   layer l aggregates hop L-1-l:       A_l = [mean | self]   (l = 0: drawn and gathered in one kernel; or sum, maximum)
//                                       Z_l = A_l W_l^T
//   loss on Z_{L-1};  then backwards    dW_l = dZ_l^T A_l,  dA_l = dZ_l W_l,  dZ_{l-1} = gather by source of dA_l
//
// Only pre-activations Z are stored. A kernel that reads Z applies activation and dropout as it loads. With a
// normalisation between layers, the normalised rows are stored instead, and the next layer reads those.
#include <fmt/format.h>

#include "gnn/cuda/base/fanouts.h"
#include "gnn/cuda/kernels/aggregate_kernels.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/cuda/kernels/outermost_kernels.h"
#include "gnn/cuda/kernels/sample_mean.h"
#include "gnn/cuda/kernels/staged_mean.h"
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"
#include "gnn/cuda/lower/dense.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/cuda/lower/program.h"
#include "gnn/cuda/lower/second_stream.h"
#include "gnn/nn/stack_model.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

// Sizes of a layer, padded to whole 8-element vectors; columns past the true widths stay zero.
struct SageLayer {
  int64_t in = 0, padded_in = 0;
  int64_t out = 0, padded_out = 0;
  int64_t weight_at = 0;  // offset of [padded_out, lin_l padded_in | lin_r padded_in]
  NormPlaces norm;        // normalises the layer's output
};

struct SageShape {
  std::vector<SageLayer> layers;
  bool mean = true;      // true: aggregates the neighbors' mean; false: their sum
  bool maximum = false;  // true (with mean false): their maximum instead
  bool normalises = false;
  Activation activation = Activation::kRelu;
  DropoutRate rate{0.0};
};

// The share of the multiprocessors for an outermost hop that reads other GPUs' memory. A few multiprocessors saturate
// the links. With all of them, the hop and the rest of the step took as long as one after the other, for an unknown
// reason. Measured on four H200 (docs/design/0019-features-over-peers.md).
constexpr float kPeersShare = 0.3f;
// The shares for an outermost hop that reads this GPU's memory, while a step or an inference is computed. Rows that fit
// the GPU's L2 cache (kCachedBytes) are read sooner by more warps with fewer loads each
// (docs/design/0020-gin-and-the-outermost-hop.md).
constexpr float kTrainingShare = 0.4f, kInferenceShare = 0.75f;
constexpr int64_t kCachedBytes = int64_t{64} << 20;

class SageProgram final : public Program {
 public:
  SageProgram(const ProgramContext& context, const Envelope& envelope, const SageShape& shape)
      : context_(context), envelope_(envelope), shape_(shape), layers_(shape_.layers) {}

  Status Make() {
    const int64_t size = ElementBytes(context_.element);
    const auto count = layers_.size();
    inputs_.resize(count);
    outputs_.resize(count);
    input_grads_.resize(count);
    output_grads_.resize(count);
    dense_.resize(count);
    passed_.resize(count);
    winners_.resize(count);
    norms_.resize(shape_.normalises ? count - 1 : 0);
    if (Forks()) HONE_RETURN_IF_ERROR(second_stream_.Make(context_));
    for (size_t l = 0; l < count; ++l) {
      const SageLayer& shape = layers_[l];
      const int64_t rows = envelope_.Rows(static_cast<int>(l));
      const bool is_last = l + 1 == count;
      if (l > 0) HONE_RETURN_IF_ERROR(inputs_[l].Allocate(rows * 2 * shape.padded_in * size));
      if (!is_last) HONE_RETURN_IF_ERROR(outputs_[l].Allocate(rows * shape.padded_out * size));
      HONE_RETURN_IF_ERROR(
          dense_[l].Plan(context_, {.rows = rows,
                                    .in = 2 * shape.padded_in,
                                    .out = shape.padded_out,
                                    .weight_at = shape.weight_at,
                                    .gradient_products = l > 0 && Forks() ? &second_stream_.products() : nullptr,
                                    .trains = envelope_.trains,
                                    .input_gradient = l > 0,
                                    .result = is_last ? Element::kFloat32 : context_.element}));
      if (shape_.normalises && !is_last) {
        HONE_RETURN_IF_ERROR(norms_[l].Make(context_, envelope_, static_cast<int>(l), shape.padded_out, shape.norm,
                                            {.activation = shape_.activation, .dropout = DropoutAfter(l)}));
      }
      if (!envelope_.trains) continue;
      if (!is_last && IsPlain()) HONE_RETURN_IF_ERROR(passed_[l].Allocate(rows * shape.padded_out / 8));
      if (!is_last) HONE_RETURN_IF_ERROR(output_grads_[l].Allocate(rows * shape.padded_out * size));
      if (l > 0) HONE_RETURN_IF_ERROR(input_grads_[l].Allocate(rows * 2 * shape.padded_in * size));
      if (l > 0 && shape_.maximum) HONE_RETURN_IF_ERROR(winners_[l].Allocate(rows * shape.padded_in));
    }
    return Status::Ok();
  }

  // Returns the size of the first layer's input, followed by the kept bits of every layer's dropout.
  int64_t OuterBytes() const override {
    return layers_.size() < 2 ? InputBytes() : KeptAt(layers_.size() - 2) + KeptBytes(layers_.size() - 2);
  }

  Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) override {
    HONE_RETURN_IF_ERROR(EnqueueKept(batch, stream));
    if (shape_.mean && batch.drawn.own != nullptr && batch.graph.staging.rows > 0) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueStagedMean(
          batch.graph, context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
          envelope_.known.back(), batch.header, batch.drawn, context_.element, batch.outer, stream));
      return Status::Ok();
    }
    SampleAggregate aggregate;
    aggregate.kind = Kind();
    aggregate.out = batch.outer;
    aggregate.share = OutermostShare(batch.graph);
    if (shape_.mean && aggregate.share > 0) {  // the other kernel for the same sums
      HONE_CUDA_RETURN_IF_ERROR(EnqueueOutermostHop(
          batch.graph, context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
          envelope_.known.back(), aggregate, SumOrder::kApart, batch.state, batch.header, batch.graph_nodes,
          context_.element, stream));
      return Status::Ok();
    }
    aggregate.share = 1;
    if (shape_.mean) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleMean(
          batch.graph, context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
          envelope_.known.back(), batch.state, batch.header, batch.graph_nodes, context_.element, batch.outer, stream));
      return Status::Ok();
    }
    if (shape_.maximum) {
      HONE_CUDA_RETURN_IF_ERROR(
          EnqueueWideSampleAggregate(batch.graph, context_.graph->feature_element(), envelope_.HopOf(0),
                                     envelope_.fanouts.back(), envelope_.known.back(), aggregate, /*by_maximum=*/true,
                                     batch.state, batch.header, batch.graph_nodes, context_.element, stream));
      return Status::Ok();
    }
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleAggregate(
        batch.graph, context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
        envelope_.known.back(), aggregate, batch.state, batch.header, batch.graph_nodes, context_.element, stream));
    return Status::Ok();
  }

  // Returns the share of the multiprocessors for the kernel that copies rows ahead (outermost_kernels.h). 0: the other
  // kernel is used instead, on all of them.
  float OutermostShare(const GraphOnDevice& graph) const {
    if (envelope_.fanouts.back() > kNarrowFanout) return 0;
    if (context_.graph->peer_rows() != nullptr) return kPeersShare;
    const int64_t bytes = graph.num_nodes * graph.feature_stride * ElementBytes(context_.graph->feature_element());
    if (graph.feature_places != nullptr || bytes <= kCachedBytes) return 0;
    return envelope_.trains ? kTrainingShare : kInferenceShare;
  }

  // Draws the dropout masks of all layers' outputs.
  Status EnqueueKept(const BatchOnDevice& batch, cudaStream_t stream) const {
    for (size_t l = 0; l + 1 < layers_.size() && Drops(); ++l) {
      const int hop = envelope_.HopOf(static_cast<int>(l));
      HONE_CUDA_RETURN_IF_ERROR(EnqueueActivationDropoutBits(
          hop, envelope_.known[static_cast<size_t>(hop)], static_cast<int32_t>(layers_[l].padded_out), DropoutAfter(l),
          batch.state, batch.header, batch.nodes, KeptBitsOf(batch, l), stream));
    }
    return Status::Ok();
  }

  Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) override {
    for (size_t l = 0; l < layers_.size(); ++l) {
      const bool is_last = l + 1 == layers_.size();
      if (l > 0) HONE_RETURN_IF_ERROR(EnqueueGather(batch, l, stream));
      void* out = is_last ? static_cast<void*>(logits) : outputs_[l].get();
      HONE_RETURN_IF_ERROR(dense_[l].Forward(InputOf(batch, l), out, stream));
      if (shape_.normalises && !is_last)
        HONE_RETURN_IF_ERROR(norms_[l].EnqueueForward(batch, outputs_[l].get(), stream));
    }
    return Status::Ok();
  }

  Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) override {
    for (size_t l = layers_.size(); l-- > 0;) {
      const bool is_last = l + 1 == layers_.size();
      if (shape_.normalises && !is_last) {
        HONE_RETURN_IF_ERROR(norms_[l].EnqueueBackward(batch, outputs_[l].get(), output_grads_[l].get(), stream));
      }
      const void* grad = is_last ? grad_logits : output_grads_[l].get();
      // Nothing later in the chain waits for a weight's gradient. The first layer's stays on the chain, because it
      // comes last.
      cudaStream_t gradients = stream;
      if (l > 0) {
        HONE_ASSIGN_OR_RETURN(gradients, second_stream_.Fork(stream));
      }
      HONE_RETURN_IF_ERROR(dense_[l].WeightGradient(grad, InputOf(batch, l), gradients));
      if (l == 0) break;
      HONE_RETURN_IF_ERROR(dense_[l].InputGradient(grad, input_grads_[l].get(), stream));
      HONE_RETURN_IF_ERROR(EnqueueGatherBackward(batch, l, stream));
    }
    return Forks() ? second_stream_.Join(stream) : Status::Ok();
  }

 private:
  bool Forks() const { return envelope_.trains && layers_.size() > 1; }

  // Returns whether the layers are mean and ReLU alone. These have kernels of their own, with which the engine's time
  // was measured.
  bool IsPlain() const { return shape_.mean && !shape_.normalises && shape_.activation == Activation::kRelu; }

  // These functions compute A_l from the output of layer l - 1, and the gradient of that output from the gradient of
  // A_l.
  Status EnqueueGather(const BatchOnDevice& batch, size_t l, cudaStream_t stream) const {
    const auto width = static_cast<int32_t>(layers_[l].padded_in);
    if (IsPlain()) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherMean(Hop(batch, l), HopNumber(l), context_.element, outputs_[l - 1].get(),
                                                  width, Scale(), Drops() ? KeptBitsOf(batch, l - 1) : nullptr,
                                                  batch.header, inputs_[l].get(), passed_[l - 1].get(), stream));
    } else if (shape_.maximum) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueMaximum(Hop(batch, l), HopNumber(l), context_.element, SourceOf(l), width,
                                               batch.state, batch.header, batch.nodes, inputs_[l].get(),
                                               winners_[l].get(), stream));
    } else {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAggregate(Kind(), Hop(batch, l), HopNumber(l), context_.element, SourceOf(l),
                                                 width, batch.state, batch.header, batch.nodes, inputs_[l].get(),
                                                 stream));
    }
    return Status::Ok();
  }
  Status EnqueueGatherBackward(const BatchOnDevice& batch, size_t l, cudaStream_t stream) const {
    const auto width = static_cast<int32_t>(layers_[l].padded_in);
    const auto sources = static_cast<int32_t>(envelope_.Rows(static_cast<int>(l) - 1));
    if (IsPlain()) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherMeanBackward(
          Hop(batch, l), HopNumber(l), context_.element, input_grads_[l].get(), passed_[l - 1].get(), width, sources,
          Scale(), batch.header, output_grads_[l - 1].get(), stream));
    } else if (shape_.maximum) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueMaximumBackward(
          Hop(batch, l), HopNumber(l), context_.element, SourceOf(l), width, sources, winners_[l].get(),
          input_grads_[l].get(), batch.state, batch.header, batch.nodes, output_grads_[l - 1].get(), stream));
    } else {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAggregateBackward(
          Kind(), Hop(batch, l), HopNumber(l), context_.element, SourceOf(l), width, sources, input_grads_[l].get(), {},
          batch.state, batch.header, batch.nodes, output_grads_[l - 1].get(), stream));
    }
    return Status::Ok();
  }
  AggregateKind Kind() const { return {.mean = shape_.mean}; }
  AggregateInput SourceOf(size_t l) const {
    AggregateInput input;
    if (shape_.normalises) {
      input.z = norms_[l - 1].rows();
    } else {
      input.z = outputs_[l - 1].get();
      input.activation = shape_.activation;
      input.neighbors = input.self = DropoutAfter(l - 1);
    }
    return input;
  }

  // Returns whether dropout masks are made together with the sampling.
  bool Drops() const { return IsPlain() && envelope_.trains && shape_.rate.threshold != 0; }
  float Scale() const { return Drops() ? static_cast<float>(shape_.rate.scale) : 1.0f; }
  int64_t InputBytes() const {
    return RoundUp(envelope_.Rows(0) * 2 * layers_[0].padded_in * ElementBytes(context_.element), 256);
  }
  int64_t KeptBytes(size_t layer) const {
    return Drops() ? RoundUp(envelope_.Rows(static_cast<int>(layer)) * layers_[layer].padded_out / 8, 256) : 0;
  }
  int64_t KeptAt(size_t layer) const {
    int64_t at = InputBytes();
    for (size_t l = 0; l < layer; ++l) at += KeptBytes(l);
    return at;
  }
  uint8_t* KeptBitsOf(const BatchOnDevice& batch, size_t layer) const {
    return static_cast<uint8_t*>(batch.outer) + KeptAt(layer);
  }

  int HopNumber(size_t layer) const { return envelope_.HopOf(static_cast<int>(layer)); }
  const HopOnDevice& Hop(const BatchOnDevice& batch, size_t layer) const { return batch.hops[HopNumber(layer)]; }
  const void* InputOf(const BatchOnDevice& batch, size_t layer) const {
    return layer == 0 ? batch.outer : inputs_[layer].get();
  }
  // Returns the dropout that applies to the output of layer `layer`.
  DropoutOnLoad DropoutAfter(size_t layer) const {
    return {static_cast<uint32_t>(layer), static_cast<uint32_t>(DropoutSite::kActivation),
            envelope_.trains ? shape_.rate.threshold : 0, static_cast<float>(shape_.rate.scale)};
  }

  const ProgramContext& context_;
  const Envelope envelope_;
  const SageShape shape_;
  const std::vector<SageLayer>& layers_;                                                   // shape_.layers
  std::vector<DeviceArray<unsigned char>> inputs_, outputs_, input_grads_, output_grads_;  // A, Z, dA, dZ
  std::vector<DeviceArray<uint8_t>> passed_;   // [l] a bit per element of Z_l: whether it passed activation and mask
  std::vector<DeviceArray<int32_t>> winners_;  // [l] the slots from which the maxima of A_l came
  std::vector<Dense> dense_;
  std::vector<NormBetween> norms_;
  SecondStream second_stream_;
};

class SagePlan final : public ModelPlan {
 public:
  SagePlan(const ModelOptions& model, Activation activation) {
    shape_.mean = model.aggregation == "mean";
    shape_.maximum = model.aggregation == "max";
    shape_.normalises = model.norm == "batch";
    shape_.activation = activation;
    shape_.rate = DropoutRate(model.dropout < 0 ? 0.5 : model.dropout);
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
      if (shape_.normalises && l + 1 < model.layers) {
        layer.norm = PlaceNorm(layout_, fmt::format("bns.{}.", l), model.hidden);
      }
      shape_.layers.push_back(layer);
    }
  }
  ParameterLayout Layout() const override { return layout_; }
  int64_t padded_classes() const override { return shape_.layers.back().padded_out; }
  Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const override {
    auto program = std::make_unique<SageProgram>(context, envelope, shape_);
    HONE_RETURN_IF_ERROR(program->Make());
    return std::unique_ptr<Program>(std::move(program));
  }

 private:
  SageShape shape_;
  ParameterLayout layout_;
};

}  // namespace

Result<std::unique_ptr<ModelPlan>> PlanSage(const ModelOptions& model) {
  HONE_CHECK(!model.bias, "a model with biases is planned as a spec (plan_model.h)");
  HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(model.activation, Activation::kRelu));
  return std::unique_ptr<ModelPlan>(std::make_unique<SagePlan>(model, activation));
}

}  // namespace hone::gnn::cuda
