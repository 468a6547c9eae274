// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/lot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/numbers/random.h"

namespace hone {

std::vector<std::string> Draw(const Lot& lot, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (lot.take <= 0) return names;
  Rng rng = Rng(lot.seed).Split(0x6c6f74);
  for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[rng.Below(i)]);
  const auto skip = std::min<size_t>(static_cast<size_t>(std::max<int64_t>(lot.skip, 0)), names.size());
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(skip));
  if (names.size() > static_cast<size_t>(lot.take)) names.resize(static_cast<size_t>(lot.take));
  std::sort(names.begin(), names.end());
  return names;
}

std::string LotText(const Lot& lot, size_t total, const std::vector<std::string>& drawn, std::string_view what) {
  const std::string range_text = lot.skip > 0 ? fmt::format("{} after the first {}", drawn.size(), lot.skip)
                                              : fmt::format("the first {}", drawn.size());
  return fmt::format("Drawn by lot (seed {}, {} of {} {}): {}.", lot.seed, range_text, total, what,
                     fmt::join(drawn, ", "));
}

}  // namespace hone
