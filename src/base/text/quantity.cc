// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/quantity.h"

#include <fmt/format.h>

#include <utility>

namespace hone {

std::string QuantityText(double number, std::string_view unit) {
  std::string_view prefix;
  for (const auto& [factor, name] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (number < factor) continue;
    number /= factor;
    prefix = name;
    break;
  }
  // With {:.3g} alone, 999.6 would be printed as 1e+03.
  return number >= 100 ? fmt::format("{:.0f} {}{}", number, prefix, unit) : fmt::format("{:.3g} {}{}", number, prefix, unit);
}

}  // namespace hone
