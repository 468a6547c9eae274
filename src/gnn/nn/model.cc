// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes models from options: the meaning of each name, and the combinations that are refused.
#include "hone/gnn/model.h"

#include <string>
#include <utility>

#include "gnn/nn/sage_ri.h"
#include "gnn/nn/spec_model.h"
#include "gnn/nn/stack_model.h"
#include "gnn/spec/own_operations.h"

namespace hone::gnn {

Result<Activation> ParseActivation(const std::string& name, Activation fallback) {
  if (name.empty()) return fallback;
  if (name == "relu") return Activation::kRelu;
  if (name == "leaky_relu") return Activation::kLeakyRelu;
  if (name == "elu") return Activation::kElu;
  return Status::InvalidArgument("activation '" + name + "' is not known: use relu, leaky_relu or elu");
}

namespace {

Status ErrorUnless(bool holds, const std::string& message) {
  return holds ? Status::Ok() : Status::InvalidArgument(message);
}

Status CheckSizes(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(ErrorUnless(options.in_width >= 1, "in_width is " + std::to_string(options.in_width) +
                                                          ": the graph needs at least one feature a node"));
  HONE_RETURN_IF_ERROR(ErrorUnless(options.num_classes >= 1,
                               "num_classes is " + std::to_string(options.num_classes) + ": the graph needs labels"));
  HONE_RETURN_IF_ERROR(ErrorUnless(options.hidden >= 1 && options.hidden <= 65536,
                               "hidden is " + std::to_string(options.hidden) + ": use 1 to 65536"));
  HONE_RETURN_IF_ERROR(ErrorUnless(options.layers >= 1 && options.layers <= 64,
                               "layers is " + std::to_string(options.layers) + ": use 1 to 64"));
  HONE_RETURN_IF_ERROR(ErrorUnless(options.dropout < 1,
                                   "dropout is " + std::to_string(options.dropout) + ": use a probability below 1"));
  HONE_RETURN_IF_ERROR(ErrorUnless(options.norm.empty() || options.norm == "none" || options.norm == "batch",
                               "norm '" + options.norm + "' is not known: use none or batch"));
  // Options that the model does not have are refused. If they were ignored, comparisons of models would mislead.
  const bool is_gin_or_sage_ri = options.kind == "gin" || options.kind == "sage-ri";
  HONE_RETURN_IF_ERROR(ErrorUnless(
      options.heads == 1 || !(is_gin_or_sage_ri || options.kind == "sage"),
      "heads is " + std::to_string(options.heads) + ": only gat has heads; leave it out for " + options.kind));
  HONE_RETURN_IF_ERROR(ErrorUnless(
      options.aggregation == "mean" || !(is_gin_or_sage_ri || options.kind == "gat"),
      "aggregation is " + options.aggregation + ": only sage has a choice; leave it out for " + options.kind));
  HONE_RETURN_IF_ERROR(ErrorUnless(!options.bias || !is_gin_or_sage_ri,
                                   "bias: only sage and gat have a choice; leave it out for " + options.kind));
  return Status::Ok();
}

Status CheckSage(const ModelOptions& options) {
  return ErrorUnless(options.aggregation == "mean" || options.aggregation == "sum" || options.aggregation == "max",
                 "aggregation '" + options.aggregation + "' is not known: use mean, sum or max");
}

Status CheckGat(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(ErrorUnless(options.heads >= 1 && options.heads <= 64,
                               "heads is " + std::to_string(options.heads) + ": use 1 to 64"));
  HONE_RETURN_IF_ERROR(ErrorUnless(options.hidden % options.heads == 0, "hidden is " + std::to_string(options.hidden) +
                                                                        " and heads " + std::to_string(options.heads) +
                                                                        ": the heads must share hidden evenly"));
  return ErrorUnless(options.negative_slope >= 0 && options.negative_slope <= 1,
                 "negative_slope is " + std::to_string(options.negative_slope) + ": use 0 to 1");
}

// Every layer draws its weights from a separate stream.
uint64_t LayerSeed(const ModelOptions& options, int layer) {
  return Rng(options.seed).Split(static_cast<uint64_t>(layer)).Next();
}
std::string ConvName(int layer) { return "convs." + std::to_string(layer); }
int64_t LayerIn(const ModelOptions& options, int layer) { return layer == 0 ? options.in_width : options.hidden; }

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeSage(const ModelOptions& options) {
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
    conv.bias = options.bias;
    layers.push_back(MakeSageConv<T>(conv, ConvName(i), LayerSeed(options, i)));
  }
  return MakePlannedStack<T>(options, plan, std::move(layers));
}

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeGat(const ModelOptions& options) {
  StackPlan plan;
  HONE_ASSIGN_OR_RETURN(plan.between, ParseActivation(options.activation, Activation::kRelu));
  plan.normalise_between = options.norm == "batch";
  plan.dropout_between = options.dropout < 0 ? 0.5 : options.dropout;
  std::vector<std::unique_ptr<Layer<T>>> layers;
  for (int i = 0; i < options.layers; ++i) {
    const bool is_last = i + 1 == options.layers;
    GatConvOptions conv;
    conv.in_width = LayerIn(options, i);
    conv.heads = options.heads;
    conv.width = is_last ? options.num_classes : options.hidden / options.heads;
    conv.concatenate = !is_last;
    conv.negative_slope = options.negative_slope;
    conv.bias = options.bias;
    layers.push_back(MakeGatConv<T>(conv, ConvName(i), LayerSeed(options, i)));
  }
  return MakePlannedStack<T>(options, plan, std::move(layers));
}

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeGin(const ModelOptions& options) {
  StackPlan plan;
  plan.between = Activation::kIdentity;  // a GINConv ends with its own activation
  plan.head = true;
  HONE_ASSIGN_OR_RETURN(plan.head_activation, ParseActivation(options.activation, Activation::kRelu));
  plan.head_dropout = options.dropout < 0 ? 0.5 : options.dropout;
  std::vector<std::unique_ptr<Layer<T>>> layers;
  for (int i = 0; i < options.layers; ++i) {
    GinConvOptions conv;
    conv.in_width = LayerIn(options, i);
    conv.out_width = options.hidden;
    conv.activation = options.activation;
    conv.normalise = options.norm != "none";
    layers.push_back(MakeGinConv<T>(conv, ConvName(i), LayerSeed(options, i)));
  }
  return MakePlannedStack<T>(options, plan, std::move(layers));
}

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeResidualSage(const ModelOptions& options) {
  SageRiPlan plan;
  HONE_ASSIGN_OR_RETURN(plan.activation, ParseActivation(options.activation, Activation::kLeakyRelu));
  plan.normalise = options.norm != "none";
  plan.dropout = options.dropout < 0 ? 0.1 : options.dropout;
  return MakeSageRi<T>(options, plan);
}

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeModelOf(const ModelOptions& options) {
  if (options.spec != nullptr) return MakeSpecModel<T>(options);
  HONE_RETURN_IF_ERROR(CheckPublished(options));
  if (options.kind == "sage") return MakeSage<T>(options);
  if (options.kind == "gat") return MakeGat<T>(options);
  if (options.kind == "gin") return MakeGin<T>(options);
  return MakeResidualSage<T>(options);
}

}  // namespace

Status CheckPublished(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSizes(options));
  if (options.kind == "sage") return CheckSage(options);
  if (options.kind == "gat") return CheckGat(options);
  return ErrorUnless(options.kind == "gin" || options.kind == "sage-ri",
                 "model '" + options.kind +
                     "' is not known: use sage, gat, gin, sage-ri or the name of a model's file, NAME.toml");
}

ModelOptions SpecOptions(std::shared_ptr<const ModelSpec> spec, int layers) {
  ModelOptions options;
  options.kind = kSpecKind;
  options.hidden = 0;
  options.layers = layers;
  options.spec = std::move(spec);
  return options;
}

bool ReadsEdgeFeatures(const ModelOptions& options) {
  return options.edge_width > 0 && options.spec != nullptr && WantsEdgeFeatures(*options.spec);
}

std::string ModelName(const ModelOptions& options) {
  return options.spec == nullptr ? options.kind : options.spec->name;
}

template <typename T>
Result<std::unique_ptr<Model<T>>> MakeStackModel(const ModelOptions& options,
                                                 std::vector<std::unique_ptr<Layer<T>>> layers) {
  HONE_RETURN_IF_ERROR(CheckSizes(options));
  HONE_RETURN_IF_ERROR(ErrorUnless(
      static_cast<int64_t>(layers.size()) == options.layers,
      std::to_string(layers.size()) + " layers were given where options.layers is " + std::to_string(options.layers)));
  int64_t width = options.in_width;
  for (size_t i = 0; i < layers.size(); ++i) {
    HONE_RETURN_IF_ERROR(ErrorUnless(layers[i]->in_width() == width, "layer " + std::to_string(i) + " takes " +
                                                                     std::to_string(layers[i]->in_width()) +
                                                                     " columns and is given " + std::to_string(width)));
    width = layers[i]->out_width();
  }
  HONE_RETURN_IF_ERROR(ErrorUnless(width == options.num_classes, "the last layer gives " + std::to_string(width) +
                                                                 " columns for " + std::to_string(options.num_classes) +
                                                                 " classes"));
  StackPlan plan;
  HONE_ASSIGN_OR_RETURN(plan.between, ParseActivation(options.activation, Activation::kRelu));
  plan.normalise_between = options.norm == "batch";
  plan.dropout_between = options.dropout < 0 ? 0.5 : options.dropout;
  return MakePlannedStack<T>(options, plan, std::move(layers));
}
template Result<std::unique_ptr<Model<float>>> MakeStackModel<float>(const ModelOptions&,
                                                                     std::vector<std::unique_ptr<Layer<float>>>);
template Result<std::unique_ptr<Model<double>>> MakeStackModel<double>(const ModelOptions&,
                                                                       std::vector<std::unique_ptr<Layer<double>>>);

Result<std::unique_ptr<Model<float>>> MakeModel(const ModelOptions& options) { return MakeModelOf<float>(options); }
Result<std::unique_ptr<Model<double>>> MakeDoubleModel(const ModelOptions& options) {
  return MakeModelOf<double>(options);
}

}  // namespace hone::gnn
