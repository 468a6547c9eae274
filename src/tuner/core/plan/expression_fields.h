// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads fields of a TOML table that hold expressions, with the conventions of TableReader's own accessors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/text/toml_document.h"
#include "hone/tuner/expression.h"

namespace hone {

// Returns the expression in a string or an integer; nullopt if the field is absent, or after an error.
std::optional<Expression> TakeExpression(TableReader& reader, std::string_view key);
// Returns the expressions in an array of strings and integers; a single value counts as an array of one.
std::optional<std::vector<Expression>> TakeExpressions(TableReader& reader, std::string_view key);

}  // namespace hone
