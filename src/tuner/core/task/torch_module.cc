// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/task/torch_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/values/float_bits.h"

namespace hone {
namespace {

constexpr std::string_view kTable = "reference";

// Returns a number as Python and JSON write it.
std::string FloatText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // keeps a whole number a float
  return text;
}

std::string NumberText(const TomlNode& node) {
  if (node.kind == TomlNode::Kind::kBoolean) return node.boolean ? "true" : "false";
  if (node.kind == TomlNode::Kind::kInteger) return std::to_string(node.integer);
  return FloatText(node.number);
}

// Reads a table of names, such as [reference.state], as pairs of key and value.
std::vector<std::pair<std::string, std::string>> ReadNames(TableReader& fields, std::string_view key, TomlErrors& errors) {
  std::vector<std::pair<std::string, std::string>> names;
  const TomlNode* table = fields.Table(key);
  if (table == nullptr) return names;
  TableReader reader(*table, fmt::format("[{}.{}]", kTable, key), errors);
  for (const auto& [name, node] : table->entries) {
    if (const std::optional<std::string> other = reader.String(name)) names.emplace_back(name, *other);
  }
  return names;
}

// Reads the table that makes a task's oracle a PyTorch module.
TorchModule ReadFields(TableReader& fields, TomlErrors& errors) {
  TorchModule module;
  (void)fields.Take("kind");
  module.class_name = fields.String("class").value_or(module.class_name);
  module.definition = fields.String("definition").value_or("");
  if (!IsIdentifier(module.class_name)) fields.Error("class", fmt::format("'{}' is no name of a class", module.class_name));
  module.training = fields.Word("mode", {"train", "eval"}).value_or("train") == "train";
  if (const TomlNode* inputs = fields.Take("inputs")) {
    if (inputs->kind != TomlNode::Kind::kArray) fields.Error("inputs", "expected an array of names of tensors and scalars, and numbers");
    for (const TomlNode& item : inputs->items) {
      if (item.kind == TomlNode::Kind::kString) {
        module.inputs.push_back({item.string, ""});
      } else if (item.kind == TomlNode::Kind::kInteger || item.kind == TomlNode::Kind::kFloat || item.kind == TomlNode::Kind::kBoolean) {
        module.inputs.push_back({"", NumberText(item)});
      } else {
        fields.Error("inputs", "expected names of tensors and scalars, and numbers");
      }
    }
  } else {
    fields.Missing("inputs", "the tensors that forward takes, in order: inputs = [\"x\"]");
  }
  if (std::optional<std::vector<std::string>> outputs = fields.Strings("outputs")) {
    module.outputs = std::move(*outputs);
  } else if (!fields.Has("outputs")) {
    fields.Missing("outputs", "the tensors that forward returns, in order: outputs = [\"out\"]");
  }
  if (const TomlNode* board = fields.Table("board")) {
    TableReader reader(*board, "[reference.board]", errors);
    if (std::optional<std::string> problem = reader.String("problem")) module.board.problem = std::move(*problem);
    module.board.inputs = reader.Integer("inputs").value_or(0);
    for (const auto& [key, into] : {std::pair{"leaves", &module.board.leaves}, {"filled", &module.board.filled}}) {
      const TomlNode* numbers = reader.Take(key);
      for (const TomlNode& node : numbers == nullptr ? std::vector<TomlNode>() : numbers->items) {
        if (node.kind != TomlNode::Kind::kInteger || node.integer < 0 || node.integer >= module.board.inputs)
          reader.Error(key, "expected numbers of parts, from 0 to below `inputs`");
        else
          into->push_back(node.integer);
      }
    }
    module.board.licence = reader.String("licence").value_or("");
    module.board.accepted = reader.Boolean("accepted").value_or(false);
    reader.Finish();
  }
  module.booleans = fields.Strings("booleans").value_or(std::vector<std::string>());
  module.state = ReadNames(fields, "state", errors);
  module.sizes = ReadNames(fields, "sizes", errors);
  fields.Finish();
  return module;
}

// Returns the table's node in a task's text, or null.
const TomlNode* FindTable(const TomlNode& root) {
  const TomlNode* table = root.Find(kTable);
  return table != nullptr && table->kind == TomlNode::Kind::kTable ? table : nullptr;
}

}  // namespace

bool HasTorchModule(const Task& task) {
  // Most tasks have no such table. Do not parse their text, because this is called for the check of every launch.
  if (task.toml.find(kTable) == std::string::npos) return false;
  const Result<TomlNode> root = ParseToml(task.toml, "task.toml");
  if (!root.ok()) return false;
  const TomlNode* table = FindTable(*root);
  const TomlNode* kind = table == nullptr ? nullptr : table->Find("kind");
  return kind != nullptr && kind->string == "torch";
}

TorchModule TorchModuleOf(const Task& task) {
  const Result<TomlNode> root = ParseToml(task.toml, "task.toml");
  HONE_CHECK(root.ok() && FindTable(*root) != nullptr, "TorchModuleOf a task without [reference]");
  TomlErrors errors("task.toml");
  TableReader fields(*FindTable(*root), "[reference]", errors);
  TorchModule module = ReadFields(fields, errors);
  module.named_inputs = module.inputs;
  for (TorchModule::Input& input : module.inputs) {
    const ScalarSpec* scalar = input.tensor.empty() ? nullptr : task.FindScalar(input.tensor);
    if (scalar == nullptr) continue;
    input = {"", FloatText(RoundedTo(scalar->dtype, scalar->value))};
  }
  return module;
}

bool IsBoolean(const TorchModule& module, std::string_view tensor) {
  return std::find(module.booleans.begin(), module.booleans.end(), tensor) != module.booleans.end();
}

bool IsOwnModule(const Task& task, std::string_view source) {
  return !source.empty() && source == task.oracle_source && HasTorchModule(task);
}

std::string_view AnswerFile(const Task& task) { return HasTorchModule(task) ? "reference.py" : "oracle.cu"; }

std::string AnswerForModels(const Task& task) {
  if (!HasTorchModule(task)) return task.oracle_source;
  const TorchModule::Board board = TorchModuleOf(task).board;
  if ((board.problem.empty() && board.licence.empty()) || board.accepted) return task.oracle_source;
  return fmt::format(
      "# The reference of this task is a problem's own file, under {}, which nobody has accepted here: its text is not shown.\n"
      "# hone new --accept-licence accepts it; the tensors and the tolerance of the task say what is asked.\n",
      board.licence.empty() ? "a licence that was not found" : "the " + board.licence);
}

void ReadTorchModule(TableReader& reader, const Task& task, TomlErrors& errors) {
  const TomlNode* table = reader.Table(kTable);
  if (table == nullptr) return;
  TableReader fields(*table, "[reference]", errors);
  if (!fields.Has("kind")) fields.Missing("kind", "\"cuda\" (oracle.cu, as without this table) or \"torch\" (reference.py)");
  const std::optional<std::string> kind = fields.Word("kind", {"cuda", "torch"});
  if (kind != "torch") return fields.Finish();
  const TorchModule module = ReadFields(fields, errors);
  if (!errors.ok()) return;

  std::set<std::string> input_tensors, output_tensors;
  const auto take = [&](std::string_view key, const std::string& name, bool output, std::set<std::string>& names) {
    const TensorSpec* tensor = task.FindTensor(name);
    if (tensor == nullptr) {
      fields.Error(key, fmt::format("'{}' is not a tensor of the task", name));
    } else if (output != (tensor->role == TensorRole::kOut)) {
      fields.Error(key, fmt::format("'{}' has the role \"{}\"", name, TensorRoleName(tensor->role)));
    } else if (!names.insert(name).second) {
      fields.Error(key, fmt::format("'{}' stands here twice", name));
    } else if (!tensor->strides.empty() || !tensor->alias.empty()) {
      fields.Error(key, fmt::format("'{}' has strides or an alias, and a module's tensors are dense and their own", name));
    } else if (output && IsPacked(tensor->dtype)) {
      fields.Error(key, fmt::format("'{}' is packed ({}), and a module returns each number by itself: write oracle.cu, or give the result a byte "
                                    "for each number",
                                    name, DTypeName(tensor->dtype)));
    }
  };
  for (const TorchModule::Input& input : module.inputs) {
    if (task.FindScalar(input.tensor) != nullptr) {
      if (!input_tensors.insert(input.tensor).second)
        fields.Error("inputs", fmt::format("'{}' stands here twice", input.tensor));
    } else if (!input.tensor.empty()) {
      take("inputs", input.tensor, /*output=*/false, input_tensors);
    }
  }
  for (const auto& [tensor, name] : module.state) take("state", tensor, /*output=*/false, input_tensors);
  for (const std::string& output : module.outputs) take("outputs", output, /*output=*/true, output_tensors);
  for (const TensorSpec& tensor : task.tensors) {
    const bool is_known_tensor =
        tensor.role == TensorRole::kOut ? output_tensors.contains(tensor.name) : input_tensors.contains(tensor.name);
    if (!is_known_tensor)
      fields.Error("", fmt::format("tensor '{}' is neither among inputs and state nor among outputs", tensor.name));
  }
  for (const std::string& name : module.booleans) {
    const TensorSpec* tensor = task.FindTensor(name);
    if (tensor == nullptr || tensor->dtype != DType::kUInt8) {
      fields.Error("booleans", fmt::format("'{}' is no tensor of uint8: a boolean is a byte of 0 or 1", name));
    }
  }
  for (const auto& [dim, name] : module.sizes) {
    const bool is_dimension =
        std::any_of(task.dims.begin(), task.dims.end(), [&dim = dim](const auto& one) { return one.first == dim; });
    if (!is_dimension) fields.Error("sizes", fmt::format("'{}' is not a dimension", dim));
  }
  for (const ScalarSpec& scalar : task.scalars) {
    if (!input_tensors.contains(scalar.name))
      fields.Error("", fmt::format("scalar '{}' is not among inputs", scalar.name));
  }
}

}  // namespace hone
