// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Small things that `hone new` does with words: types, literals, lists, names in expressions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

// "float" -> float32, "__half2" -> float16, "uint64_t" -> int64, for tasks have no wider unsigned type than uint32;
// nullopt for what is no element type.
std::optional<DType> ElementType(std::string_view type);
// "i32" for what an integer parameter is; empty: no integer.
std::string IntegerSuffix(std::string_view type);
// A TOML string, and an array of them.
std::string Quoted(std::string_view text);
std::string List(const std::vector<std::string>& items);
// In parentheses unless it is a single word.
std::string Wrapped(const std::string& text);
// Every whole word that is a key of `by` replaced.
std::string ReplaceNames(const std::string& text, const std::map<std::string, std::string>& by);
// Parts between commas, outside of brackets, trimmed; empty ones left out.
std::vector<std::string> SplitCommas(const std::string& text);
// "1e-6f" as a number.
std::optional<double> Literal(std::string_view text);

// --values ids=index:vocabulary,padding=0.125 without its name: a distribution, and what stands behind the colon.
struct GivenValues {
  std::string distribution;
  std::string bound;    // of indices and offsets; empty: none
  std::string padding;  // a share, as it is written; empty: none
};
Result<GivenValues> ReadGivenValues(const std::string& text);

}  // namespace hone
