// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides text helpers for `hone new`: types, literals, lists, names in expressions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

// Maps "float" to float32, "__half2" to float16, and "uint64_t" to int64, since tasks have no unsigned type wider than
// uint32; nullopt for anything but an element type.
std::optional<DType> ElementType(std::string_view type);
// Returns "i32" or another suffix for an integer parameter's type; empty if it is not an integer.
std::string IntegerSuffix(std::string_view type);
// Return a TOML string, and an array of strings.
std::string Quoted(std::string_view text);
std::string List(const std::vector<std::string>& items);
// Returns the text in parentheses unless it is a single word.
std::string Wrapped(const std::string& text);
// Replaces every whole word that is a key of `by`.
std::string ReplaceNames(const std::string& text, const std::map<std::string, std::string>& by);
// Returns the parts between commas outside brackets, trimmed, without empty ones.
std::vector<std::string> SplitCommas(const std::string& text);
// Parses "1e-6f" as a number.
std::optional<double> Literal(std::string_view text);

// Parts of `--values ids=index:vocabulary,padding=0.125` without the name: a distribution, and the options after the
// colon.
struct GivenValues {
  std::string distribution;
  std::string bound;    // bound of indices and offsets; empty: none
  std::string padding;  // share of padding, as written; empty: none
};
Result<GivenValues> ReadGivenValues(const std::string& text);

}  // namespace hone
