// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text/toml_document.h"

extern "C" const unsigned char hone_prices_toml[];
extern "C" const unsigned long hone_prices_toml_size;

namespace hone {
namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool IsDate(std::string_view text) {
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && AllDigits(text.substr(0, 4)) &&
         AllDigits(text.substr(5, 2)) && AllDigits(text.substr(8, 2));
}

// Removes a date: "gpt-5-2025-08-07" -> "gpt-5"; returns names without a date unchanged.
std::string_view WithoutDate(std::string_view name) {
  if (name.ends_with("-latest")) return name.substr(0, name.size() - 7);
  if (name.size() > 11 && name[name.size() - 11] == '-' && IsDate(name.substr(name.size() - 10))) {
    return name.substr(0, name.size() - 11);
  }
  if (name.size() > 9 && name[name.size() - 9] == '-' && AllDigits(name.substr(name.size() - 8))) {
    return name.substr(0, name.size() - 9);
  }
  return name;
}

// Reads an amount of dollars that must not be negative; nullopt: the key is absent.
std::optional<double> TakeDollars(TableReader& table, std::string_view key) {
  const std::optional<double> value = table.Number(key);
  if (value && (*value < 0 || !std::isfinite(*value))) {
    table.Error(key, "a price is zero or more US dollars per million tokens");
  }
  return value;
}

double RequiredDollars(TableReader& table, std::string_view key) {
  if (!table.Has(key)) table.Missing(key, "US dollars per million tokens, as in 'input = 1.25'");
  return TakeDollars(table, key).value_or(0);
}

}  // namespace

Result<PriceTable> PriceTable::Parse(std::string_view toml, std::string_view file) {
  HONE_ASSIGN_OR_RETURN(TomlNode root, ParseToml(toml, file));
  TomlErrors errors(file);
  PriceTable result;
  TableReader top(root, "", errors);
  result.as_of_ = top.RequiredString("as_of");
  if (errors.ok() && !IsDate(result.as_of_)) {
    top.Error("as_of", "the day the prices were looked up, as a string \"2026-11-21\"");
  }
  int number = 0;
  for (const TomlNode* entry : top.Tables("price")) {
    TableReader table(*entry, fmt::format("[[price]] #{}", ++number), errors);
    Price price;
    price.model = table.RequiredString("model");
    const std::string_view name = price.model;
    if (table.Has("model") && !name.starts_with("openai:") && !name.starts_with("anthropic:")) {
      table.Error("model",
                  fmt::format("'{}' begins with no provider: write \"openai:NAME\" or \"anthropic:NAME\"", name));
    }
    const size_t star = name.find('*');
    if (star != std::string_view::npos && star + 1 != name.size()) {
      table.Error("model", "a '*' may stand at the end only");
    }
    for (const Price& other : result.prices_) {
      if (other.model == name) table.Error("model", fmt::format("'{}' has a price already, further up", name));
    }
    price.input = RequiredDollars(table, "input");
    price.output = RequiredDollars(table, "output");
    price.cached_input = TakeDollars(table, "cached_input").value_or(price.input);
    price.up_to_input = table.Integer("up_to_input").value_or(0);
    if (table.Has("up_to_input") && price.up_to_input <= 0) {
      table.Error("up_to_input", "the longest prompt in tokens that this is the price of; leave it out for any");
    }
    table.Finish();
    result.prices_.push_back(std::move(price));
  }
  top.Finish();
  if (!errors.ok()) return errors.status();
  return result;
}

const PriceTable& PriceTable::BuiltIn() {
  static const PriceTable table = [] {
    Result<PriceTable> parsed =
        Parse({reinterpret_cast<const char*>(hone_prices_toml), hone_prices_toml_size}, "prices.toml");
    HONE_CHECK(parsed.ok(), "the built-in prices cannot be read: " + parsed.status().message());
    return std::move(parsed).value();
  }();
  return table;
}

const Price* PriceTable::Find(std::string_view model) const {
  for (const std::string_view name : {model, WithoutDate(model)}) {
    for (const Price& price : prices_) {
      if (price.model == name) return &price;
    }
  }
  const Price* best = nullptr;
  for (const Price& price : prices_) {
    const std::string_view pattern = price.model;
    if (!pattern.ends_with('*') || !model.starts_with(pattern.substr(0, pattern.size() - 1))) continue;
    if (best == nullptr || pattern.size() > best->model.size()) best = &price;
  }
  return best;
}

double CostUsd(const Price& price, int64_t input_tokens, int64_t cached_input_tokens, int64_t output_tokens) {
  const auto cached = static_cast<double>(std::min(cached_input_tokens, input_tokens));
  return 1e-6 * ((static_cast<double>(input_tokens) - cached) * price.input + cached * price.cached_input +
                 static_cast<double>(output_tokens) * price.output);
}

}  // namespace hone
