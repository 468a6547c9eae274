// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fields of a TOML table that hold expressions. They are taken as TableReader's own accessors take fields.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/toml_document.h"
#include "hone/tuner/expression.h"

namespace hone {

// A string or an integer.
std::optional<Expression> TakeExpression(TableReader& reader, std::string_view key);
// An array of strings and integers; a bare one counts as an array of one.
std::optional<std::vector<Expression>> TakeExpressions(TableReader& reader, std::string_view key);

}  // namespace hone
