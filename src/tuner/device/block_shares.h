// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells a launch that leaves outputs unwritten from one whose blocks share the work unevenly, by what sampled blocks wrote.
#pragma once

#include <cmath>
#include <span>

namespace hone {

// The mean of randomly drawn blocks' shares of the outputs, in multiples of the average over all blocks of a launch that
// writes everything once (ModelledCost::block_shares).
struct BlockShares {
  double mean = 0;
  double error = 0;  // standard error of the mean; 0 for fewer than two blocks

  // Returns whether blocks that write everything may have such a mean by chance. If it were distributed normally, blocks
  // that do would be called incomplete once in 30,000 times.
  bool MayBeAll() const {
    constexpr double kDeviations = 4;
    return mean + kDeviations * error >= 1;
  }
};

inline BlockShares SummarizeShares(std::span<const double> shares) {
  BlockShares summary;
  const auto count = static_cast<double>(shares.size());
  for (const double share : shares) summary.mean += share / count;
  if (shares.size() < 2) return summary;
  double squares = 0;
  for (const double share : shares) squares += (share - summary.mean) * (share - summary.mean);
  summary.error = std::sqrt(squares / (count - 1) / count);
  return summary;
}

}  // namespace hone
