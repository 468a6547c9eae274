// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/embeddings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/nearest_word.h"
#include "gnn/spec/own_operations.h"

namespace hone::gnn {
namespace {

// Cuts a spec off behind one of its values. Values have the indices of SpecShapes: 0 is "x".
class Cut {
 public:
  Cut(const ModelSpec& spec, const SpecShapes& shapes, int64_t num_classes)
      : spec_(spec), shapes_(shapes), num_classes_(num_classes) {}

  // Returns the index of the value that `name` names, or kInvalidArgument.
  Result<size_t> Find(std::string_view name) const {
    int layer = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
    const bool number = error == std::errc() && end == name.data() + name.size();
    if (number && (layer < 1 || layer > shapes_.layers)) {
      return Status::InvalidArgument(
          fmt::format("--embeddings {}: model '{}' has layers 1 to {}", name, spec_.name, shapes_.layers));
    }
    size_t value_index = 0;
    if (number) {
      value_index = layer < shapes_.layers ? EndOf(layer) : BeforeTheHead();
      if (value_index == 0) {
        return Status::InvalidArgument(fmt::format(
            "--embeddings {}: the last layer of model '{}' gives the logits, with no head behind it: say --logits, or "
            "--embeddings with a lower layer or a value that `hone-gnn models` lists",
            name, spec_.name));
      }
    } else {
      std::vector<std::string> names;
      for (const ValueSpec& value : spec_.values) names.push_back(value.name);
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) {
        return Status::InvalidArgument(fmt::format("--embeddings {}: model '{}' has no such value{}; it has {}", name,
                                                   spec_.name, DidYouMean(std::string(name), names),
                                                   fmt::join(names, ", ")));
      }
      value_index = static_cast<size_t>(at - names.begin()) + 1;
    }
    value_index = WithoutDrops(value_index);
    if (value_index + 1 == shapes_.hop.size()) {
      return Status::InvalidArgument(
          fmt::format("--embeddings {}: these are the logits of model '{}'; say --logits", name, spec_.name));
    }
    if (!DependsOnNeighbors(value_index)) {
      return Status::InvalidArgument(fmt::format(
          "--embeddings {}: in model '{}' it depends on a node's own features alone; choose a layer, from 1 to {}, or "
          "a value behind an aggregate or an attention",
          name, spec_.name, shapes_.layers));
    }
    return value_index;
  }

  // Returns the spec of value `last` and what it depends on, without dropouts.
  ModelSpec Take(size_t last) const {
    std::vector<bool> is_wanted(shapes_.hop.size(), false);
    is_wanted[last] = true;
    for (size_t v = last; v > 0; --v) {
      for (size_t i = 0; is_wanted[v] && i < shapes_.operands[v].size(); ++i) is_wanted[Operand(v, i)] = true;
    }
    ModelSpec out;
    out.name = spec_.name;
    for (size_t v = 1; v <= last; ++v) {
      if (!is_wanted[v]) continue;
      ValueSpec value = Value(v);
      for (size_t i = 0; i < value.of.size(); ++i) value.of[i] = NameOf(Operand(v, i));
      value.stream = -1;  // initial weights are overwritten
      // The number of classes is a number here: "classes" would mean the columns of the last value.
      if (auto* linear = std::get_if<LinearSpec>(&value.operation)) Resolve(linear->width);
      if (auto* attention = std::get_if<AttentionSpec>(&value.operation)) Resolve(attention->width);
      if (auto* own = std::get_if<OwnSpec>(&value.operation)) Resolve(own->width);
      out.values.push_back(std::move(value));
    }
    return out;
  }

 private:
  void Resolve(int64_t& width) const {
    if (width == kClassWidth) width = num_classes_;
  }
  const ValueSpec& Value(size_t v) const { return spec_.values[v - 1]; }
  std::string NameOf(size_t v) const { return v == 0 ? std::string(kSpecInput) : Value(v).name; }
  // Returns operand i of value v, or what that was before its dropouts.
  size_t Operand(size_t v, size_t i) const { return WithoutDrops(static_cast<size_t>(shapes_.operands[v][i])); }
  size_t WithoutDrops(size_t v) const {
    while (v > 0 && std::holds_alternative<DropSpec>(Value(v).operation)) {
      v = static_cast<size_t>(shapes_.operands[v][0]);
    }
    return v;
  }
  // Returns the last value that is computed on the layer's rows. A linear map behind an activation there narrows rows
  // for the next layer's neighbors, and belongs to that layer.
  size_t EndOf(int layer) const {
    const int hop = shapes_.layers - layer;
    size_t v = shapes_.hop.size() - 1;
    while (shapes_.hop[v] != hop) --v;
    while (std::holds_alternative<LinearSpec>(Value(v).operation)) {
      const size_t before = Operand(v, 0);
      if (before == 0 || shapes_.hop[before] != hop || !std::holds_alternative<ActivateSpec>(Value(before).operation)) {
        break;
      }
      v = before;
    }
    return v;
  }
  // Returns what the last linear or head reads, if its operand has the seeds' rows too; otherwise 0.
  size_t BeforeTheHead() const {
    const size_t last = shapes_.hop.size() - 1;
    const bool maps = std::holds_alternative<HeadSpec>(Value(last).operation) ||
                      std::holds_alternative<LinearSpec>(Value(last).operation);
    const auto operand = static_cast<size_t>(shapes_.operands[last][0]);
    return maps && shapes_.hop[operand] == 0 ? operand : 0;
  }
  // Returns whether value `last` depends on rows of neighbors.
  bool DependsOnNeighbors(size_t last) const {
    std::vector<bool> depends(last + 1, false);
    for (size_t v = 1; v <= last; ++v) {
      depends[v] = ReadsNeighbors(Value(v).operation);
      for (const int operand : shapes_.operands[v]) depends[v] = depends[v] || depends[static_cast<size_t>(operand)];
    }
    return depends[last];
  }

  const ModelSpec& spec_;
  const SpecShapes& shapes_;
  const int64_t num_classes_;
};

}  // namespace

Result<EmbeddingModel> MakeEmbeddingModel(Model<float>& model, std::string_view name) {
  const ModelOptions& options = model.options();
  ModelSpec spec;
  if (options.spec != nullptr) {
    spec = *options.spec;
  } else {
    HONE_ASSIGN_OR_RETURN(spec, PublishedSpec(options));
  }
  HONE_ASSIGN_OR_RETURN(const SpecShapes shapes, CheckModelSpec(spec, options.in_width, options.num_classes));
  const Cut cut(spec, shapes, options.num_classes);
  HONE_ASSIGN_OR_RETURN(const size_t last, cut.Find(name));
  auto part = std::make_shared<const ModelSpec>(cut.Take(last));
  HONE_ASSIGN_OR_RETURN(const int layers, LayersOf(*part));
  EmbeddingModel embedding_model;
  embedding_model.value = spec.values[last - 1].name;
  ModelOptions shape = SpecOptions(std::move(part), layers);
  shape.in_width = options.in_width;
  shape.num_classes = shapes.width[last];
  shape.edge_width = options.edge_width;
  shape.seed = options.seed;
  HONE_ASSIGN_OR_RETURN(embedding_model.model, MakeModel(shape));
  std::map<std::string_view, const Parameter<float>*> weights;
  for (const Parameter<float>* parameter : model.parameters()) weights[parameter->name] = parameter;
  for (Parameter<float>* parameter : embedding_model.model->parameters()) {
    const auto found = weights.find(parameter->name);
    if (found == weights.end() || found->second->value.size() != parameter->value.size()) {
      return Status::InvalidArgument(fmt::format(
          "--embeddings: model '{}' is a stack of the program's own layers, of which no value has a name", spec.name));
    }
    parameter->value = found->second->value;
  }
  return embedding_model;
}

}  // namespace hone::gnn
