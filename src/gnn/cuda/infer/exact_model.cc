// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts PyTorch's tensors to the padded, stacked and folded tensors of exact_model.h. Folded tensors are computed in
// double and rounded once (exact_weights.h).
#include "gnn/cuda/infer/exact_model.h"

#include <fmt/format.h>

#include <string>

#include "gnn/cuda/base/device_parameters.h"
#include "gnn/nn/stack_model.h"

namespace hone::gnn::cuda {
namespace {

class Planner {
 public:
  explicit Planner(Model<float>& model) : options_(model.options()), packer_(model, plan_.packed) {
    plan_.classes = options_.num_classes;
    plan_.padded_classes = RoundUp(options_.num_classes, 8);
  }

  Result<ExactModel> BuildSage() {
    HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(options_.activation, Activation::kRelu));
    for (int l = 0; l < options_.layers; ++l) {
      const bool is_last = l + 1 == options_.layers;
      ExactLayer layer;
      layer.aggregate.reduction = options_.aggregation == "max"   ? Reduction::kMax
                                  : options_.aggregation == "sum" ? Reduction::kSum
                                                                  : Reduction::kMean;
      ExactStep step = BesideSelf(l, is_last ? options_.num_classes : options_.hidden, layer);
      if (!is_last) {
        step.activation = activation;
        if (options_.norm == "batch") step.norm = packer_.Normalisation(fmt::format("bns.{}.", l), "", options_.hidden);
      }
      layer.steps.push_back(step);
      plan_.layers.push_back(layer);
    }
    return FinishedPlan();
  }

  Result<ExactModel> BuildGat() {
    HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(options_.activation, Activation::kRelu));
    const int64_t heads = options_.heads;
    for (int l = 0; l < options_.layers; ++l) {
      const bool is_last = l + 1 == options_.layers;
      const int64_t in = Width(l), width = is_last ? options_.num_classes : options_.hidden / heads;
      const std::string name = fmt::format("convs.{}.", l);
      ExactLayer layer;
      layer.in = RoundUp(in, 8);
      layer.attends = true;
      layer.heads = options_.heads;
      layer.negative_slope = static_cast<float>(options_.negative_slope);
      const ExactAttention attention = packer_.Attention(name, in, width, heads, !is_last);
      layer.folded = attention.folded;
      ExactStep step;
      step.in = heads * attention.in;
      step.out = attention.out;
      step.weight = attention.weight;
      if (!is_last) {
        step.activation = activation;
        if (options_.norm == "batch") step.norm = packer_.Normalisation(fmt::format("bns.{}.", l), "", options_.hidden);
      }
      layer.steps.push_back(step);
      plan_.layers.push_back(layer);
    }
    return FinishedPlan();
  }

  Result<ExactModel> BuildGin() {
    HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(options_.activation, Activation::kRelu));
    const bool normalises = options_.norm != "none";
    const int64_t hidden = options_.hidden;
    for (int l = 0; l < options_.layers; ++l) {
      const std::string name = fmt::format("convs.{}.", l);
      ExactLayer layer;
      layer.in = RoundUp(Width(l), 8);
      layer.aggregate = {.reduction = Reduction::kSum, .self = FullAggregate::Self::kAdded};
      const std::vector<float>& eps = packer_.Tensor(name + "eps", 1);
      if (ok()) layer.aggregate.own_factor = 1.0f + eps[0];
      ExactStep first_step = LinearStep(name + "nn.0", Width(l), hidden, !normalises);
      if (normalises) first_step.norm = packer_.Normalisation(name + "nn.1.", name + "nn.0.bias", hidden);
      first_step.activation = activation;
      ExactStep second = LinearStep(name + (normalises ? "nn.3" : "nn.2"), hidden, hidden, /*bias=*/true);
      second.activation = activation;
      layer.steps = {first_step, second};
      if (l + 1 == options_.layers) {
        ExactStep head = LinearStep("lin1", hidden, hidden, /*bias=*/true);
        head.activation = activation;
        layer.steps.push_back(head);
        layer.steps.push_back(LinearStep("lin2", hidden, options_.num_classes, /*bias=*/true));
      }
      plan_.layers.push_back(layer);
    }
    return FinishedPlan();
  }

  Result<ExactModel> SageRi() {
    HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(options_.activation, Activation::kLeakyRelu));
    const int64_t hidden = options_.hidden, in = options_.in_width, middle = 2 * options_.num_classes;
    plan_.contributes = true;
    FoldHead(in + options_.layers * hidden, middle);
    for (int l = 0; l < options_.layers; ++l) {
      ExactLayer layer;
      ExactStep step = BesideSelf(l, hidden, layer);
      step.activation = activation;
      if (options_.norm != "none") step.norm = packer_.Normalisation(fmt::format("bns.{}.", l), "", hidden);
      layer.steps.push_back(step);
      layer.adds_own = true;
      if (l == 0) {  // the own row comes from a product of A = [mean | self] with a weight whose left half is zero
        layer.own_weight = packer_.ReserveWeights(step.out * layer.gathered());
        packer_.Put(packer_.Tensor("res_linears.0.weight", hidden * in), hidden, in, in, layer.own_weight + layer.in,
                    layer.gathered());
        layer.own_bias = packer_.Vector("res_linears.0.bias", hidden);
        layer.contributions.push_back({.of_gathered = true,
                                       .in = layer.gathered(),
                                       .weight = PackHeadColumns(0, in, layer.gathered(), layer.in)});
      }
      layer.contributions.push_back({.in = step.out, .weight = PackHeadColumns(in + l * hidden, hidden, step.out, 0)});
      plan_.layers.push_back(layer);
    }
    return FinishedPlan();
  }

 private:
  static size_t At(int64_t i) { return static_cast<size_t>(i); }
  bool ok() const { return packer_.status().ok(); }
  int64_t Width(int layer) const { return layer == 0 ? options_.in_width : options_.hidden; }
  Result<ExactModel> FinishedPlan() {
    HONE_RETURN_IF_ERROR(packer_.status());
    return std::move(plan_);
  }

  ExactStep LinearStep(const std::string& name, int64_t in, int64_t out, bool bias) {
    ExactStep step;
    step.in = RoundUp(in, 8);
    step.out = RoundUp(out, 8);
    step.weight = packer_.Matrix(name + ".weight", out, in);
    if (bias) step.norm.shift = packer_.Vector(name + ".bias", out);
    return step;
  }
  // Adds the step of a SAGEConv, whose weight is [lin_l | lin_r].
  ExactStep BesideSelf(int l, int64_t out, ExactLayer& layer) {
    const int64_t in = Width(l);
    layer.in = RoundUp(in, 8);
    ExactStep step;
    step.in = 2 * layer.in;
    step.out = RoundUp(out, 8);
    step.weight = packer_.ReserveWeights(step.out * step.in);
    for (int half = 0; half < 2; ++half) {
      const std::string name = fmt::format("convs.{}.lin_{}.weight", l, half == 0 ? 'l' : 'r');
      packer_.Put(packer_.Tensor(name, out * in), out, in, in, step.weight + half * layer.in, step.in);
    }
    return step;
  }
  // Computes head_ = V1 V0 [classes, collected] and the bias V1 c0 + c1.
  void FoldHead(int64_t collected, int64_t middle) {
    const std::string name = "mlp.module_list.";
    const std::vector<float>& v0 = packer_.Tensor(name + "0.weight", middle * collected);
    const std::vector<float>& c0 = packer_.Tensor(name + "0.bias", middle);
    const std::vector<float>& v1 = packer_.Tensor(name + "1.weight", plan_.classes * middle);
    plan_.logits_bias = packer_.Vector(name + "1.bias", plan_.classes);
    collected_ = collected;
    if (!ok()) return;
    head_.assign(At(plan_.classes * collected), 0.0);
    for (int64_t c = 0; c < plan_.classes; ++c) {
      double* row = head_.data() + c * collected;
      auto bias = static_cast<double>(plan_.packed.vectors[At(plan_.logits_bias + c)]);
      for (int64_t m = 0; m < middle; ++m) {
        const auto factor = static_cast<double>(v1[At(c * middle + m)]);
        bias += factor * static_cast<double>(c0[At(m)]);
        const float* from = v0.data() + m * collected;
        for (int64_t f = 0; f < collected; ++f) row[f] += factor * static_cast<double>(from[f]);
      }
      plan_.packed.vectors[At(plan_.logits_bias + c)] = static_cast<float>(bias);
    }
  }
  // Packs columns from … from + count - 1 of the head as a weight with rows of `stride` elements, from the weight's
  // column `at` on, and returns the weight's place.
  int64_t PackHeadColumns(int64_t from, int64_t count, int64_t stride, int64_t at) {
    const int64_t place = packer_.ReserveWeights(plan_.padded_classes * stride);
    for (int64_t c = 0; c < plan_.classes && ok(); ++c) {
      for (int64_t f = 0; f < count; ++f) {
        plan_.packed.weights[At(place + c * stride + at + f)] =
            static_cast<float>(head_[At(c * collected_ + from + f)]);
      }
    }
    return place;
  }

  const ModelOptions options_;
  ExactModel plan_;
  ExactPacker packer_;
  std::vector<double> head_;
  int64_t collected_ = 0;
};

}  // namespace

Result<ExactModel> PlanExactModel(Model<float>& model) {
  Planner planner(model);
  const std::string& kind = model.options().kind;
  if (kind == "sage") return planner.BuildSage();
  if (kind == "gat") return planner.BuildGat();
  if (kind == "gin") return planner.BuildGin();
  if (kind == "sage-ri") return planner.SageRi();
  return Status::InvalidArgument("exact inference on the GPU knows sage, gat, gin and sage-ri, not '" + kind + "'");
}

}  // namespace hone::gnn::cuda
