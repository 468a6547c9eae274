// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/winner.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

// Returns ln of the speedup of `node` over `other`, at the lower end of its 95 % interval; nullopt: it is not known.
// Every node was timed against its incumbent, so each of the two has a chain of incumbents that ends at the seed. Its
// speedup over the seed is the product of the gains along the chain. What both chains share cancels in the ratio.
std::optional<double> LowerLogGain(const RunView& view, const RunNode& node, const RunNode& other) {
  const auto incumbents = [&](const RunNode& from) {
    std::vector<int64_t> ids{from.id};
    while (ids.back() > 0) ids.push_back(std::max<int64_t>(view.node(ids.back()).incumbent, 0));
    return ids;
  };
  const std::vector<int64_t> of_node = incumbents(node), of_other = incumbents(other);
  const auto common = std::find_first_of(of_node.begin(), of_node.end(), of_other.begin(), of_other.end());
  double middle = 0, square = 0;  // ln of the speedup, and the square of its interval's half width
  for (auto it = of_node.begin(); it != common; ++it) {
    const std::optional<Interval>& gain = view.node(*it).gain;
    if (!gain) return std::nullopt;
    middle += std::log(gain->median);
    square += std::pow(std::log(gain->median) - std::log(gain->low), 2);
  }
  for (auto it = of_other.begin(); it != of_other.end() && *it != *common; ++it) {
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

int64_t BestOfTheOthers(const RunView& view) {
  int64_t best = 0;
  double fastest = 0;
  for (const RunNode& node : view.nodes) {
    if (node.id == 0 || node.rejected) continue;
    if (view.version <= 7) {
      if (node.kept) best = node.id;
      continue;
    }
    if (!node.evaluation || node.evaluation->verdict != Verdict::kOk || node.speedup.value_or(0) <= fastest) continue;
    const std::optional<double> low = LowerLogGain(view, node, view.node(0));
    if (!low || *low <= std::log1p(view.options.keep_above)) continue;
    fastest = *node.speedup;
    best = node.id;
  }
  return best;
}

}  // namespace hone
