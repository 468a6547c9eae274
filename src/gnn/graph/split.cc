// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See split.h.
#include "gnn/graph/split.h"

#include <algorithm>
#include <cmath>

#include "gnn/graph/synthetic/synthetic_core.h"

namespace hone::gnn {
namespace {
constexpr uint32_t kPurposeMadeSplit = 16;  // Philox's purpose word for splits; differs from those of synthetic graphs
}

NodeSplits MakeStratifiedSplits(std::span<const int32_t> labels, int32_t num_classes, const SplitFractions& fractions,
                                uint64_t seed) {
  const size_t classes = static_cast<size_t>(num_classes);
  std::vector<uint64_t> count(classes), seen(classes);
  for (const int32_t label : labels) {
    if (label != kNoLabel) ++count[static_cast<size_t>(label)];
  }
  std::vector<KeyedPermutation> order;
  std::vector<std::pair<uint64_t, uint64_t>> cuts;  // positions where train and valid end; the rest is test
  std::vector<uint64_t> end;
  for (size_t c = 0; c < classes; ++c) {
    order.push_back(MakePermutation(seed, 0, c, count[c], kPurposeMadeSplit));
    const double n = static_cast<double>(count[c]);
    const auto cut = [&](double fraction) { return static_cast<uint64_t>(std::min(n, std::floor(fraction * n + 0.5))); };
    cuts.emplace_back(cut(fractions.train), cut(fractions.train + fractions.valid));
    end.push_back(cut(fractions.train + fractions.valid + fractions.test));
  }
  NodeSplits splits;
  for (size_t v = 0; v < labels.size(); ++v) {
    if (labels[v] == kNoLabel) continue;
    const size_t c = static_cast<size_t>(labels[v]);
    const uint64_t position = Permute(order[c], seen[c]++);
    const int part = position < cuts[c].first ? 0 : position < cuts[c].second ? 1 : position < end[c] ? 2 : 3;
    if (part < 3) splits.nodes[part].push_back(static_cast<NodeId>(v));
  }
  return splits;
}

}  // namespace hone::gnn
