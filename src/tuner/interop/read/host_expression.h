// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a plan's expressions as C++ text, for generated host code.
//
// The grammar of expressions is a subset of C's, with C's precedences, so the text is copied as it is, except for names
// and for calls of the plan's own functions. Values are of the generated header's class Int
// (header_support.h), whose arithmetic detects overflow and division by zero as the evaluator's does.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/expression.h"

namespace hone {

struct HostNames {
  std::map<std::string, std::string> names;  // plan name -> C++ text; names not listed stay as they are
  // returns C++ text for a call of the plan's functions align(x), stride(x, i) or occupancy(k)
  std::function<Result<std::string>(std::string_view function, const std::vector<std::string>& arguments)> call;
};

// Returns `text` as C++. It must be an expression that Expression::Parse accepts, with tunables already replaced by
// their values. Fails only as `names.call` does.
Result<std::string> HostExpression(std::string_view text, const HostNames& names);

// Returns a C++ identifier for a task's name: keywords and names in `taken_names` get a trailing underscore.
std::string HostIdentifier(std::string_view name, const std::vector<std::string>& taken_names = {});

}  // namespace hone
