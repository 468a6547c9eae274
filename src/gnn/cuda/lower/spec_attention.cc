// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/spec_attention.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hone::gnn::cuda {

int64_t SpecAttention::SlotFloats(const LoweredSpec& model, const Envelope& envelope, size_t u) {
  const auto hop = static_cast<size_t>(model.Unit(u).hop);
  return int64_t{envelope.known[hop]} * envelope.fanouts[hop] * model.Attention(u).heads;
}
int64_t SpecAttention::SelfFloats(const LoweredSpec& model, const Envelope& envelope, size_t u) {
  return int64_t{envelope.known[static_cast<size_t>(model.Unit(u).hop)]} * 2 * model.Attention(u).heads;
}

Status SpecAttention::Make(const ProgramContext& context, const Envelope& envelope, const LoweredSpec& model, size_t u,
                           Element result, MatmulLibrary* gradient_products) {
  context_ = &context;
  model_ = &model;
  u_ = u;
  const int64_t heads = attention().heads, in = operand_columns(), out = model.Padded(u);
  const int64_t hop_nodes = envelope.known[static_cast<size_t>(unit().hop)], rows = RoundUp<int64_t>(hop_nodes, 128);
  if (unit().projected) return MakeProjected(envelope, gradient_products);
  const int64_t sums = rows * heads * in * ElementBytes(context.element);
  HONE_RETURN_IF_ERROR(folded_.Allocate(2 * heads * in));
  HONE_RETURN_IF_ERROR(slot_weights_.Allocate(SlotFloats(model, envelope, u)));
  HONE_RETURN_IF_ERROR(self_weights_.Allocate(hop_nodes * heads));
  HONE_RETURN_IF_ERROR(sums_.Allocate(sums));
  DenseShape dense{.rows = rows,
                   .in = heads * in,
                   .out = out,
                   .weight_at = places().weight,
                   .gradient_products = gradient_products,
                   .trains = envelope.trains,
                   .result = result};
  if (composed()) {
    const int64_t weights = heads * head_width() * in;
    HONE_RETURN_IF_ERROR(composed_.Allocate(weights));
    if (envelope.trains) HONE_RETURN_IF_ERROR(grad_composed_.Allocate(weights));
  }
  if (composed() && !unit().drawn) {
    HONE_RETURN_IF_ERROR(own_rows_.Allocate(hop_nodes));
    if (!AllocationCount::active()) {
      std::vector<int32_t> numbers(static_cast<size_t>(hop_nodes));
      std::iota(numbers.begin(), numbers.end(), 0);
      HONE_RETURN_IF_ERROR(own_rows_.Upload(numbers.data(), hop_nodes));
    }
  }
  if (spreads()) {
    HONE_RETURN_IF_ERROR(spread_.Allocate(out * heads * in * ElementBytes(context.element)));
    if (envelope.trains) HONE_RETURN_IF_ERROR(grad_spread_.Allocate(out * heads * in));
    dense.weight = spread_.get();
    dense.gradient = grad_spread_.get();
  }
  HONE_RETURN_IF_ERROR(dense_.Plan(context, dense));
  if (!envelope.trains) return Status::Ok();
  const SpecUnit& run = model.Unit(unit().operands[0]);
  if (run.attended_through && run.activate != 0 &&
      std::get<ActivateSpec>(model.Operation(run.activate)).function == ActivateSpec::Function::kRelu) {
    HONE_RETURN_IF_ERROR(passes_.Allocate(int64_t{envelope.known[static_cast<size_t>(unit().hop) + 1]} * (in / 8)));
  }
  HONE_RETURN_IF_ERROR(score_partials_.Allocate(AttentionPartials(static_cast<int32_t>(hop_nodes), Shape())));
  HONE_RETURN_IF_ERROR(grad_folded_.Allocate(2 * heads * in));
  return grad_sums_.Allocate(sums);
}

Status SpecAttention::MakeProjected(const Envelope& envelope, MatmulLibrary* gradient_products) {
  const auto hop = static_cast<size_t>(unit().hop);
  const int64_t sources = RoundUp<int64_t>(envelope.known[hop + 1], 128), width = model_->Padded(u_);
  HONE_RETURN_IF_ERROR(slot_weights_.Allocate(SlotFloats(*model_, envelope, u_)));
  HONE_RETURN_IF_ERROR(self_weights_.Allocate(int64_t{envelope.known[hop]} * attention().heads));
  HONE_RETURN_IF_ERROR(sums_.Allocate(sources * width * ElementBytes(context_->element)));
  HONE_RETURN_IF_ERROR(dense_.Plan(*context_, {.rows = sources,
                                               .in = operand_columns(),
                                               .out = width,
                                               .weight_at = places().weight,
                                               .gradient_products = gradient_products,
                                               .trains = envelope.trains,
                                               .input_gradient = model_->Wants(unit().operands[0]),
                                               .result = context_->element}));
  if (!envelope.trains) return Status::Ok();
  HONE_RETURN_IF_ERROR(score_partials_.Allocate(ProjectedAttentionPartials(ProjectedForm())));
  return grad_sums_.Allocate(sources * width * ElementBytes(context_->element));
}

int64_t SpecAttention::OperandColumns(const LoweredSpec& model, size_t u) {
  const SpecUnit& unit = model.Unit(u);
  return unit.composed != 0 ? RoundUp<int64_t>(model.Unit(0).width + 1, 8) : model.Padded(unit.operands[0]);
}

ComposedWeights SpecAttention::ComposedForm() const {
  const size_t linear = unit().composed, bias = unit().composed_bias;
  return {.outer = static_cast<int32_t>(attention().heads * head_width()),
          .middle = static_cast<int32_t>(model_->Unit(linear).width),
          .in = static_cast<int32_t>(model_->Unit(0).width),
          .columns = static_cast<int32_t>(operand_columns()),
          .outer_weight = Master(places().weight),
          .outer_stride = model_->Padded(linear),
          .inner_weight = Master(model_->places[linear].weight),
          .inner_stride = model_->Padded(0),
          .bias = bias != 0 ? Master(model_->places[bias].bias) : nullptr};
}

SpecAttention::Features SpecAttention::FeaturesOf(const BatchOnDevice& batch, const Operand& operand) const {
  if (unit().drawn) {
    const int32_t one = composed() ? static_cast<int32_t>(model_->Unit(0).width) : -1;
    return {batch.graph, context_->graph->feature_element(), operand.hop, batch.graph_nodes, one};
  }
  GraphOnDevice graph = batch.graph;
  graph.features = operand.rows;
  graph.feature_stride = operand_columns();
  graph.feature_vectors = static_cast<int32_t>(operand_columns() / 8);
  graph.feature_places = nullptr;
  graph.host_features = nullptr;
  graph.staging = {};
  const HopOnDevice& hop = batch.hops[unit().hop];
  return {graph, context_->element, {hop.fanout, hop.rows, hop.columns, hop.counts}, own_rows_.get(), -1};
}

ProjectedAttention SpecAttention::ProjectedForm() const {
  return {.number = unit().hop,
          .heads = attention().heads,
          .head_width = static_cast<int32_t>(head_width()),
          .negative_slope = static_cast<float>(attention().negative_slope),
          .att_src = Master(places().att_src),
          .att_dst = Master(places().att_dst),
          .z = sums_.get(),
          .weights = Weights()};
}
AttentionShape SpecAttention::Shape() const {
  return {static_cast<int32_t>(operand_columns()), attention().heads, static_cast<float>(attention().negative_slope)};
}
FoldedLayer SpecAttention::FoldedForm() const {
  return {.shape = Shape(),
          .head_width = static_cast<int32_t>(head_width()),
          .weight = Weight(),
          .weight_stride = operand_columns(),
          .att_src = Master(places().att_src),
          .att_dst = Master(places().att_dst),
          .folded = folded_.get()};
}
HeadSpread SpecAttention::HeadSpreadOf() const {
  return {attention().heads, static_cast<int32_t>(head_width()), static_cast<int32_t>(operand_columns()),
          static_cast<int32_t>(model_->Padded(u_)), attention().concatenate};
}

namespace {

// Calls with(layers) for a launch's worth of layers after another.
template <typename Layer, typename With>
Status InLaunches(const std::vector<Layer>& layers, const With& with) {
  for (size_t first = 0; first < layers.size(); first += kMaxHopsOnDevice) {
    const std::span<const Layer> some(layers.data() + first, std::min<size_t>(kMaxHopsOnDevice, layers.size() - first));
    HONE_CUDA_RETURN_IF_ERROR(with(some));
  }
  return Status::Ok();
}

}  // namespace

Status SpecAttention::EnqueueWeights(std::span<const SpecAttention* const> attentions, cudaStream_t stream) {
  std::vector<FoldedLayer> folded;
  for (const SpecAttention* one : attentions) {
    if (one->unit().projected) continue;
    if (one->composed()) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueComposeWeights(one->ComposedForm(), one->composed_.get(), stream));
    }
    folded.push_back(one->FoldedForm());
  }
  HONE_RETURN_IF_ERROR(InLaunches(folded, [&](auto layers) { return EnqueueFoldAttention(layers, stream); }));
  for (const SpecAttention* one : attentions) {
    if (one->unit().projected || !one->spreads()) continue;
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueSpreadHeads(one->HeadSpreadOf(), one->Weight(), one->context_->element, one->spread_.get(), stream));
  }
  return Status::Ok();
}

Status SpecAttention::EnqueueForward(const BatchOnDevice& batch, const Operand& operand, void* out,
                                     cudaStream_t stream) const {
  const int hop = unit().hop;
  if (unit().projected) {
    HONE_RETURN_IF_ERROR(dense_.Forward(operand.rows, sums_.get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueProjectedAttention(ProjectedForm(), batch.hops[hop], context_->element, batch.header, out, stream));
    return Status::Ok();
  }
  if (reads_features()) {
    const Features features = FeaturesOf(batch, operand);
    HONE_CUDA_RETURN_IF_ERROR(EnqueueFeatureAttention(features.graph, features.element, hop, features.hop, Shape(),
                                                      folded_.get(), batch.header, features.nodes, Weights(),
                                                      context_->element, sums_.get(), stream, features.one));
  } else {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueAttention(batch.hops[hop], hop, Shape(), folded_.get(), context_->element,
                                               operand.input(), batch.header, Weights(), sums_.get(), stream));
  }
  return dense_.Forward(sums_.get(), out, stream);
}

Status SpecAttention::EnqueueSumsGradient(const BatchOnDevice& batch, const void* grad_out, const Scratch& scratch,
                                          int32_t padded_rows, cudaStream_t stream) const {
  if (unit().projected) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueProjectedAttentionBackward(
        ProjectedForm(), batch.hops[unit().hop], context_->element, batch.header, grad_out, padded_rows,
        {scratch.slots.get(), scratch.self.get(), score_partials_.get()}, grad_sums_.get(), Gradient(places().att_src),
        Gradient(places().att_dst), stream));
    return Status::Ok();
  }
  return dense_.InputGradient(grad_out, grad_sums_.get(), stream);
}
Status SpecAttention::EnqueueProductGradient(const Operand& operand, const void* grad_out, cudaStream_t stream) const {
  if (unit().projected) return dense_.WeightGradient(grad_sums_.get(), operand.rows, stream);
  HONE_RETURN_IF_ERROR(dense_.WeightGradient(grad_out, sums_.get(), stream));
  if (spreads()) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueCollectHeads(HeadSpreadOf(), grad_spread_.get(), WeightGradient(), stream));
  }
  return Status::Ok();
}

Status SpecAttention::EnqueueRowGradients(const BatchOnDevice& batch, const Operand& operand, const Scratch& scratch,
                                          int32_t padded_rows, void* grad_rows, cudaStream_t stream) const {
  if (unit().projected) {
    return model_->Wants(unit().operands[0]) ? dense_.InputGradient(grad_sums_.get(), grad_rows, stream) : Status::Ok();
  }
  const int hop = unit().hop;
  const AttentionGradients gradients{scratch.slots.get(), scratch.self.get(), score_partials_.get()};
  if (reads_features()) {
    const Features features = FeaturesOf(batch, operand);
    HONE_CUDA_RETURN_IF_ERROR(EnqueueFeatureAttentionBackward(
        features.graph, features.element, hop, features.hop, Shape(), batch.header, features.nodes, Weights(),
        context_->element, grad_sums_.get(), gradients, stream, features.one));
  } else {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueAttentionBackward(batch.hops[hop], hop, Shape(), folded_.get(), context_->element,
                                                       operand.input(), batch.header, Weights(), grad_sums_.get(),
                                                       padded_rows, gradients, grad_rows, stream));
  }
  return Status::Ok();
}

Status SpecAttention::EnqueueWeightGradients(std::span<const SpecAttention* const> attentions,
                                             const BatchHeader* header, cudaStream_t stream) {
  std::vector<FoldedGradient> joined;
  std::vector<UnfoldedLayer> unfolded;
  for (const SpecAttention* one : attentions) {
    if (one->unit().projected) continue;
    joined.push_back({one->Shape(), one->unit().hop, one->score_partials_.get(), one->grad_folded_.get()});
    unfolded.push_back({one->FoldedForm(), one->grad_folded_.get(), one->WeightGradient(),
                        one->Gradient(one->places().att_src), one->Gradient(one->places().att_dst)});
  }
  HONE_RETURN_IF_ERROR(InLaunches(joined, [&](auto layers) { return EnqueueJoinFolded(layers, header, stream); }));
  HONE_RETURN_IF_ERROR(InLaunches(unfolded, [&](auto layers) { return EnqueueUnfoldAttention(layers, stream); }));
  for (const SpecAttention* one : attentions) {
    if (!one->composed()) continue;
    const ComposedWeights weights = one->ComposedForm();
    const float* const grad = one->grad_composed_.get();
    const UnitPlaces& linear = one->model_->places[one->unit().composed];
    const size_t bias = one->unit().composed_bias;
    HONE_CUDA_RETURN_IF_ERROR(EnqueueOuterGradient(weights, grad, one->Gradient(one->places().weight), stream));
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueAddInnerGradient(weights, grad, one->Gradient(linear.weight),
                                bias != 0 ? one->Gradient(one->model_->places[bias].bias) : nullptr, stream));
  }
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
