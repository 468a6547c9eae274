// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the prices of tokens from a table in TOML (docs/models.md, "Prices"). One table is built in, and a user's table
// overrides it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// The price of a model's tokens, in US dollars per million.
struct Price {
  std::string model;  // "openai:gpt-5"; a '*' at the end matches any rest
  double input = 0;   // of tokens of the prompt
  double output = 0;  // of tokens of the reply
  double cached_input = 0;  // input from the service's cache; equals `input` if the table has no value
  // The longest prompt, in tokens, to which this price applies: some services charge more for longer prompts, whose
  // cost is then unknown. 0: any length.
  int64_t up_to_input = 0;
};

class PriceTable {
 public:
  // Parses a table. kInvalidArgument "file:line: … field …" with a remedy, for anything that is not as documented.
  static Result<PriceTable> Parse(std::string_view toml, std::string_view file);
  // Returns the built-in table.
  static const PriceTable& BuiltIn();

  // Returns the price of "PROVIDER:NAME": the entry of that name; else of the name without a date at its end
  // (-2025-08-07, -20250929, -latest); else the longest matching entry with a '*'. Null: unknown.
  const Price* Find(std::string_view model) const;

  const std::string& as_of() const { return as_of_; }  // date of the prices, such as "2026-11-21"
  const std::vector<Price>& prices() const { return prices_; }

 private:
  std::string as_of_;
  std::vector<Price> prices_;
};

// Returns the cost in US dollars; `input_tokens` includes the cached ones.
double CostUsd(const Price& price, int64_t input_tokens, int64_t cached_input_tokens, int64_t output_tokens);

}  // namespace hone
