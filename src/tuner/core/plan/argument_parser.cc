// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/plan/argument_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/toml_document.h"
#include "tuner/core/task/property.h"

namespace hone {

namespace {

constexpr size_t kMaxArgumentBytes = 4096;  // same limit as for an expression

std::string_view Trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the text after the last ':' if it is an identifier, which is a type unless the text is a conditional (c ? a :
// b).
std::string_view TypeSuffix(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view suffix = Trim(text.substr(colon + 1));
  return IsIdentifier(suffix) ? suffix : std::string_view{};
}

constexpr std::string_view kIntegerTypes[] = {"i32", "u32", "i64", "u64", "bool"};
constexpr std::string_view kScalarTypes[] = {"f32", "f64", "f16", "bf16"};

template <size_t n>
bool IsOneOf(std::string_view text, const std::string_view (&words)[n]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

std::vector<std::string> ScalarNames(const Task& task) {
  std::vector<std::string> names;
  for (const ScalarSpec& scalar : task.scalars) names.push_back(scalar.name);
  return names;
}

// Parses a pointer argument: a tensor or workspace, with an optional offset.
Result<Argument> ParsePointer(std::string_view text, const ArgumentNames& names) {
  Argument argument;
  size_t end = 0;
  while (end < text.size() && IsIdentifier(text.substr(0, end + 1))) ++end;
  argument.name = std::string(text.substr(0, end));
  const std::string_view suffix = Trim(text.substr(end));
  const Task& task = *names.task;
  if (task.FindTensor(argument.name) != nullptr) {
    argument.kind = ArgumentKind::kTensor;
    // In a task with properties, an oracle may read outputs, which the candidate has written.
    if (names.is_oracle && task.FindTensor(argument.name)->role == TensorRole::kOut && PropertiesOf(task).empty()) {
      return Status::InvalidArgument(
          fmt::format("an oracle does not touch the output '{0}'; it writes doubles to "
                      "'ref:{0}'",
                      argument.name));
    }
  } else if (Contains(names.workspaces, argument.name)) {
    argument.kind = ArgumentKind::kWorkspace;
  } else if (task.FindScalar(argument.name) != nullptr && suffix.empty()) {
    return Status::InvalidArgument(fmt::format("the scalar '{0}' needs a type, such as '{0}:f32'", argument.name));
  } else if (std::any_of(task.dims.begin(), task.dims.end(),
                         [&](const auto& dim) { return dim.first == argument.name; }) ||
             argument.name.empty()) {
    return Status::InvalidArgument(
        fmt::format("'{0}' is an integer and needs a type: '{0}:i32' (or u32, i64, u64, bool)", text));
  } else {
    std::vector<std::string> known_names = names.workspaces;
    for (const TensorSpec& tensor : task.tensors) known_names.push_back(tensor.name);
    return Status::InvalidArgument(fmt::format(
        "'{}' is not a tensor or workspace{}; there {} {}; an integer expression needs a type, such as '{}:i32'",
        argument.name, argument.name.size() > 1 ? Suggestion(argument.name, known_names) : "",
        known_names.size() == 1 ? "is" : "are", fmt::join(known_names, ", "), text));
  }
  if (suffix.empty()) return argument;
  if (suffix.front() != '+') {
    return Status::InvalidArgument(fmt::format("expected '{0}' or '{0} + OFFSET', found '{1}'", argument.name, text));
  }
  Result<Expression> offset = Expression::Parse(suffix.substr(1));
  if (!offset.ok()) return offset.status();
  argument.offset = std::move(offset).value();
  return argument;
}

// Parses "struct:TypeName{FIELD, FIELD}", without the prefix "struct:".
Result<Argument> ParseStruct(std::string_view text, const ArgumentNames& names) {
  const size_t open = text.find('{');
  if (open == std::string_view::npos || text.back() != '}') {
    return Status::InvalidArgument("a struct is written 'struct:TypeName{FIELD, FIELD, …}'");
  }
  Argument argument;
  argument.kind = ArgumentKind::kStruct;
  argument.type = std::string(Trim(text.substr(0, open)));
  const bool plausible =
      !argument.type.empty() && IsIdentifier(argument.type.substr(0, 1)) &&
      std::all_of(argument.type.begin(), argument.type.end(), [](char c) {
        return IsIdentifier(std::string("a") + c) || c == ':' || c == '<' || c == '>' || c == ',' || c == ' ';
      });
  if (!plausible) {
    return Status::InvalidArgument(fmt::format("'{}' is not the name of a C++ type", argument.type));
  }
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= inside.size(); ++i) {
    const char c = i < inside.size() ? inside[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == '{') return Status::InvalidArgument("structs do not nest; write the fields of the inner one in its place");
    if (c != ',' || (depth > 0 && i < inside.size())) continue;
    const std::string_view field = Trim(inside.substr(start, i - start));
    start = i + 1;
    if (field.empty()) return Status::InvalidArgument("a field of the struct is empty");
    Result<Argument> parsed = ParseArgument(field, names);
    if (!parsed.ok()) return parsed.status();
    if (parsed->kind == ArgumentKind::kTensorMap || parsed->kind == ArgumentKind::kStruct) {
      return Status::InvalidArgument("a struct holds tensors, workspaces, integers and scalars only");
    }
    argument.fields.push_back(std::move(parsed).value());
  }
  return argument;
}

}  // namespace

Result<Argument> ParseArgument(std::string_view text, const ArgumentNames& names) {
  text = Trim(text);
  if (text.empty()) return Status::InvalidArgument("the argument is empty");
  if (text.size() > kMaxArgumentBytes) {
    return Status::InvalidArgument(fmt::format("the argument has {} bytes; at most {} are read", text.size(), kMaxArgumentBytes));
  }
  const auto after = [&](std::string_view prefix) -> std::optional<std::string_view> {
    if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
    return Trim(text.substr(prefix.size()));
  };
  Argument argument;
  if (const auto name = after("tensormap:")) {
    argument.kind = ArgumentKind::kTensorMap;
    argument.name = std::string(*name);
    if (!Contains(names.tensor_maps, *name)) {
      return Status::InvalidArgument(
          fmt::format("'{}' is not the name of a [[tensor_map]]{}", *name, Suggestion(*name, names.tensor_maps)));
    }
    return argument;
  }
  if (const auto name = after("ref:")) {
    argument.kind = ArgumentKind::kReference;
    argument.name = std::string(*name);
    if (!names.is_oracle) return Status::InvalidArgument("only an oracle has 'ref:' arguments; pass the tensor itself");
    const TensorSpec* tensor = names.task->FindTensor(*name);
    if (tensor == nullptr) {
      const std::vector<Property> properties = PropertiesOf(*names.task);
      if (std::any_of(properties.begin(), properties.end(), [&](const Property& property) { return property.name == *name; })) return argument;
    }
    if (tensor == nullptr || tensor->role == TensorRole::kIn) {
      return Status::InvalidArgument(fmt::format("'{}' is not a tensor with role \"out\" or \"inout\", and no [[property]]", *name));
    }
    if (!names.task->tolerance.contains(tensor->name)) {
      return Status::InvalidArgument(fmt::format("'{0}' has no [tolerance.{0}], so there is no one right answer to write: pass '{0}' itself, to be looked at", *name));
    }
    return argument;
  }
  if (const auto body = after("struct:")) return ParseStruct(*body, names);

  const std::string_view type = TypeSuffix(text);
  const std::string_view value = type.empty() ? text : Trim(text.substr(0, text.rfind(':')));
  if (IsOneOf(type, kScalarTypes)) {
    argument.kind = ArgumentKind::kScalar;
    argument.name = std::string(value);
    argument.type = std::string(type);
    if (names.task->FindScalar(value) == nullptr) {
      return Status::InvalidArgument(
          fmt::format("'{}' is not a scalar of the task{}; expressions are integers and take "
                      "i32, u32, i64, u64 or bool",
                      value, Suggestion(value, ScalarNames(*names.task))));
    }
    return argument;
  }
  if (IsOneOf(type, kIntegerTypes)) {
    argument.kind = ArgumentKind::kInteger;
    argument.type = std::string(type);
    Result<Expression> parsed = Expression::Parse(value);
    if (!parsed.ok()) return parsed.status();
    argument.value = std::move(parsed).value();
    return argument;
  }
  if (!type.empty() && text.find('?') == std::string_view::npos) {
    return Status::InvalidArgument(
        fmt::format("'{}' is not a type; integers take i32, u32, i64, u64, bool, and scalars "
                    "f32, f64, f16, bf16",
                    type));
  }
  return ParsePointer(text, names);
}

std::vector<const Expression*> ExpressionsOf(const Argument& argument) {
  std::vector<const Expression*> expressions;
  if (argument.value) expressions.push_back(&*argument.value);
  if (argument.offset) expressions.push_back(&*argument.offset);
  for (const Argument& field : argument.fields) {
    for (const Expression* expression : ExpressionsOf(field)) expressions.push_back(expression);
  }
  return expressions;
}

}  // namespace hone
