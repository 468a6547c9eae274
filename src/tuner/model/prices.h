// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What tokens cost: a table in TOML (docs/models.md, "Prices"), one built in and one a user may lay over it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// US dollars per million tokens.
struct Price {
  std::string model;  // "openai:gpt-5"; a '*' at the end stands for any rest
  double input = 0;
  double output = 0;
  double cached_input = 0;  // input that the service had in its cache; as `input` where the table says nothing
  // The longest prompt, in tokens, that this is the price of: longer ones cost more at some services, and then their
  // cost is not known. 0: any.
  int64_t up_to_input = 0;
};

class PriceTable {
 public:
  // kInvalidArgument "file:line: … field …" with a remedy, for anything that is not as documented.
  static Result<PriceTable> Parse(std::string_view toml, std::string_view file);
  // The table that was built in.
  static const PriceTable& BuiltIn();

  // The price of "PROVIDER:NAME": the entry of that name; else that of the name without a date at its end
  // (-2025-08-07, -20250929, -latest); else the longest entry with a '*' that fits. Null: not known.
  const Price* Find(std::string_view model) const;

  const std::string& as_of() const { return as_of_; }  // "2026-11-21": when the prices were looked up
  const std::vector<Price>& prices() const { return prices_; }

 private:
  std::string as_of_;
  std::vector<Price> prices_;
};

// input includes the cached part.
double CostUsd(const Price& price, int64_t input_tokens, int64_t cached_input_tokens, int64_t output_tokens);

}  // namespace hone
