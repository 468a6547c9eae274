// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SageRiProgram computes SAGE-RI (nn/sage_ri.cc defines the model), where x_0 is the input after dropout:
//
//   layer l      A_l = [mean of the neighbors | own], with a mask for each half
//                     (l = 0: drawn and gathered in one kernel, which also writes the x_0 of its rows)
//                P_l = A_l W_l^T
//                x_{l+1} = dropout(f(norm(P_l))) + (x_0 R^T + r for l = 0, else x_l)
//   head         C = [x_0 | x_1 | … | x_L] of the seeds,  M = C V0^T + c0,  logits = M V1^T + c1
//
// C is written piece by piece as the x_l are made. In backward, the gradient of x_l has three parts: through the layer,
// past the layer (the residual), and from C; one kernel adds them up. Gradients of parameters are made on the second
// stream. If input_norm.h supports the first layer, the moments of A_0 come with the batch, and the gradient of P_0 is
// never stored. If normed_product.h makes x_1, P_0 is not stored either.
#include <fmt/format.h>

#include "gnn/cuda/kernels/aggregate_kernels.h"
#include "gnn/cuda/kernels/norm_kernels.h"
#include "gnn/cuda/kernels/normed_product.h"
#include "gnn/cuda/kernels/source_gradient_kernels.h"
#include "gnn/cuda/lower/dense.h"
#include "gnn/cuda/lower/input_norm.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/cuda/lower/program.h"
#include "gnn/cuda/lower/second_stream.h"
#include "gnn/nn/stack_model.h"
#include "gnn/ops/dropout.h"

namespace hone::gnn::cuda {
namespace {

struct SageRiLayer {
  int64_t in = 0;      // padded
  int64_t weight = 0;  // offset of [hidden, lin_l in | lin_r in]
  NormPlaces norm;
};

struct SageRiShape {
  std::vector<SageRiLayer> layers;
  int64_t hidden = 0, middle = 0, classes = 0;  // padded
  int64_t residual_weight = 0, residual_bias = 0;
  int64_t head_weight0 = 0, head_bias0 = 0, head_weight1 = 0, head_bias1 = 0;
  bool normalises = true;
  Activation activation = Activation::kLeakyRelu;
  DropoutRate rate{0.0};

  int64_t input() const { return layers[0].in; }
  // CollectedAt returns the column of C at which x_i begins; collected returns the number of C's columns.
  int64_t CollectedAt(size_t i) const { return i == 0 ? 0 : input() + static_cast<int64_t>(i - 1) * hidden; }
  int64_t collected() const { return CollectedAt(layers.size() + 1); }
};

class SageRiProgram final : public Program {
 public:
  SageRiProgram(const ProgramContext& context, const Envelope& envelope, const SageRiShape& shape)
      : context_(context), envelope_(envelope), shape_(shape), size_(ElementBytes(context.element)) {}

  Status Make() {
    const Element element = context_.element;
    const bool trains = envelope_.trains;
    const int64_t hidden = shape_.hidden;
    steps_.resize(shape_.layers.size());
    from_moments_ = shape_.normalises && InputNorm::Serves(context_, envelope_);
    if (trains) HONE_RETURN_IF_ERROR(second_stream_.Make(context_));
    if (trains && !AllocationCount::active()) HONE_RETURN_IF_ERROR(small_kernels_begin_event_.Make());
    if (from_moments_) {
      const SageRiLayer& layer = shape_.layers[0];
      HONE_RETURN_IF_ERROR(input_norm_.Make(context_, envelope_,
                                            {.inputs = 2 * layer.in,
                                             .outputs = hidden,
                                             .weight_at = layer.weight,
                                             .activation = shape_.activation,
                                             .norm = layer.norm,
                                             .residual_bias_at = shape_.residual_bias}));
    }
    normed_product_ = input_norm_.marks() != nullptr && steps_.size() > 1 && NormedProductServes(FirstProduct());
    int64_t partials = 0;
    for (size_t l = 0; l < steps_.size(); ++l) {
      Step& step = steps_[l];
      const SageRiLayer& layer = shape_.layers[l];
      const int64_t rows = envelope_.Rows(static_cast<int>(l));
      if (l > 0) HONE_RETURN_IF_ERROR(step.aggregate.Allocate(rows * 2 * layer.in * size_));
      if (l > 0 || !normed_product_) HONE_RETURN_IF_ERROR(step.plain.Allocate(rows * hidden * size_));
      HONE_RETURN_IF_ERROR(step.out.Allocate(rows * hidden * size_));
      HONE_RETURN_IF_ERROR(step.coefficients.Allocate(kCoefficientArrays * hidden));
      HONE_RETURN_IF_ERROR(step.conv.Plan(context_, {.rows = rows,
                                                     .in = 2 * layer.in,
                                                     .out = hidden,
                                                     .weight_at = layer.weight,
                                                     .trains = trains,
                                                     .input_gradient = l > 0,
                                                     .result = element}));
      HONE_RETURN_IF_ERROR(
          PlanGradient({.rows = rows, .in = 2 * layer.in, .out = hidden, .weight_at = layer.weight}, step.conv_weight));
      partials = std::max(partials, ColumnPartials(static_cast<int32_t>(rows), static_cast<int32_t>(hidden)));
      if (!trains) continue;
      HONE_RETURN_IF_ERROR(step.grad_out.Allocate(rows * hidden * size_));
      HONE_RETURN_IF_ERROR(step.grad_plain.Allocate(rows * hidden * size_));
      if (l > 0) HONE_RETURN_IF_ERROR(step.grad_aggregate.Allocate(rows * 2 * layer.in * size_));
    }
    HONE_RETURN_IF_ERROR(residual_.Plan(context_, {.rows = envelope_.Rows(0),
                                                   .in = shape_.input(),
                                                   .out = hidden,
                                                   .weight_at = shape_.residual_weight,
                                                   .trains = trains,
                                                   .input_gradient = false,
                                                   .result = element}));
    HONE_RETURN_IF_ERROR(PlanGradient(
        {.rows = envelope_.Rows(0), .in = shape_.input(), .out = hidden, .weight_at = shape_.residual_weight},
        residual_product_));
    const int64_t seeds = SeedRows();
    HONE_RETURN_IF_ERROR(collected_.Allocate(seeds * shape_.collected() * size_));
    HONE_RETURN_IF_ERROR(middle_.Allocate(seeds * shape_.middle * size_));
    HONE_RETURN_IF_ERROR(head0_.Plan(context_, {.rows = seeds,
                                                .in = shape_.collected(),
                                                .out = shape_.middle,
                                                .weight_at = shape_.head_weight0,
                                                .trains = trains,
                                                .result = element}));
    HONE_RETURN_IF_ERROR(
        PlanGradient({.rows = seeds, .in = shape_.collected(), .out = shape_.middle, .weight_at = shape_.head_weight0},
                     head_product0_));
    HONE_RETURN_IF_ERROR(head1_.Plan(context_, {.rows = seeds,
                                                .in = shape_.middle,
                                                .out = shape_.classes,
                                                .weight_at = shape_.head_weight1,
                                                .trains = trains,
                                                .result = Element::kFloat32}));
    HONE_RETURN_IF_ERROR(PlanGradient(
        {.rows = seeds, .in = shape_.middle, .out = shape_.classes, .weight_at = shape_.head_weight1}, head_product1_));
    partials = std::max(partials, ColumnPartials(static_cast<int32_t>(seeds), static_cast<int32_t>(shape_.middle)));
    if (trains) {
      HONE_RETURN_IF_ERROR(grad_collected_.Allocate(seeds * shape_.collected() * size_));
      HONE_RETURN_IF_ERROR(grad_middle_.Allocate(seeds * shape_.middle * size_));
      HONE_RETURN_IF_ERROR(second_partials_.Allocate(partials));
    }
    return partials_.Allocate(partials);
  }

  // Returns the bytes of A_0 and then x_0 of the same rows, of A_0's moments, and of what dropout keeps of x_1.
  int64_t OuterBytes() const override {
    return RowBytes() + (from_moments_ ? input_norm_.MomentBytes() : 0) +
           (KeepsBits() ? envelope_.Rows(0) * (shape_.hidden / 8) : 0);
  }

  Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) override {
    SampleAggregate aggregate;
    aggregate.kind = {.mean = true};
    aggregate.input_mask = MaskOf(0, DropoutSite::kInput);
    aggregate.neighbors = MaskOf(0, DropoutSite::kInput);  // the mask of x_0 combined with the conv's, drawn once
    if (envelope_.trains) {
      const DropoutRate both = shape_.rate.Then(shape_.rate);
      aggregate.neighbors.threshold = both.threshold;
      aggregate.neighbors.scale = static_cast<float>(both.scale);
    }
    aggregate.self = MaskOf(0, DropoutSite::kSelf);
    aggregate.out = batch.outer;
    aggregate.input_rows = InputRows(batch);
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleAggregate(
        batch.graph, context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
        envelope_.known.back(), aggregate, batch.state, batch.header, batch.graph_nodes, context_.element, stream));
    if (!from_moments_) return Status::Ok();
    HONE_RETURN_IF_ERROR(input_norm_.EnqueueMoments(batch, batch.outer, Moments(batch), stream));
    if (!KeepsBits()) return Status::Ok();
    HONE_CUDA_RETURN_IF_ERROR(EnqueueActivationDropoutBits(
        Hop(0), static_cast<int32_t>(envelope_.Rows(0)), static_cast<int32_t>(shape_.hidden), AfterNorm(0).dropout,
        batch.state, batch.header, batch.nodes, KeptBits(batch), stream));
    return Status::Ok();
  }

  cudaEvent_t small_kernels_begin() const override { return small_kernels_begin_event_.handle; }

  int32_t hideable_misses() const override { return HideableMissesOfLongSteps(envelope_); }

  Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) override {
    const Element element = context_.element;
    HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyColumns(element, static_cast<int32_t>(SeedRows()),
                                                 static_cast<int32_t>(shape_.input()), InputRows(batch), shape_.input(),
                                                 collected_.get(), shape_.collected(), stream));
    for (size_t l = 0; l < steps_.size(); ++l) {
      const Step& step = steps_[l];
      const RowsOnDevice rows = Rows(batch, l, shape_.hidden);
      if (l == 0 && normed_product_) {
        HONE_RETURN_IF_ERROR(EnqueueFirstLayer(batch, stream));
        HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(small_kernels_begin_event_.handle, stream));
        continue;
      }
      if (l > 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueAggregate({.mean = true}, batch.hops[Hop(l)], Hop(l), element, InputOf(l),
                                                   static_cast<int32_t>(shape_.hidden), batch.state, batch.header,
                                                   batch.nodes, step.aggregate.get(), stream));
      } else {
        HONE_RETURN_IF_ERROR(residual_.Forward(InputRows(batch), step.out.get(), stream));
      }
      HONE_RETURN_IF_ERROR(step.conv.Forward(Aggregate(batch, l), step.plain.get(), stream));
      BetweenOutput output;
      output.y = step.out.get();
      output.residual = l == 0 ? step.out.get() : steps_[l - 1].out.get();
      output.residual_bias = l == 0 ? Master(shape_.residual_bias) : nullptr;
      output.also = CollectedColumns(collected_, l + 1);
      output.also_stride = shape_.collected();
      if (l == 0) output.marks = input_norm_.marks();
      if (l == 0 && from_moments_) {
        HONE_RETURN_IF_ERROR(input_norm_.EnqueueCoefficients(batch, Moments(batch), stream));
        HONE_CUDA_RETURN_IF_ERROR(
            EnqueueBetween(rows, element, step.plain.get(), CoefficientsOf(l), AfterNorm(l), output, stream));
      } else {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueNormBetween(rows, element, step.plain.get(), NormOf(l), envelope_.trains,
                                                     CoefficientsOf(l), AfterNorm(l), output, partials_.get(), stream));
      }
      if (l == 0 && small_kernels_begin_event_.handle != nullptr)
        HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(small_kernels_begin_event_.handle, stream));
    }
    HONE_RETURN_IF_ERROR(head0_.Forward(collected_.get(), middle_.get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivation(Seeds(batch, shape_.middle), element, middle_.get(),
                                                    Master(shape_.head_bias0), {}, middle_.get(), stream));
    HONE_RETURN_IF_ERROR(head1_.Forward(middle_.get(), logits, stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivation(Seeds(batch, shape_.classes), Element::kFloat32, logits,
                                                    Master(shape_.head_bias1), {}, logits, stream));
    return Status::Ok();
  }

  Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) override {
    const Element element = context_.element;
    const auto hidden = static_cast<int32_t>(shape_.hidden);
    HONE_RETURN_IF_ERROR(EnqueueParameters(Seeds(batch, shape_.classes), grad_logits, middle_.get(), *head_product1_,
                                           shape_.head_weight1, shape_.head_bias1, stream));
    HONE_RETURN_IF_ERROR(head1_.InputGradient(grad_logits, grad_middle_.get(), stream));
    HONE_RETURN_IF_ERROR(EnqueueParameters(Seeds(batch, shape_.middle), grad_middle_.get(), collected_.get(),
                                           *head_product0_, shape_.head_weight0, shape_.head_bias0, stream));
    HONE_RETURN_IF_ERROR(head0_.InputGradient(grad_middle_.get(), grad_collected_.get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyColumns(element, static_cast<int32_t>(SeedRows()), hidden,
                                                 CollectedColumns(grad_collected_, steps_.size()), shape_.collected(),
                                                 steps_.back().grad_out.get(), shape_.hidden, stream));
    for (size_t l = steps_.size(); l-- > 0;) {
      const Step& step = steps_[l];
      const SageRiLayer& layer = shape_.layers[l];
      const RowsOnDevice rows = Rows(batch, l, shape_.hidden);
      HONE_ASSIGN_OR_RETURN(cudaStream_t second, second_stream_.Fork(stream));
      if (l == 0) {
        HONE_RETURN_IF_ERROR(residual_product_->Enqueue(step.grad_out.get(), InputRows(batch),
                                                        Gradient(shape_.residual_weight), second));
      }
      if (l == 0 && from_moments_) {
        if (!before_comes_along()) {
          HONE_RETURN_IF_ERROR(input_norm_.EnqueueGradientBefore(batch, step.plain.get(), AfterNorm(l),
                                                                 step.grad_out.get(), step.grad_plain.get(), stream));
        }
        HONE_RETURN_IF_ERROR(
            input_norm_.EnqueueGradients(batch, batch.outer, Moments(batch), step.grad_plain.get(), kAllPieces,
                                         stream));
        break;
      }
      if (l == 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueColumnSums(rows, element, step.grad_out.get(), Gradient(shape_.residual_bias),
                                                    second_partials_.get(), second));
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueBetweenBackward(
          rows, element, step.plain.get(), NormOf(l), CoefficientsOf(l), AfterNorm(l), step.grad_out.get(),
          step.grad_plain.get(), {.weight = Gradient(layer.norm.weight), .bias = Gradient(layer.norm.bias)},
          partials_.get(), stream));
      HONE_ASSIGN_OR_RETURN(second, second_stream_.Fork(stream));
      HONE_RETURN_IF_ERROR(
          step.conv_weight->Enqueue(step.grad_plain.get(), Aggregate(batch, l), Gradient(layer.weight), second));
      if (l == 0) break;
      HONE_RETURN_IF_ERROR(step.conv.InputGradient(step.grad_plain.get(), step.grad_aggregate.get(), stream));
      DirectGradients direct;
      direct.destinations = step.grad_out.get();
      direct.seeds = CollectedColumns(grad_collected_, l);
      direct.seeds_stride = shape_.collected();
      if (l == 1 && before_comes_along()) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueSourceGradient(
            {.mean = true}, batch.hops[Hop(l)], Hop(l), InputOf(l), hidden, static_cast<int32_t>(envelope_.Rows(0)),
            step.grad_aggregate.get(), direct, batch.state, batch.header, batch.nodes,
            {.grad_z = steps_[0].grad_out.get(),
             .before = steps_[0].grad_plain.get(),
             .marks = input_norm_.marks(),
             .between = AfterNorm(0),
             .partials = input_norm_.partials()},
            stream));
        continue;
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAggregateBackward(
          {.mean = true}, batch.hops[Hop(l)], Hop(l), element, InputOf(l), hidden,
          static_cast<int32_t>(envelope_.Rows(static_cast<int>(l) - 1)), step.grad_aggregate.get(), direct, batch.state,
          batch.header, batch.nodes, steps_[l - 1].grad_out.get(), stream));
    }
    return second_stream_.Join(stream);
  }

 private:
  struct Step {
    DeviceArray<unsigned char> aggregate, plain, out;  // A, P, x_{l+1}
    DeviceArray<unsigned char> grad_aggregate, grad_plain, grad_out;
    DeviceArray<float> coefficients;
    Dense conv;
    std::unique_ptr<Matmul> conv_weight;  // product that gives the gradient of conv's weight
  };

  // Plans the product that gives a weight's gradient, on the second stream.
  Status PlanGradient(const DenseShape& shape, std::unique_ptr<Matmul>& product) {
    if (!envelope_.trains) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(product,
                          second_stream_.products().Plan({shape.out, shape.in, shape.rows, /*transpose_a=*/true,
                                                          /*transpose_b=*/false, context_.element, Element::kFloat32}));
    return Status::Ok();
  }
  // Enqueues the gradients of a Linear's weight and bias on the second stream, from its input x and the gradient `grad`
  // [rows] of its output.
  Status EnqueueParameters(const RowsOnDevice& rows, const void* grad, const void* x, Matmul& product,
                           int64_t weight_at, int64_t bias_at, cudaStream_t chain) {
    HONE_ASSIGN_OR_RETURN(const cudaStream_t second, second_stream_.Fork(chain));
    HONE_RETURN_IF_ERROR(product.Enqueue(grad, x, Gradient(weight_at), second));
    HONE_CUDA_RETURN_IF_ERROR(
        EnqueueColumnSums(rows, context_.element, grad, Gradient(bias_at), second_partials_.get(), second));
    return Status::Ok();
  }

  // Computes layer 0 in one kernel.
  Status EnqueueFirstLayer(const BatchOnDevice& batch, cudaStream_t stream) {
    HONE_RETURN_IF_ERROR(input_norm_.EnqueueCoefficients(batch, Moments(batch), stream));
    const DeviceParameters& parameters = *context_.parameters;
    NormedProduct product;
    product.x = batch.outer;
    product.weight = parameters.compute_at(shape_.layers[0].weight);
    product.coefficients = CoefficientsOf(0);
    product.between = AfterNorm(0);
    if (KeepsBits()) product.kept = KeptBits(batch);
    product.residual = InputRows(batch);
    product.residual_weight = parameters.compute_at(shape_.residual_weight);
    product.residual_bias = Master(shape_.residual_bias);
    product.y = steps_[0].out.get();
    product.also = CollectedColumns(collected_, 1);
    product.also_stride = shape_.collected();
    product.marks = input_norm_.marks();
    return EnqueueNormedProduct(Rows(batch, 0, shape_.hidden), FirstProduct(), product, stream);
  }
  NormedProductShape FirstProduct() const {
    return {.inputs = static_cast<int32_t>(2 * shape_.input()),
            .outputs = static_cast<int32_t>(shape_.hidden),
            .residual_inputs = static_cast<int32_t>(shape_.input()),
            .activation = shape_.activation};
  }

  int Hop(size_t layer) const { return envelope_.HopOf(static_cast<int>(layer)); }
  int64_t SeedRows() const { return envelope_.Rows(envelope_.layers() - 1); }
  const float* Master(int64_t at) const { return context_.parameters->master() + at; }
  float* Gradient(int64_t at) const { return context_.parameters->gradient() + at; }
  void* InputRows(const BatchOnDevice& batch) const {
    return static_cast<unsigned char*>(batch.outer) + envelope_.Rows(0) * 2 * shape_.input() * size_;
  }
  // Returns whether the kernel that makes the gradient of layer 0's rows also makes the gradient before their
  // activation.
  bool before_comes_along() const { return input_norm_.marks() != nullptr && steps_.size() > 1; }
  int64_t RowBytes() const { return envelope_.Rows(0) * 3 * shape_.input() * size_; }
  void* Moments(const BatchOnDevice& batch) const { return static_cast<unsigned char*>(batch.outer) + RowBytes(); }
  // Returns whether the bits of dropout after the first layer come with the batch.
  bool KeepsBits() const { return normed_product_ && shape_.rate.threshold != 0; }
  uint8_t* KeptBits(const BatchOnDevice& batch) const {
    return static_cast<uint8_t*>(batch.outer) + RowBytes() + input_norm_.MomentBytes();
  }
  const void* Aggregate(const BatchOnDevice& batch, size_t layer) const {
    return layer == 0 ? batch.outer : steps_[layer].aggregate.get();
  }
  void* CollectedColumns(const DeviceArray<unsigned char>& array, size_t i) const {
    return array.get() + shape_.CollectedAt(i) * size_;
  }
  DropoutOnLoad MaskOf(size_t layer, DropoutSite site) const {
    return {static_cast<uint32_t>(layer), static_cast<uint32_t>(site), envelope_.trains ? shape_.rate.threshold : 0,
            static_cast<float>(shape_.rate.scale)};
  }
  AggregateInput InputOf(size_t layer) const {
    AggregateInput input;
    input.z = steps_[layer - 1].out.get();
    input.neighbors = MaskOf(layer, DropoutSite::kNeighbors);
    input.self = MaskOf(layer, DropoutSite::kSelf);
    return input;
  }
  RowsOnDevice Rows(const BatchOnDevice& batch, size_t layer, int64_t width) const {
    return {batch.state,
            batch.header,
            batch.nodes,
            Hop(layer),
            static_cast<int32_t>(envelope_.Rows(static_cast<int>(layer))),
            static_cast<int32_t>(width)};
  }
  RowsOnDevice Seeds(const BatchOnDevice& batch, int64_t width) const { return Rows(batch, steps_.size() - 1, width); }
  NormOnDevice NormOf(size_t layer) const {
    const SageRiLayer& at = shape_.layers[layer];
    if (!shape_.normalises) return {};
    return NormAt(*context_.parameters, at.norm);
  }
  ColumnCoefficients CoefficientsOf(size_t layer) const {
    if (layer == 0 && from_moments_) return input_norm_.coefficients();
    return CoefficientsIn(steps_[layer].coefficients.get(), static_cast<int32_t>(shape_.hidden));
  }
  Between AfterNorm(size_t layer) const {
    return {.activation = shape_.activation, .dropout = MaskOf(layer, DropoutSite::kActivation)};
  }

  const ProgramContext& context_;
  const Envelope envelope_;
  const SageRiShape shape_;
  const int64_t size_;
  std::vector<Step> steps_;
  Dense residual_, head0_, head1_;
  std::unique_ptr<Matmul> residual_product_, head_product0_, head_product1_;  // give their weights' gradients
  DeviceArray<unsigned char> collected_, middle_, grad_collected_, grad_middle_;
  DeviceArray<float> partials_, second_partials_;
  SecondStream second_stream_;
  Event small_kernels_begin_event_;
  bool from_moments_ = false;
  bool normed_product_ = false;  // one kernel computes layer 0 forward
  InputNorm input_norm_;
};

class SageRiPlan final : public ModelPlan {
 public:
  bool finds_rows_by_id() const override { return shape_.rate.active(); }  // input rows have a mask keyed by their ids
  SageRiPlan(const ModelOptions& model, Activation activation) {
    const int64_t hidden = model.hidden, middle = 2 * model.num_classes;
    shape_.hidden = RoundUp(hidden, 8);
    shape_.middle = RoundUp(middle, 8);
    shape_.classes = RoundUp(model.num_classes, 8);
    shape_.normalises = model.norm != "none";
    shape_.activation = activation;
    shape_.rate = DropoutRate(model.dropout < 0 ? 0.1 : model.dropout);
    for (int l = 0; l < model.layers; ++l) {
      const int64_t in = l == 0 ? model.in_width : hidden;
      SageRiLayer layer;
      layer.in = RoundUp(in, 8);
      layer.weight = layout_.Reserve(shape_.hidden * 2 * layer.in);
      layout_.PlaceMatrix(fmt::format("convs.{}.lin_l.weight", l), hidden, in, layer.weight, 2 * layer.in);
      layout_.PlaceMatrix(fmt::format("convs.{}.lin_r.weight", l), hidden, in, layer.weight + layer.in, 2 * layer.in);
      if (shape_.normalises) layer.norm = PlaceNorm(layout_, fmt::format("bns.{}.", l), hidden);
      shape_.layers.push_back(layer);
    }
    shape_.residual_weight = layout_.Reserve(shape_.hidden * shape_.input());
    layout_.PlaceMatrix("res_linears.0.weight", hidden, model.in_width, shape_.residual_weight, shape_.input());
    shape_.residual_bias = layout_.ReserveVector("res_linears.0.bias", hidden);
    // The columns of the head's first weight, a block for each x_i.
    shape_.head_weight0 = layout_.Reserve(shape_.middle * shape_.collected());
    const int64_t columns = model.in_width + model.layers * hidden;
    for (int i = 0; i <= model.layers; ++i) {
      layout_.Place({.name = "mlp.module_list.0.weight",
                     .rows = middle,
                     .cols = i == 0 ? model.in_width : hidden,
                     .from = i == 0 ? 0 : model.in_width + (i - 1) * hidden,
                     .tensor_stride = columns,
                     .at = shape_.head_weight0 + shape_.CollectedAt(static_cast<size_t>(i)),
                     .stride = shape_.collected()});
    }
    shape_.head_bias0 = layout_.ReserveVector("mlp.module_list.0.bias", middle);
    shape_.head_weight1 = layout_.Reserve(shape_.classes * shape_.middle);
    layout_.PlaceMatrix("mlp.module_list.1.weight", model.num_classes, middle, shape_.head_weight1, shape_.middle);
    shape_.head_bias1 = layout_.ReserveVector("mlp.module_list.1.bias", model.num_classes);
  }
  ParameterLayout Layout() const override { return layout_; }
  int64_t padded_classes() const override { return shape_.classes; }
  Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const override {
    auto program = std::make_unique<SageRiProgram>(context, envelope, shape_);
    HONE_RETURN_IF_ERROR(program->Make());
    return std::unique_ptr<Program>(std::move(program));
  }

 private:
  SageRiShape shape_;
  ParameterLayout layout_;
};

}  // namespace

Result<std::unique_ptr<ModelPlan>> PlanSageRi(const ModelOptions& model) {
  HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(model.activation, Activation::kLeakyRelu));
  return std::unique_ptr<ModelPlan>(std::make_unique<SageRiPlan>(model, activation));
}

}  // namespace hone::gnn::cuda
