// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// GatProgram computes GAT by linearity (attention_kernels.h):
//
//   layer l      F_l = the attention vectors folded into input space
//                S_l = weighted sums of the input rows, a block of columns per head
//                Z_l = S_l W_l^T, head by head; the last layer takes the heads' mean
//   The input rows of a layer are dropout(f(Z)). They are computed as they are read; after a normalisation between
//   layers, they are written once instead.
//
// The outermost hop is drawn while the previous batch trains. Its attention is computed later, because it needs the new
// weights.
//
// Two kinds of work run on a second stream, next to the chain of kernels. Dropout's bits are made during the forward
// pass of the outermost layer, which reads none. Each layer's weight gradient is computed during the backward pass of
// its attention. No two products run at once. Several heads are one product with the blocks of W on a diagonal: the
// zeros cost arithmetic that the device can spare, and one product is faster than one thin product per head.
#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/kernels/attention_kernels.h"
#include "gnn/cuda/kernels/head_kernels.h"
#include "gnn/cuda/lower/dense.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/cuda/lower/program.h"
#include "gnn/nn/stack_model.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

struct GatLayer {
  int64_t in = 0;          // padded
  int64_t out = 0;         // padded: of all heads if they are concatenated, of one if they are averaged
  int32_t head_width = 0;  // without padding
  bool concatenates = true;
  int64_t weight = 0;  // offset of the weight [heads * head_width, in]
  int64_t att_src = 0, att_dst = 0;  // offsets of [heads * head_width] each
  NormPlaces norm;  // normalises the layer's output
};

struct GatShape {
  std::vector<GatLayer> layers;
  int heads = 1;
  float negative_slope = 0.2f;
  bool normalises = false;
  Activation activation = Activation::kRelu;
  DropoutRate rate{0.0};
};

class GatProgram final : public Program {
 public:
  GatProgram(const ProgramContext& context, const Envelope& envelope, const GatShape& shape)
      : context_(context), envelope_(envelope), shape_(shape) {}

  Status Make() {
    const Element element = context_.element;
    const int64_t size = ElementBytes(element);
    const int64_t heads = shape_.heads;
    steps_.resize(shape_.layers.size());
    int64_t slots = 0, rows_most = 0;
    for (size_t l = 0; l < steps_.size(); ++l) {
      Step& step = steps_[l];
      const GatLayer& layer = shape_.layers[l];
      const bool is_last = l + 1 == steps_.size();
      const int64_t rows = envelope_.Rows(static_cast<int>(l));
      const int64_t places = Known(l) * envelope_.fanouts[static_cast<size_t>(Hop(l))];
      HONE_RETURN_IF_ERROR(step.folded.Allocate(2 * heads * layer.in));
      HONE_RETURN_IF_ERROR(step.slot_weights.Allocate(places * heads));
      HONE_RETURN_IF_ERROR(step.self_weights.Allocate(Known(l) * heads));
      HONE_RETURN_IF_ERROR(step.sums.Allocate(rows * heads * layer.in * size));
      if (!is_last) HONE_RETURN_IF_ERROR(step.out.Allocate(rows * layer.out * size));
      DenseShape dense{.rows = rows,
                       .in = heads * layer.in,
                       .out = layer.out,
                       .weight_at = layer.weight,
                       .trains = envelope_.trains,
                       .result = is_last ? Element::kFloat32 : element};
      if (heads > 1) {
        HONE_RETURN_IF_ERROR(step.spread.Allocate(layer.out * heads * layer.in * size));
        if (envelope_.trains) HONE_RETURN_IF_ERROR(step.grad_spread.Allocate(layer.out * heads * layer.in));
        dense.weight = step.spread.get();
        dense.gradient = step.grad_spread.get();
      }
      HONE_RETURN_IF_ERROR(step.dense.Plan(context_, dense));
      if (shape_.normalises && !is_last) {
        HONE_RETURN_IF_ERROR(
            step.norm.Make(context_, envelope_, static_cast<int>(l), layer.out, layer.norm, OperationsAfter(l)));
      }
      if (!envelope_.trains) continue;
      if (l > 0 && !shape_.normalises && shape_.activation == Activation::kRelu) {
        HONE_RETURN_IF_ERROR(step.passes.Allocate(Known(l - 1) * (layer.in / 8)));
      }
      if (l > 0 && drops()) HONE_RETURN_IF_ERROR(step.kept.Allocate(Known(l - 1) * (layer.in / 8)));
      HONE_RETURN_IF_ERROR(step.partials.Allocate(AttentionPartials(static_cast<int32_t>(Known(l)), Attention(l))));
      HONE_RETURN_IF_ERROR(step.grad_folded.Allocate(2 * heads * layer.in));
      HONE_RETURN_IF_ERROR(step.grad_sums.Allocate(rows * heads * layer.in * size));
      if (!is_last) HONE_RETURN_IF_ERROR(step.grad_out.Allocate(rows * layer.out * size));
      slots = std::max(slots, places);
      rows_most = std::max(rows_most, Known(l));
    }
    HONE_RETURN_IF_ERROR(grad_slots_.Allocate(slots * heads));
    return grad_self_.Allocate(rows_most * 2 * heads);
  }

  // Returns the bytes of the drawn ids, followed by the number of drawn ids of each row.
  int64_t OuterBytes() const override { return Known(0) * (envelope_.fanouts.back() + 1) * 4; }

  Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) override {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueDrawNeighbors(batch.graph, Hop(0), OuterHopOf(batch), batch.state, batch.header,
                                                   batch.graph_nodes, stream));
    return Status::Ok();
  }

  int32_t hideable_misses() const override { return HideableMissesOfLongSteps(envelope_); }

  Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) override {
    const Element element = context_.element;
    const bool forks = drops() && steps_.size() > 1;
    if (forks) {
      HONE_RETURN_IF_ERROR(Fork(stream));
      std::vector<MaskedLayer> masked;
      for (size_t l = 1; l < steps_.size(); ++l) {
        masked.push_back({OperationsAfter(l - 1).dropout, Hop(l - 1), static_cast<int32_t>(Known(l - 1)),
                          static_cast<int32_t>(shape_.layers[l].in), steps_[l].kept.get()});
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueDropoutBits(masked, batch.state, batch.header, batch.nodes, branch_.handle));
    }
    std::vector<FoldedLayer> folded;
    for (size_t l = 0; l < steps_.size(); ++l) folded.push_back(FoldedOf(l));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueFoldAttention(folded, stream));
    for (size_t l = 0; l < steps_.size(); ++l) {
      const Step& step = steps_[l];
      const GatLayer& layer = shape_.layers[l];
      const bool is_last = l + 1 == steps_.size();
      if (l == 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueFeatureAttention(
            batch.graph, context_.graph->feature_element(), Hop(0), OuterHopOf(batch), Attention(0), step.folded.get(),
            batch.header, batch.graph_nodes, WeightsOf(0), element, step.sums.get(), stream));
      } else {
        if (forks && l == 1) HONE_RETURN_IF_ERROR(Join(stream));
        HONE_CUDA_RETURN_IF_ERROR(EnqueueAttention(batch.hops[Hop(l)], Hop(l), Attention(l), step.folded.get(), element,
                                                   InputOf(l), batch.header, WeightsOf(l), step.sums.get(), stream));
      }
      if (shape_.heads > 1) {
        HONE_CUDA_RETURN_IF_ERROR(
            EnqueueSpreadHeads(HeadSpreadOf(l), Master(layer.weight), element, step.spread.get(), stream));
      }
      void* out = is_last ? static_cast<void*>(logits) : step.out.get();
      HONE_RETURN_IF_ERROR(step.dense.Forward(step.sums.get(), out, stream));
      if (shape_.normalises && !is_last) HONE_RETURN_IF_ERROR(step.norm.EnqueueForward(batch, step.out.get(), stream));
    }
    return Status::Ok();
  }

  Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) override {
    const Element element = context_.element;
    std::vector<FoldedGradient> folded;
    std::vector<UnfoldedLayer> unfolded;
    for (size_t l = steps_.size(); l-- > 0;) {
      const Step& step = steps_[l];
      const GatLayer& layer = shape_.layers[l];
      const bool is_last = l + 1 == steps_.size();
      if (shape_.normalises && !is_last) {
        HONE_RETURN_IF_ERROR(step.norm.EnqueueBackward(batch, step.out.get(), step.grad_out.get(), stream));
      }
      const void* grad = is_last ? grad_logits : step.grad_out.get();
      HONE_RETURN_IF_ERROR(step.dense.InputGradient(grad, step.grad_sums.get(), stream));
      HONE_RETURN_IF_ERROR(Fork(stream));
      HONE_RETURN_IF_ERROR(step.dense.WeightGradient(grad, step.sums.get(), branch_.handle));
      if (shape_.heads > 1) {
        HONE_CUDA_RETURN_IF_ERROR(
            EnqueueCollectHeads(HeadSpreadOf(l), step.grad_spread.get(), Gradient(layer.weight), branch_.handle));
      }
      const AttentionGradients gradients{grad_slots_.get(), grad_self_.get(), step.partials.get()};
      if (l == 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueFeatureAttentionBackward(
            batch.graph, context_.graph->feature_element(), Hop(0), OuterHopOf(batch), Attention(0), batch.header,
            batch.graph_nodes, WeightsOf(0), element, step.grad_sums.get(), gradients, stream));
      } else {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueAttentionBackward(
            batch.hops[Hop(l)], Hop(l), Attention(l), step.folded.get(), element, InputOf(l), batch.header,
            WeightsOf(l), step.grad_sums.get(), static_cast<int32_t>(envelope_.Rows(static_cast<int>(l) - 1)),
            gradients, steps_[l - 1].grad_out.get(), stream));
      }
      HONE_RETURN_IF_ERROR(Join(stream));
      folded.push_back({Attention(l), Hop(l), step.partials.get(), step.grad_folded.get()});
      unfolded.push_back({FoldedOf(l), step.grad_folded.get(), Gradient(layer.weight), Gradient(layer.att_src),
                          Gradient(layer.att_dst)});
    }
    HONE_CUDA_RETURN_IF_ERROR(EnqueueJoinFolded(folded, batch.header, stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueUnfoldAttention(unfolded, stream));
    return Status::Ok();
  }

 private:
  struct Step {
    DeviceArray<float> folded, slot_weights, self_weights, partials, grad_folded;
    DeviceArray<uint8_t> kept, passes;
    DeviceArray<unsigned char> sums, out, grad_sums, grad_out;  // S, Z
    DeviceArray<unsigned char> spread;                          // W, blocks on a diagonal
    DeviceArray<float> grad_spread;
    NormBetween norm;
    Dense dense;
  };

  // Fork makes later work on branch_ wait for the earlier work on `stream`. Join makes later work on `stream` wait for
  // the earlier work on branch_.
  Status Fork(cudaStream_t stream) {
    if (branch_.handle == nullptr) {
      HONE_RETURN_IF_ERROR(branch_.Make());
      HONE_RETURN_IF_ERROR(forked_.Make());
      HONE_RETURN_IF_ERROR(joined_.Make());
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(forked_.handle, stream));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(branch_.handle, forked_.handle, 0));
    return Status::Ok();
  }
  Status Join(cudaStream_t stream) {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(joined_.handle, branch_.handle));
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamWaitEvent(stream, joined_.handle, 0));
    return Status::Ok();
  }

  int Hop(size_t layer) const { return envelope_.HopOf(static_cast<int>(layer)); }
  int64_t Known(size_t layer) const { return envelope_.known[static_cast<size_t>(Hop(layer))]; }
  const float* Master(int64_t at) const { return context_.parameters->master() + at; }
  float* Gradient(int64_t at) const { return context_.parameters->gradient() + at; }
  AttentionShape Attention(size_t layer) const {
    return {static_cast<int32_t>(shape_.layers[layer].in), shape_.heads, shape_.negative_slope};
  }
  AttentionWeightsOnDevice WeightsOf(size_t layer) const {
    return {steps_[layer].slot_weights.get(), steps_[layer].self_weights.get(), steps_[layer].passes.get()};
  }
  FoldedLayer FoldedOf(size_t layer) const {
    const GatLayer& at = shape_.layers[layer];
    return {Attention(layer),      at.head_width,      Master(at.weight),           at.in,
            Master(at.att_src), Master(at.att_dst), steps_[layer].folded.get()};
  }
  // Returns whether layers apply dropout to the rows as they read them.
  bool drops() const { return envelope_.trains && !shape_.normalises && shape_.rate.threshold != 0; }
  OuterHopOnDevice OuterHopOf(const BatchOnDevice& batch) const {
    auto* ids = static_cast<int32_t*>(batch.outer);
    const int32_t fanout = envelope_.fanouts.back();
    return {fanout, static_cast<int32_t>(Known(0)), ids, ids + Known(0) * fanout};
  }
  HeadSpread HeadSpreadOf(size_t layer) const {
    const GatLayer& at = shape_.layers[layer];
    return {shape_.heads, at.head_width, static_cast<int32_t>(at.in), static_cast<int32_t>(at.out), at.concatenates};
  }
  // After returns the operations that follow layer `layer`. Input returns how layer `layer` reads the output of the
  // layer before it.
  Between OperationsAfter(size_t layer) const {
    return {.activation = shape_.activation,
            .dropout = {static_cast<uint32_t>(layer), static_cast<uint32_t>(DropoutSite::kActivation),
                        envelope_.trains ? shape_.rate.threshold : 0, static_cast<float>(shape_.rate.scale)}};
  }
  AttentionInput InputOf(size_t layer) const {
    if (shape_.normalises) return {.z = steps_[layer - 1].norm.rows(), .activation = Activation::kIdentity};
    AttentionInput input{.z = steps_[layer - 1].out.get(), .activation = shape_.activation};
    if (drops()) {
      input.kept = steps_[layer].kept.get();
      input.scale = static_cast<float>(shape_.rate.scale);
    }
    return input;
  }

  const ProgramContext& context_;
  const Envelope envelope_;
  const GatShape shape_;
  std::vector<Step> steps_;
  DeviceArray<float> grad_slots_, grad_self_;  // AttentionGradients, shared by all layers
  Stream branch_;
  Event forked_, joined_;
};

class GatPlan final : public ModelPlan {
 public:
  GatPlan(const ModelOptions& model, Activation activation) {
    shape_.heads = model.heads;
    shape_.negative_slope = static_cast<float>(model.negative_slope);
    shape_.normalises = model.norm == "batch";
    shape_.activation = activation;
    shape_.rate = DropoutRate(model.dropout < 0 ? 0.5 : model.dropout);
    for (int l = 0; l < model.layers; ++l) {
      const bool is_last = l + 1 == model.layers;
      const int64_t in = l == 0 ? model.in_width : model.hidden;
      const int64_t width = is_last ? model.num_classes : model.hidden / model.heads;
      GatLayer layer;
      layer.in = RoundUp(in, 8);
      layer.concatenates = !is_last;
      layer.head_width = static_cast<int32_t>(width);
      layer.out = RoundUp(is_last ? width : model.heads * width, 8);
      const std::string name = fmt::format("convs.{}.", l);
      layer.weight = layout_.Reserve(RoundUp(model.heads * width, 8) * layer.in);
      layout_.PlaceMatrix(name + "lin.weight", model.heads * width, in, layer.weight, layer.in);
      layer.att_src = layout_.ReserveVector(name + "att_src", model.heads * width);
      layer.att_dst = layout_.ReserveVector(name + "att_dst", model.heads * width);
      if (shape_.normalises && !is_last) layer.norm = PlaceNorm(layout_, fmt::format("bns.{}.", l), model.hidden);
      shape_.layers.push_back(layer);
    }
  }
  ParameterLayout Layout() const override { return layout_; }
  int64_t padded_classes() const override { return shape_.layers.back().out; }
  Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const override {
    auto program = std::make_unique<GatProgram>(context, envelope, shape_);
    HONE_RETURN_IF_ERROR(program->Make());
    return std::unique_ptr<Program>(std::move(program));
  }

 private:
  GatShape shape_;
  ParameterLayout layout_;
};

}  // namespace

Result<std::unique_ptr<ModelPlan>> PlanGat(const ModelOptions& model) {
  HONE_CHECK(!model.bias, "a model with biases is planned as a spec (plan_model.h)");
  HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(model.activation, Activation::kRelu));
  return std::unique_ptr<ModelPlan>(std::make_unique<GatPlan>(model, activation));
}

}  // namespace hone::gnn::cuda
