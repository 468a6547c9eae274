// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// GinProgram computes GIN (nn/gin_conv.cc defines the model). f is the activation:
//
//   layer l      S_l = sum of the neighbors' rows + (1 + eps) * own     (l = 0: drawn and gathered in one kernel)
//                P_l = S_l W0^T,  H_l = f(norm(P_l + b0)),  R_l = H_l W1^T
//   what the next layer reads, f(R_l + b1), is computed as it is read; for the head it is written once:
//                X = f(R_{L-1} + b1),  G = X V1^T,  U = dropout(f(G + c1)),  logits = U V2^T + c2
//
// Backward overwrites each value by its gradient as soon as the value is no longer needed. Gradients of parameters are
// made on the second stream. If input_norm.h supports the first layer, the moments of S_0 come with the batch, and the
// gradient of P_0 is never stored. If normed_product.h and marked_product.h support it too, neither P_0 nor the
// gradient of H_0 is stored.
#include <fmt/format.h>

#include "gnn/cuda/kernels/aggregate_kernels.h"
#include "gnn/cuda/kernels/marked_product.h"
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

// The offsets of a layer's parameters in the flat parameters or, where the field says so, in the flat buffers.
struct GinLayer {
  int64_t in = 0;  // padded
  int64_t weight0 = 0, bias0 = 0, weight1 = 0, bias1 = 0;
  NormPlaces norm;
  int64_t eps = 0;  // lies in the buffers
};

struct GinShape {
  std::vector<GinLayer> layers;
  int64_t hidden = 0, classes = 0;  // padded
  int64_t head_weight1 = 0, head_bias1 = 0, head_weight2 = 0, head_bias2 = 0;
  bool normalises = true;
  Activation activation = Activation::kRelu;
  DropoutRate rate{0.0};  // rate of the head's dropout
};

// The share of the multiprocessors for the outermost hop, while the upper layers' small kernels run on the others.
// Measured on an H200 with fanouts 20,20,20 (docs/design/0020-gin-and-the-outermost-hop.md).
constexpr float kOutermostShare = 0.45f;

class GinProgram final : public Program {
 public:
  GinProgram(const ProgramContext& context, const Envelope& envelope, const GinShape& shape)
      : context_(context), envelope_(envelope), shape_(shape) {}

  Status Make() {
    const auto rows_of = [this](size_t l) { return envelope_.Rows(static_cast<int>(l)); };
    const Element element = context_.element;
    const int64_t size = ElementBytes(element), hidden = shape_.hidden;
    steps_.resize(shape_.layers.size());
    from_moments_ = shape_.normalises && InputNorm::Serves(context_, envelope_);
    if (envelope_.trains) HONE_RETURN_IF_ERROR(second_stream_.Make(context_));
    if (envelope_.trains && !AllocationCount::active()) HONE_RETURN_IF_ERROR(small_kernels_begin_event_.Make());
    if (from_moments_) {
      const GinLayer& layer = shape_.layers[0];
      HONE_RETURN_IF_ERROR(input_norm_.Make(context_, envelope_,
                                            {.inputs = layer.in,
                                             .outputs = hidden,
                                             .weight_at = layer.weight0,
                                             .activation = shape_.activation,
                                             .norm = layer.norm,
                                             .linear_bias_at = layer.bias0}));
    }
    normed_product_ = input_norm_.marks() != nullptr && NormedProductServes(FirstProduct());
    marked_product_ = input_norm_.marks() != nullptr && MarkedProductServes(SecondProduct());
    int64_t partials = 0;
    for (size_t l = 0; l < steps_.size(); ++l) {
      Step& step = steps_[l];
      const GinLayer& layer = shape_.layers[l];
      const int64_t rows = rows_of(l);
      if (l > 0) HONE_RETURN_IF_ERROR(step.sum.Allocate(rows * layer.in * size));
      if (l > 0 || !normed_product_) HONE_RETURN_IF_ERROR(step.plain.Allocate(rows * hidden * size));
      HONE_RETURN_IF_ERROR(step.hidden.Allocate(rows * hidden * size));
      HONE_RETURN_IF_ERROR(step.result.Allocate(rows * hidden * size));
      HONE_RETURN_IF_ERROR(step.coefficients.Allocate(kCoefficientArrays * hidden));
      HONE_RETURN_IF_ERROR(step.lin0.Plan(context_, {.rows = rows,
                                                     .in = layer.in,
                                                     .out = hidden,
                                                     .weight_at = layer.weight0,
                                                     .trains = envelope_.trains,
                                                     .input_gradient = l > 0,
                                                     .result = element}));
      HONE_RETURN_IF_ERROR(
          PlanGradient({.rows = rows, .in = layer.in, .out = hidden, .weight_at = layer.weight0}, step.weight0));
      HONE_RETURN_IF_ERROR(step.lin1.Plan(context_, {.rows = rows,
                                                     .in = hidden,
                                                     .out = hidden,
                                                     .weight_at = layer.weight1,
                                                     .trains = envelope_.trains,
                                                     .result = element}));
      HONE_RETURN_IF_ERROR(
          PlanGradient({.rows = rows, .in = hidden, .out = hidden, .weight_at = layer.weight1}, step.weight1));
      partials = std::max(partials, ColumnPartials(static_cast<int32_t>(rows), static_cast<int32_t>(hidden)));
      if (!envelope_.trains) continue;
      if (l > 0) HONE_RETURN_IF_ERROR(step.grad_sum.Allocate(rows * layer.in * size));
      HONE_RETURN_IF_ERROR(step.grad_hidden.Allocate(rows * hidden * size));
      HONE_RETURN_IF_ERROR(step.grad_result.Allocate(rows * hidden * size));
    }
    const int64_t seeds = rows_of(steps_.size() - 1);
    HONE_RETURN_IF_ERROR(top_.Allocate(seeds * hidden * size));
    HONE_RETURN_IF_ERROR(head_plain_.Allocate(seeds * hidden * size));
    HONE_RETURN_IF_ERROR(head_.Allocate(seeds * hidden * size));
    HONE_RETURN_IF_ERROR(head1_.Plan(context_, {.rows = seeds,
                                                .in = hidden,
                                                .out = hidden,
                                                .weight_at = shape_.head_weight1,
                                                .trains = envelope_.trains,
                                                .result = element}));
    HONE_RETURN_IF_ERROR(
        PlanGradient({.rows = seeds, .in = hidden, .out = hidden, .weight_at = shape_.head_weight1}, head_weight1_));
    HONE_RETURN_IF_ERROR(head2_.Plan(context_, {.rows = seeds,
                                                .in = hidden,
                                                .out = shape_.classes,
                                                .weight_at = shape_.head_weight2,
                                                .trains = envelope_.trains,
                                                .result = Element::kFloat32}));
    HONE_RETURN_IF_ERROR(PlanGradient(
        {.rows = seeds, .in = hidden, .out = shape_.classes, .weight_at = shape_.head_weight2}, head_weight2_));
    partials = std::max(partials, ColumnPartials(static_cast<int32_t>(seeds), static_cast<int32_t>(shape_.classes)));
    if (envelope_.trains) {
      HONE_RETURN_IF_ERROR(grad_head_.Allocate(seeds * hidden * size));
      HONE_RETURN_IF_ERROR(second_partials_.Allocate(partials));
      if (sums_come_along()) {
        HONE_RETURN_IF_ERROR(
            source_partials_.Allocate(ColumnPartials(static_cast<int32_t>(rows_of(0)), static_cast<int32_t>(hidden))));
      }
    }
    return partials_.Allocate(partials);
  }

  int64_t OuterBytes() const override { return SumBytes() + (from_moments_ ? input_norm_.MomentBytes() : 0); }

  Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) override {
    SampleAggregate aggregate;
    aggregate.kind = KindOf(0);
    aggregate.out = batch.outer;
    aggregate.share = kOutermostShare;
    HONE_CUDA_RETURN_IF_ERROR(EnqueueSampleAggregate(
        batch.graph, context_.graph->feature_element(), envelope_.HopOf(0), envelope_.fanouts.back(),
        envelope_.known.back(), aggregate, batch.state, batch.header, batch.graph_nodes, context_.element, stream));
    if (!from_moments_) return Status::Ok();
    return input_norm_.EnqueueMoments(batch, batch.outer, Moments(batch), stream);
  }

  cudaEvent_t small_kernels_begin() const override { return small_kernels_begin_event_.handle; }

  int32_t hideable_misses() const override { return HideableMissesOfLongSteps(envelope_); }

  Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) override {
    const Element element = context_.element;
    for (size_t l = 0; l < steps_.size(); ++l) {
      const Step& step = steps_[l];
      if (l > 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueAggregate(KindOf(l), batch.hops[Hop(l)], Hop(l), element, InputOf(l),
                                                   static_cast<int32_t>(shape_.hidden), batch.state, batch.header,
                                                   batch.nodes, step.sum.get(), stream));
        if (l == 1) HONE_RETURN_IF_ERROR(NoteRoom(stream));
      }
      const RowsOnDevice rows = Rows(batch, l, shape_.hidden);
      if (l == 0 && from_moments_) {
        HONE_RETURN_IF_ERROR(input_norm_.EnqueueCoefficients(batch, Moments(batch), stream));
      }
      if (l == 0 && normed_product_) {
        NormedProduct product;
        product.x = SumOf(batch, l);
        product.weight = context_.parameters->compute_at(shape_.layers[l].weight0);
        product.coefficients = CoefficientsOf(l);
        product.between = AfterNorm();
        product.y = step.hidden.get();
        product.marks = input_norm_.marks();
        HONE_RETURN_IF_ERROR(EnqueueNormedProduct(rows, FirstProduct(), product, stream));
      } else {
        HONE_RETURN_IF_ERROR(step.lin0.Forward(SumOf(batch, l), step.plain.get(), stream));
        const BetweenOutput output{.y = step.hidden.get(), .marks = l == 0 ? input_norm_.marks() : nullptr};
        if (l == 0 && from_moments_) {
          HONE_CUDA_RETURN_IF_ERROR(
              EnqueueBetween(rows, element, step.plain.get(), CoefficientsOf(l), AfterNorm(), output, stream));
        } else {
          HONE_CUDA_RETURN_IF_ERROR(EnqueueNormBetween(rows, element, step.plain.get(), NormOf(l), envelope_.trains,
                                                       CoefficientsOf(l), AfterNorm(), output, partials_.get(),
                                                       stream));
        }
      }
      HONE_RETURN_IF_ERROR(step.lin1.Forward(step.hidden.get(), step.result.get(), stream));
      if (l == 0 && steps_.size() == 1) HONE_RETURN_IF_ERROR(NoteRoom(stream));
    }
    const size_t top = steps_.size() - 1;
    const RowsOnDevice rows = Rows(batch, top, shape_.hidden);
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivation(rows, element, steps_[top].result.get(),
                                                    Master(shape_.layers[top].bias1), {.activation = shape_.activation},
                                                    top_.get(), stream));
    HONE_RETURN_IF_ERROR(head1_.Forward(top_.get(), head_plain_.get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivation(rows, element, head_plain_.get(), Master(shape_.head_bias1),
                                                    OperationsInHead(), head_.get(), stream));
    HONE_RETURN_IF_ERROR(head2_.Forward(head_.get(), logits, stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivation(Rows(batch, top, shape_.classes), Element::kFloat32, logits,
                                                    Master(shape_.head_bias2), {}, logits, stream));
    return Status::Ok();
  }

  Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) override {
    const Element element = context_.element;
    const size_t top = steps_.size() - 1;
    const RowsOnDevice seeds = Rows(batch, top, shape_.hidden);
    HONE_RETURN_IF_ERROR(EnqueueParameters(Rows(batch, top, shape_.classes), grad_logits, head_.get(), *head_weight2_,
                                           shape_.head_weight2, shape_.head_bias2, stream));
    HONE_RETURN_IF_ERROR(head2_.InputGradient(grad_logits, grad_head_.get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivationBackward(seeds, element, head_plain_.get(),
                                                            Master(shape_.head_bias1), OperationsInHead(),
                                                            grad_head_.get(), grad_head_.get(), stream));
    HONE_RETURN_IF_ERROR(EnqueueParameters(seeds, grad_head_.get(), top_.get(), *head_weight1_, shape_.head_weight1,
                                           shape_.head_bias1, stream));
    HONE_RETURN_IF_ERROR(head1_.InputGradient(grad_head_.get(), steps_[top].grad_result.get(), stream));
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivationBackward(
        seeds, element, steps_[top].result.get(), Master(shape_.layers[top].bias1), {.activation = shape_.activation},
        steps_[top].grad_result.get(), steps_[top].grad_result.get(), stream));
    for (size_t l = steps_.size(); l-- > 0;) {
      const Step& step = steps_[l];
      const GinLayer& layer = shape_.layers[l];
      const RowsOnDevice rows = Rows(batch, l, shape_.hidden);
      if (l == 0 && sums_come_along()) {
        HONE_ASSIGN_OR_RETURN(const cudaStream_t second, second_stream_.Fork(stream));
        HONE_CUDA_RETURN_IF_ERROR(EnqueueJoinSums(rows, source_partials_.get(), Gradient(layer.bias1), second));
        HONE_RETURN_IF_ERROR(
            step.weight1->Enqueue(step.grad_result.get(), step.hidden.get(), Gradient(layer.weight1), second));
      } else {
        HONE_RETURN_IF_ERROR(EnqueueParameters(rows, step.grad_result.get(), step.hidden.get(), *step.weight1,
                                               layer.weight1, layer.bias1, stream));
      }
      if (l == 0 && marked_product_) {
        MarkedProduct product;
        product.grad = step.grad_result.get();
        product.weight = context_.parameters->compute_at(layer.weight1);
        product.between = AfterNorm();
        product.marks = input_norm_.marks();
        product.before = step.grad_hidden.get();
        product.partials = input_norm_.partials();
        HONE_RETURN_IF_ERROR(EnqueueMarkedProduct(rows, SecondProduct(), product, stream));
        HONE_RETURN_IF_ERROR(
            input_norm_.EnqueueGradients(batch, batch.outer, Moments(batch), step.grad_hidden.get(),
                                         MarkedProductMostPieces(rows.padded_rows, SecondProduct()), stream));
        break;
      }
      HONE_RETURN_IF_ERROR(step.lin1.InputGradient(step.grad_result.get(), step.grad_hidden.get(), stream));
      if (l == 0 && from_moments_) {
        HONE_RETURN_IF_ERROR(input_norm_.EnqueueGradientBefore(batch, step.plain.get(), AfterNorm(),
                                                               step.grad_hidden.get(), step.grad_hidden.get(), stream));
        HONE_RETURN_IF_ERROR(input_norm_.EnqueueGradients(batch, batch.outer, Moments(batch), step.grad_hidden.get(),
                                                          kAllPieces, stream));
        break;
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueBetweenBackward(rows, element, step.plain.get(), NormOf(l), CoefficientsOf(l),
                                                       AfterNorm(), step.grad_hidden.get(), step.grad_hidden.get(),
                                                       {.weight = Gradient(layer.norm.weight),
                                                        .bias = Gradient(layer.norm.bias),
                                                        .linear_bias = Gradient(layer.bias0)},
                                                       partials_.get(), stream));
      HONE_ASSIGN_OR_RETURN(const cudaStream_t second, second_stream_.Fork(stream));
      HONE_RETURN_IF_ERROR(
          step.weight0->Enqueue(step.grad_hidden.get(), SumOf(batch, l), Gradient(layer.weight0), second));
      if (l == 0) break;
      HONE_RETURN_IF_ERROR(step.lin0.InputGradient(step.grad_hidden.get(), step.grad_sum.get(), stream));
      if (l == 1 && sums_come_along()) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueSourceGradient(
            KindOf(l), batch.hops[Hop(l)], Hop(l), InputOf(l), static_cast<int32_t>(shape_.hidden),
            static_cast<int32_t>(envelope_.Rows(0)), step.grad_sum.get(), {}, batch.state, batch.header, batch.nodes,
            {.grad_z = steps_[0].grad_result.get(), .partials = source_partials_.get()}, stream));
        continue;
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAggregateBackward(
          KindOf(l), batch.hops[Hop(l)], Hop(l), element, InputOf(l), static_cast<int32_t>(shape_.hidden),
          static_cast<int32_t>(envelope_.Rows(static_cast<int>(l) - 1)), step.grad_sum.get(), {}, batch.state,
          batch.header, batch.nodes, steps_[l - 1].grad_result.get(), stream));
    }
    return second_stream_.Join(stream);
  }

 private:
  struct Step {
    DeviceArray<unsigned char> sum, plain, hidden, result;  // S, P, H, R
    DeviceArray<unsigned char> grad_sum, grad_hidden, grad_result;
    DeviceArray<float> coefficients;
    Dense lin0, lin1;
    std::unique_ptr<Matmul> weight0, weight1;  // products that give the gradients of lin0's and lin1's weights
  };

  Status NoteRoom(cudaStream_t stream) {
    if (small_kernels_begin_event_.handle != nullptr)
      HONE_CUDA_RETURN_IF_ERROR(cudaEventRecord(small_kernels_begin_event_.handle, stream));
    return Status::Ok();
  }
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

  int Hop(size_t layer) const { return envelope_.HopOf(static_cast<int>(layer)); }
  const float* Master(int64_t at) const { return context_.parameters->master() + at; }
  float* Gradient(int64_t at) const { return context_.parameters->gradient() + at; }
  // Returns whether the kernel that makes the rows' gradient also gives the bias gradient of layer 0's second Linear.
  bool sums_come_along() const { return from_moments_ && steps_.size() > 1; }
  NormedProductShape FirstProduct() const {
    return {.inputs = static_cast<int32_t>(shape_.layers[0].in),
            .outputs = static_cast<int32_t>(shape_.hidden),
            .activation = shape_.activation};
  }
  // Returns the shape of the matrix product of the backward pass that takes the gradient from the output of layer 0's
  // second Linear to the output of the activation before it.
  MarkedProductShape SecondProduct() const {
    return {.inner = static_cast<int32_t>(shape_.hidden),
            .outputs = static_cast<int32_t>(shape_.hidden),
            .activation = shape_.activation};
  }
  int64_t SumBytes() const { return envelope_.Rows(0) * shape_.layers[0].in * ElementBytes(context_.element); }
  void* Moments(const BatchOnDevice& batch) const { return static_cast<unsigned char*>(batch.outer) + SumBytes(); }
  const void* SumOf(const BatchOnDevice& batch, size_t layer) const {
    return layer == 0 ? batch.outer : steps_[layer].sum.get();
  }
  AggregateKind KindOf(size_t layer) const {
    return {.adds_self = true, .eps = context_.parameters->buffers() + shape_.layers[layer].eps};
  }
  // Returns the rows that layer `layer` aggregates.
  AggregateInput InputOf(size_t layer) const {
    AggregateInput input;
    input.z = steps_[layer - 1].result.get();
    input.bias = Master(shape_.layers[layer - 1].bias1);
    input.activation = shape_.activation;
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
  NormOnDevice NormOf(size_t layer) const {
    const GinLayer& at = shape_.layers[layer];
    if (!shape_.normalises) return {.linear_bias = Master(at.bias0)};
    return NormAt(*context_.parameters, at.norm, Master(at.bias0));
  }
  ColumnCoefficients CoefficientsOf(size_t layer) const {
    if (layer == 0 && from_moments_) return input_norm_.coefficients();
    return CoefficientsIn(steps_[layer].coefficients.get(), static_cast<int32_t>(shape_.hidden));
  }
  Between AfterNorm() const { return {.activation = shape_.activation}; }
  Between OperationsInHead() const {
    return {.activation = shape_.activation,
            .dropout = {static_cast<uint32_t>(shape_.layers.size()), static_cast<uint32_t>(DropoutSite::kHead),
                        envelope_.trains ? shape_.rate.threshold : 0, static_cast<float>(shape_.rate.scale)}};
  }

  const ProgramContext& context_;
  const Envelope envelope_;
  const GinShape shape_;
  std::vector<Step> steps_;
  Dense head1_, head2_;
  std::unique_ptr<Matmul> head_weight1_, head_weight2_;
  DeviceArray<unsigned char> top_, head_plain_, head_, grad_head_;
  DeviceArray<float> partials_, second_partials_, source_partials_;
  SecondStream second_stream_;
  Event small_kernels_begin_event_;
  bool from_moments_ = false;
  bool normed_product_ = false;  // one kernel computes layer 0's first product and what follows it
  bool marked_product_ = false;  // one kernel goes backward through layer 0's second Linear and what precedes it
  InputNorm input_norm_;
};

class GinPlan final : public ModelPlan {
 public:
  GinPlan(const ModelOptions& model, Activation activation) {
    const int64_t hidden = model.hidden;
    shape_.hidden = RoundUp(hidden, 8);
    shape_.classes = RoundUp(model.num_classes, 8);
    shape_.normalises = model.norm != "none";
    shape_.activation = activation;
    shape_.rate = DropoutRate(model.dropout < 0 ? 0.5 : model.dropout);
    for (int l = 0; l < model.layers; ++l) {
      const std::string name = fmt::format("convs.{}.", l);
      const int64_t in = l == 0 ? model.in_width : hidden;
      GinLayer layer;
      layer.in = RoundUp(in, 8);
      layer.weight0 = Matrix(name + "nn.0", hidden, in, shape_.hidden, layer.in, &layer.bias0);
      layer.weight1 = Matrix(name + (shape_.normalises ? "nn.3" : "nn.2"), hidden, hidden, shape_.hidden, shape_.hidden,
                             &layer.bias1);
      layer.eps = layout_.ReserveVector(name + "eps", 1, /*buffer=*/true);
      if (shape_.normalises) layer.norm = PlaceNorm(layout_, name + "nn.1.", hidden);
      shape_.layers.push_back(layer);
    }
    shape_.head_weight1 = Matrix("lin1", hidden, hidden, shape_.hidden, shape_.hidden, &shape_.head_bias1);
    shape_.head_weight2 = Matrix("lin2", model.num_classes, hidden, shape_.classes, shape_.hidden, &shape_.head_bias2);
  }
  ParameterLayout Layout() const override { return layout_; }
  int64_t padded_classes() const override { return shape_.classes; }
  Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const override {
    auto program = std::make_unique<GinProgram>(context, envelope, shape_);
    HONE_RETURN_IF_ERROR(program->Make());
    return std::unique_ptr<Program>(std::move(program));
  }

 private:
  int64_t Matrix(const std::string& name, int64_t out, int64_t in, int64_t padded_out, int64_t padded_in,
                 int64_t* bias) {
    const int64_t at = layout_.Reserve(padded_out * padded_in);
    layout_.PlaceMatrix(name + ".weight", out, in, at, padded_in);
    *bias = layout_.ReserveVector(name + ".bias", out);
    return at;
  }

  GinShape shape_;
  ParameterLayout layout_;
};

}  // namespace

Result<std::unique_ptr<ModelPlan>> PlanGin(const ModelOptions& model) {
  HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(model.activation, Activation::kRelu));
  return std::unique_ptr<ModelPlan>(std::make_unique<GinPlan>(model, activation));
}

}  // namespace hone::gnn::cuda
