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
// Returns how many elements one object of the type holds: 4 for float4, 1 for types that are no vectors.
int ElementsOf(std::string_view type);
// Returns the suffix of a plan's argument for a kernel parameter of this C++ type: "i32" for int. Empty: not an integer
// type.
std::string IntegerSuffix(std::string_view type);
// Return the text as a TOML string, and the items as a TOML array of strings.
std::string Quoted(std::string_view text);
std::string List(const std::vector<std::string>& items);
// Returns the text in parentheses unless it is a single word.
std::string InParentheses(const std::string& text);
// Returns `text` with every whole word that is a key of `replacements` replaced by its value.
std::string ReplaceNames(const std::string& text, const std::map<std::string, std::string>& replacements);
// Returns the parts between the commas that are not inside brackets: trimmed, without empty parts.
std::vector<std::string> SplitCommas(const std::string& text);
// Returns the value of a C++ literal such as "1e-6f"; nullopt: `text` is no number.
std::optional<double> LiteralValue(std::string_view text);

// The parts of the option `--values ids=index:vocabulary,padding=0.125` after the tensor's name.
struct GivenValues {
  std::string distribution;  // "index"
  std::string bound;         // exclusive bound of indices and offsets, an expression; empty: none
  std::string padding;       // share of elements that are padding, as written; empty: none
};
Result<GivenValues> ReadGivenValues(const std::string& text);

}  // namespace hone
