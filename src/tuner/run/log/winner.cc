// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/winner.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

// Returns ln of the speedup of `node` over `other`, at the lower end of its 95 % interval; nullopt: it is not known.
// Each was timed against an incumbent, that against its own, and so on to the seed. The speedup is the ratio of the two
// chains' products; the part that both chains share cancels.
std::optional<double> LowerLogGain(const RunView& view, const RunNode& node, const RunNode& other) {
  const auto chain = [&](const RunNode& from) {
    std::vector<int64_t> ids{from.id};
    while (ids.back() > 0) ids.push_back(std::max<int64_t>(view.node(ids.back()).incumbent, 0));
    return ids;
  };
  const std::vector<int64_t> mine = chain(node), theirs = chain(other);
  const auto common = std::find_first_of(mine.begin(), mine.end(), theirs.begin(), theirs.end());
  double middle = 0, square = 0;
  for (auto it = mine.begin(); it != common; ++it) {
    const std::optional<Interval>& gain = view.node(*it).gain;
    if (!gain) return std::nullopt;
    middle += std::log(gain->median);
    square += std::pow(std::log(gain->median) - std::log(gain->low), 2);
  }
  for (auto it = theirs.begin(); it != theirs.end() && *it != *common; ++it) {
    const std::optional<Interval>& gain = view.node(*it).gain;
    if (!gain) return std::nullopt;
    middle -= std::log(gain->median);
    square += std::pow(std::log(gain->high) - std::log(gain->median), 2);
  }
  return middle - std::sqrt(square);
}

}  // namespace

bool TakesThePlace(const RunView& view, const RunNode& node) {
  const double margin = std::log1p(view.options.keep_above);
  const RunNode& best = view.node(view.best);
  const std::optional<double> low = LowerLogGain(view, node, best);
  if (low && *low > margin) return true;
  return view.version >= 4 && best.id > 0 && best.gain && best.incumbent == node.incumbent &&
         std::log(node.gain->low) > margin && node.gain->median > best.gain->median;
}

}  // namespace hone
