// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/plan/expression_fields.h"

#include <utility>

namespace hone {
namespace {

// Returns a TOML value as an expression: an integer, or a string to be parsed. nullopt: the error is in the reader.
std::optional<Expression> ToExpression(TableReader& reader, std::string_view key, const TomlNode& node) {
  if (node.kind == TomlNode::Kind::kInteger) return Expression::Constant(node.integer);
  if (node.kind != TomlNode::Kind::kString) {
    reader.WrongKind(key, node, "an integer or an expression in a string");
    return std::nullopt;
  }
  Result<Expression> parsed = Expression::Parse(node.string);
  if (!parsed.ok()) {
    reader.Error(key, parsed.status().message());
    return std::nullopt;
  }
  return std::move(parsed).value();
}

}  // namespace

std::optional<Expression> TakeExpression(TableReader& reader, std::string_view key) {
  const TomlNode* node = reader.Take(key);
  return node == nullptr ? std::nullopt : ToExpression(reader, key, *node);
}

std::optional<std::vector<Expression>> TakeExpressions(TableReader& reader, std::string_view key) {
  const TomlNode* node = reader.Take(key);
  if (node == nullptr) return std::nullopt;
  std::vector<Expression> result;
  if (node->kind == TomlNode::Kind::kArray) {
    for (const TomlNode& item : node->items) {
      std::optional<Expression> expression = ToExpression(reader, key, item);
      if (!expression) return std::nullopt;
      result.push_back(std::move(*expression));
    }
    return result;
  }
  std::optional<Expression> expression = ToExpression(reader, key, *node);
  if (!expression) return std::nullopt;
  result.push_back(std::move(*expression));
  return result;
}

}  // namespace hone
