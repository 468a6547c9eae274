// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// From options to a model: what each name stands for, and what a user may not ask for.
#include "hone/gnn/model.h"

#include <string>
#include <utility>

#include "gnn/nn/stack_model.h"

namespace hone::gnn {

Result<Activation> ParseActivation(const std::string& name, Activation fallback) {
  if (name.empty()) return fallback;
  if (name == "relu") return Activation::kRelu;
  if (name == "leaky_relu") return Activation::kLeakyRelu;
  if (name == "elu") return Activation::kElu;
  return Status::InvalidArgument("activation '" + name + "' is not known: use relu, leaky_relu or elu");
}

namespace {

Status Require(bool holds, const std::string& message) {
  return holds ? Status::Ok() : Status::InvalidArgument(message);
}

Status CheckSizes(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(Require(options.in_width >= 1, "in_width is " + std::to_string(options.in_width) +
                                                          ": the graph needs at least one feature a node"));
  HONE_RETURN_IF_ERROR(Require(options.num_classes >= 1, "num_classes is " + std::to_string(options.num_classes) +
                                                             ": the graph needs labels"));
  HONE_RETURN_IF_ERROR(Require(options.hidden >= 1 && options.hidden <= 65536,
                               "hidden is " + std::to_string(options.hidden) + ": use 1 to 65536"));
  HONE_RETURN_IF_ERROR(Require(options.layers >= 1 && options.layers <= 64,
                               "layers is " + std::to_string(options.layers) + ": use 1 to 64"));
  HONE_RETURN_IF_ERROR(Require(options.dropout < 1, "dropout is " + std::to_string(options.dropout) +
                                                        ": use a probability below 1"));
  HONE_RETURN_IF_ERROR(Require(options.norm.empty() || options.norm == "none" || options.norm == "batch",
                               "norm '" + options.norm + "' is not known: use none or batch"));
  return Status::Ok();
}

// Every layer draws its weights from a stream of its own.
uint64_t LayerSeed(const ModelOptions& options, int layer) {
  return Rng(options.seed).Split(static_cast<uint64_t>(layer)).Next();
}
std::string ConvName(int layer) { return "convs." + std::to_string(layer); }
int64_t LayerIn(const ModelOptions& options, int layer) { return layer == 0 ? options.in_width : options.hidden; }

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeSage(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(
      Require(options.aggregation == "mean" || options.aggregation == "sum" || options.aggregation == "max",
              "aggregation '" + options.aggregation + "' is not known: use mean, sum or max"));
  StackPlan plan;
  HONE_ASSIGN_OR_RETURN(plan.between, ParseActivation(options.activation, Activation::kRelu));
  plan.normalise_between = options.norm == "batch";
  plan.dropout_between = options.dropout < 0 ? 0.5 : options.dropout;
  std::vector<std::unique_ptr<Layer<T>>> layers;
  for (int i = 0; i < options.layers; ++i) {
    SageConvOptions conv;
    conv.in_width = LayerIn(options, i);
    conv.out_width = i + 1 == options.layers ? options.num_classes : options.hidden;
    conv.aggregation = options.aggregation;
    layers.push_back(MakeSageConv<T>(conv, ConvName(i), LayerSeed(options, i)));
  }
  return MakePlannedStack<T>(options, plan, std::move(layers));
}

template <typename T>
Result<std::unique_ptr<Model<T>>> Make(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSizes(options));
  if (options.kind == "sage") return MakeSage<T>(options);
  return Status::InvalidArgument("model '" + options.kind + "' is not known: use sage");
}

}  // namespace

Result<std::unique_ptr<Model<float>>> MakeModel(const ModelOptions& options) { return Make<float>(options); }
Result<std::unique_ptr<Model<double>>> MakeDoubleModel(const ModelOptions& options) { return Make<double>(options); }

}  // namespace hone::gnn
