// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats a cost. A cost that is not known is never shown as zero.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace hone {

// Returns "$1.25" for `usd` dollars; ">$1.25" when the price of some replies is unknown; "unknown" when no price is
// known.
inline std::string CostText(double usd, int64_t unpriced_replies) {
  if (unpriced_replies == 0) return fmt::format("${:.2f}", usd);
  return usd > 0 ? fmt::format(">${:.2f}", usd) : "unknown";
}

}  // namespace hone
