// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats a cost in a few characters: an unknown cost is never shown as zero.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace hone {

// Returns "$1.25"; ">$1.25" when some replies have no price; "unknown" when none has.
inline std::string CostText(double usd, int64_t unpriced_replies) {
  if (unpriced_replies == 0) return fmt::format("${:.2f}", usd);
  return usd > 0 ? fmt::format(">${:.2f}", usd) : "unknown";
}

}  // namespace hone
