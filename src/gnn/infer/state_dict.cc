// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/state_dict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"

namespace hone::gnn {
namespace {

// Returns whether `name` is a counter that old files lack and that has no effect here. It is loaded if it is present.
bool IsCounter(std::string_view name) { return name.ends_with("num_batches_tracked"); }

bool IsWeight(std::string_view name) { return !name.starts_with(kOptimizerPrefix); }

// Returns "model." if every stored name starts with it and none of the model's does; else nothing.
std::string CommonPrefix(const std::vector<std::string_view>& stored,
                         const std::vector<Parameter<float>*>& wanted_parameters) {
  if (stored.empty() || wanted_parameters.empty()) return {};
  const size_t dot = stored[0].find('.');
  if (dot == std::string_view::npos) return {};
  const std::string prefix(stored[0].substr(0, dot + 1));
  for (std::string_view name : stored) {
    if (!name.starts_with(prefix)) return {};
  }
  for (const Parameter<float>* parameter : wanted_parameters) {
    if (parameter->name.starts_with(prefix)) return {};
  }
  return prefix;
}

// Returns a sentence about the spec of the file's checkpoint, if that differs from the model's; else nothing.
std::string AboutSpec(const TensorFile& file, std::string_view what, const ModelOptions& model) {
  const auto found = file.metadata.find(std::string(kModelKey));
  if (found == file.metadata.end()) return {};
  const Result<ModelOptions> stored = ModelOptionsFromJson(found->second, what);
  if (!stored.ok() || (stored->spec == nullptr && model.spec == nullptr)) return {};
  if (stored->spec == nullptr || model.spec == nullptr) {
    return fmt::format(". It is a checkpoint of model '{}', not of '{}'", ModelName(*stored), ModelName(model));
  }
  const std::string difference = SpecDifference(*stored->spec, *model.spec);
  if (difference.empty()) return {};
  return fmt::format(". It is a checkpoint of another spec, '{}', not of '{}'; first difference: {}",
                     stored->spec->name, model.spec->name, difference);
}

// Converts a name of PyTorch Geometric's stock models, "norms.0.module.weight", to ours, "bns.0.weight".
std::string OwnName(std::string name) {
  constexpr std::string_view kNorms = "norms.", kModule = ".module.";
  const size_t module = name.find(kModule, kNorms.size());
  if (!name.starts_with(kNorms) || module == std::string::npos) return name;
  return "bns." + name.substr(kNorms.size(), module - kNorms.size()) + "." + name.substr(module + kModule.size());
}

}  // namespace

void AppendParameters(Model<float>& model, std::vector<StoredTensor>& tensors) {
  for (const Parameter<float>* parameter : model.parameters()) {
    if (IsCounter(parameter->name)) {  // an integer in other programs, a float here
      const auto count = static_cast<int64_t>(parameter->value.at(0));
      tensors.push_back({parameter->name, "I64", parameter->shape,
                         std::string(reinterpret_cast<const char*>(&count), sizeof(count))});
      continue;
    }
    tensors.push_back(MakeFloatTensor(parameter->name, parameter->shape, parameter->value));
  }
}

Status LoadParameters(const TensorFile& file, std::string_view what, Model<float>& model) {
  const std::vector<Parameter<float>*> wanted_parameters = model.parameters();
  std::vector<std::string_view> names;
  for (const StoredTensor& tensor : file.tensors) {
    if (IsWeight(tensor.name)) names.push_back(tensor.name);
  }
  const std::string prefix = CommonPrefix(names, wanted_parameters);
  std::map<std::string, const StoredTensor*, std::less<>> stored;
  for (const StoredTensor& tensor : file.tensors) {
    if (IsWeight(tensor.name)) stored.emplace(OwnName(tensor.name.substr(prefix.size())), &tensor);
  }

  std::vector<std::vector<float>> values;
  for (const Parameter<float>* parameter : wanted_parameters) {
    const auto found = stored.find(parameter->name);
    if (found == stored.end() && IsCounter(parameter->name)) {
      values.push_back(parameter->value);
      continue;
    }
    if (found == stored.end()) {
      return Status::InvalidArgument(fmt::format(
          "{} has no tensor '{}', which this {} model of {} layers needs; it has: {}{}", what, parameter->name,
          ModelName(model.options()), model.options().layers,
          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), AboutSpec(file, what, model.options())));
    }
    if (found->second->shape != parameter->shape) {
      return Status::InvalidArgument(fmt::format(
          "{}: tensor '{}' is [{}], the model's is [{}]; do --model, --hidden, --layers and --heads and the "
          "graph fit the file?{}",
          what, parameter->name, fmt::join(found->second->shape, ", "), fmt::join(parameter->shape, ", "),
          AboutSpec(file, what, model.options())));
    }
    HONE_ASSIGN_OR_RETURN(std::vector<float> tensor_values, FloatValues(*found->second));
    values.push_back(std::move(tensor_values));
    stored.erase(found);
  }
  std::erase_if(stored, [](const auto& entry) { return IsCounter(entry.first); });
  if (!stored.empty()) {
    return Status::InvalidArgument(fmt::format("{} has tensor '{}', which this {} model of {} layers does not have{}",
                                               what, stored.begin()->first, ModelName(model.options()),
                                               model.options().layers, AboutSpec(file, what, model.options())));
  }
  for (size_t i = 0; i < wanted_parameters.size(); ++i) wanted_parameters[i]->value = std::move(values[i]);
  return Status::Ok();
}

void ReadStockModel(const TensorFile& file, ModelOptions& options) {
  if (options.kind != "sage" && options.kind != "gat") return;
  const std::string_view bias = options.kind == "sage" ? "convs.0.lin_l.bias" : "convs.0.bias";
  for (const StoredTensor& tensor : file.tensors) {
    if (tensor.name.ends_with(bias)) options.bias = true;
    if (options.norm.empty() && OwnName(tensor.name).ends_with("bns.0.running_mean")) options.norm = "batch";
  }
}

nlohmann::json ModelOptionsToJson(const ModelOptions& o) {
  nlohmann::json json = {{"kind", o.kind},
                         {"in_width", o.in_width},
                         {"hidden", o.hidden},
                         {"num_classes", o.num_classes},
                         {"layers", o.layers},
                         {"heads", o.heads},
                         {"aggregation", o.aggregation},
                         {"dropout", o.dropout},
                         {"activation", o.activation},
                         {"norm", o.norm},
                         {"negative_slope", o.negative_slope},
                         {"seed", SeedToJson(o.seed)}};
  if (o.bias) json["bias"] = true;                          // omitted when false, as in files from before this option
  if (o.edge_width > 0) json["edge_width"] = o.edge_width;  // omitted for models that read no edge features
  if (o.spec != nullptr) json["spec"] = ModelSpecText(*o.spec);
  return json;
}

Result<ModelOptions> ModelOptionsFromJson(std::string_view text, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, what));
  ModelOptions o;
  std::string spec;
  JsonFields fields(json, std::string(what));
  if (fields.ok()) {
    fields.Require("kind", o.kind);
    fields.Require("in_width", o.in_width);
    fields.Require("hidden", o.hidden);
    fields.Require("num_classes", o.num_classes);
    fields.Require("layers", o.layers);
    fields.Read("heads", o.heads);
    fields.Read("aggregation", o.aggregation);
    fields.Read("dropout", o.dropout);
    fields.Read("activation", o.activation);
    fields.Read("norm", o.norm);
    fields.Read("negative_slope", o.negative_slope);
    fields.Read("bias", o.bias);
    fields.Read("edge_width", o.edge_width);
    fields.Read("seed", o.seed);
    fields.Read("spec", spec);
  }
  HONE_RETURN_IF_ERROR(fields.status());
  if (spec.empty()) return o;
  HONE_ASSIGN_OR_RETURN(ModelSpec parsed, ParseModelSpec(spec, fmt::format("{}: spec", what)));
  o.spec = std::make_shared<const ModelSpec>(std::move(parsed));
  return o;
}

}  // namespace hone::gnn
