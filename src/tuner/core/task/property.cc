// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/task/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tuner/core/plan/reserved_names.h"

namespace hone {
namespace {

constexpr std::string_view kProperty = "property", kExample = "example";

// Appends the numbers of a possibly nested array to `values`, in row-major order. Returns false for anything else.
bool Flatten(const TomlNode& node, std::vector<double>& values) {
  if (node.kind == TomlNode::Kind::kInteger || node.kind == TomlNode::Kind::kFloat) {
    values.push_back(node.number);
    return true;
  }
  return node.kind == TomlNode::Kind::kArray &&
         std::all_of(node.items.begin(), node.items.end(), [&](const TomlNode& item) { return Flatten(item, values); });
}

// Reads one table [[property]], and reports its errors through `fields`.
Property ReadProperty(TableReader& fields) {
  Property property;
  property.name = fields.RequiredString("name");
  property.summary = fields.String("summary").value_or("");
  if (std::optional<std::vector<std::string>> shape = fields.Strings("shape")) {
    for (const std::string& extent : *shape) {
      Result<Expression> parsed = Expression::Parse(extent);
      if (parsed.ok()) {
        property.shape.push_back(*std::move(parsed));
      } else {
        fields.Error("shape", parsed.status().message());
      }
    }
  } else if (!fields.Has("shape")) {
    fields.Missing("shape", "the residuals that the oracle writes: shape = [\"rows\"]");
  }
  const std::optional<double> bound = fields.Number("bound");
  if (!fields.Has("bound")) fields.Missing("bound", "the largest residual that is right");
  if (bound && !(*bound >= 0 && std::isfinite(*bound))) fields.Error("bound", "must be a finite number, zero or more");
  property.bound = bound.value_or(0);
  fields.Finish();
  return property;
}

// Reads the inputs or outputs (`key`) of one [[example]] into `example`.
void ReadValues(TableReader& fields, std::string_view key, const Task& task, PropertyExample& example,
                TomlErrors& errors) {
  const TomlNode* table = fields.Table(key);
  if (table == nullptr) {
    fields.Missing(key, fmt::format("{}.NAME = [...] for each tensor", key));
    return;
  }
  const bool inputs = key == "inputs";
  TableReader reader(*table, fmt::format("{} {}", fields.context(), key), errors);
  for (const TensorSpec& tensor : task.tensors) {
    if (inputs != (tensor.role == TensorRole::kIn)) continue;
    const TomlNode* node = reader.Take(tensor.name);
    if (node == nullptr) {
      fields.Error(key, fmt::format("'{}.{}' is missing", key, tensor.name));
      continue;
    }
    std::vector<double>& values = (inputs ? example.inputs : example.outputs)[tensor.name];
    const Result<TensorShape> shape = ResolveShape(tensor, example.dims);
    if (!Flatten(*node, values)) {
      reader.Error(tensor.name, "expected an array of numbers");
    } else if (shape.ok() && static_cast<int64_t>(values.size()) != shape->elements) {
      reader.Error(tensor.name, fmt::format("has {} numbers where the shape holds {}", values.size(), shape->elements));
    }
  }
  reader.Finish();
}

// Reads one [[example]]: tensors for which the properties must hold, or one must fail.
PropertyExample ReadExample(TableReader& fields, const Task& task, TomlErrors& errors) {
  PropertyExample example;
  if (const std::optional<bool> holds = fields.Boolean("holds")) {
    example.holds = *holds;
  } else if (!fields.Has("holds")) {
    fields.Missing("holds", "true where every property must hold, false where one must fail");
  }
  if (const TomlNode* table = fields.Table("dims")) {
    TableReader dims(*table, fields.context() + " dims", errors);
    for (const auto& [name, description] : task.dims) {
      const std::optional<int64_t> size = dims.Integer(name);
      if (!dims.Has(name)) dims.Missing(name, "an example gives every dimension a size");
      if (size && *size < 0) dims.Error(name, "must not be negative");
      example.dims[name] = std::max<int64_t>(size.value_or(0), 0);
    }
    dims.Finish();
  } else {
    fields.Missing("dims", "such as dims = { rows = 1, d = 4 }");
    return example;
  }
  ReadValues(fields, "inputs", task, example, errors);
  ReadValues(fields, "outputs", task, example, errors);
  fields.Finish();
  return example;
}

// Returns what `read_table` makes of each table `key` in the text of a task that ParseTask has accepted.
template <typename Read>
auto ReadAgain(const Task& task, std::string_view key, Read read_table) {
  std::vector<decltype(read_table(std::declval<TableReader&>(), std::declval<TomlErrors&>()))> found;
  // Most tasks have no such table. Do not parse their text, because this is called for the check of every launch.
  if (task.toml.find(key) == std::string::npos) return found;
  const Result<TomlNode> root = ParseToml(task.toml, "task.toml");
  if (!root.ok()) return found;
  TomlErrors errors("task.toml");
  TableReader reader(*root, "", errors);
  if (reader.Has(key)) {
    for (const TomlNode* table : reader.Tables(key)) {
      TableReader fields(*table, std::string(key), errors);
      found.push_back(read_table(fields, errors));
    }
  }
  return found;
}

}  // namespace

std::vector<Property> PropertiesOf(const Task& task) {
  return ReadAgain(task, kProperty, [](TableReader& fields, TomlErrors&) { return ReadProperty(fields); });
}

std::vector<PropertyExample> ExamplesOf(const Task& task) {
  return ReadAgain(task, kExample,
                   [&](TableReader& fields, TomlErrors& errors) { return ReadExample(fields, task, errors); });
}

TensorSpec ResidualsOf(const Property& property) {
  TensorSpec tensor;
  tensor.name = property.name;
  tensor.role = TensorRole::kOut;
  tensor.dtype = DType::kFloat64;
  tensor.shape = property.shape;
  return tensor;
}

void ReadProperties(TableReader& reader, const Task& task, TomlErrors& errors) {
  std::set<std::string> names;
  const std::vector<const TomlNode*> tables = reader.Tables(kProperty);
  for (size_t i = 0; i < tables.size(); ++i) {
    TableReader fields(*tables[i], fmt::format("[[property]] #{}", i + 1), errors);
    const Property property = ReadProperty(fields);
    const bool dim =
        std::any_of(task.dims.begin(), task.dims.end(), [&](const auto& one) { return one.first == property.name; });
    if (!IsIdentifier(property.name) || IsReservedName(property.name)) {
      fields.Error("name", fmt::format("'{}' is no identifier of its own", property.name));
    } else if (dim || task.FindTensor(property.name) != nullptr || task.FindScalar(property.name) != nullptr ||
               !names.insert(property.name).second) {
      fields.Error("name", fmt::format("'{}' is the name of something else", property.name));
    }
    for (const Case& task_case : task.cases) {
      const Result<TensorShape> shape = ResolveShape(ResidualsOf(property), task_case.dims);
      if (shape.ok()) continue;
      fields.Error("shape", shape.status().message());
      break;
    }
  }
  if (!tables.empty()) {
    if (const TomlNode* reference = reader.Table("reference");
        reference != nullptr && reference->Find("kind") != nullptr && reference->Find("kind")->string == "torch") {
      reader.Error(kProperty,
                   "residuals are written by oracle.cu, and this task has a PyTorch module: leave one of the two out");
    }
    for (const TensorSpec& tensor : task.tensors) {
      if (tensor.role == TensorRole::kInOut || !tensor.alias.empty()) {
        reader.Error(kProperty, fmt::format("'{}' is updated in place, and properties look at inputs and outputs that "
                                            "are apart: give it the role \"out\"",
                                            tensor.name));
      }
    }
  }
  const std::vector<const TomlNode*> examples = reader.Tables(kExample);
  if (!examples.empty() && tables.empty())
    reader.Error(kExample, "says of which outputs the properties hold, and there is no [[property]]");
  bool passes = false, fails = false;
  for (size_t i = 0; i < examples.size() && errors.ok(); ++i) {
    TableReader fields(*examples[i], fmt::format("[[example]] #{}", i + 1), errors);
    const PropertyExample example = ReadExample(fields, task, errors);
    passes = passes || example.holds;
    fails = fails || !example.holds;
  }
  if (!tables.empty() && errors.ok() && !(passes && fails)) {
    reader.Missing(kExample,
                   "properties are vouched for by outputs that must pass (holds = true) and outputs that must fail "
                   "(holds = false)");
  }
}

}  // namespace hone
