// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Represents probabilities as fixed-point sums of logarithms, so that every order of addition gives the same bits
// (cache_ranking.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "gnn/graph/host_device.h"

namespace hone::gnn::cuda {

// A probability p is represented as -log(1 - p) in units of 2^-40. A slot adds at most kMostOfASlot, so that the sum
// stays below 2^64 for up to 2^18 slots of certain draws. Past kEnough the probability is 1, and nothing more is added.
inline constexpr double kLogUnit = 1099511627776.0;
inline constexpr uint64_t kMostOfASlot = uint64_t{32} << 40;
inline constexpr uint64_t kEnough = uint64_t{64} << 40;

HONE_HOST_DEVICE inline uint64_t FixedLog(double p) {
  if (p <= 0) return 0;
  const double value = -log1p(-(p < 1 ? p : 1)) * kLogUnit;
  return value < static_cast<double>(kMostOfASlot) ? static_cast<uint64_t>(value + 0.5) : kMostOfASlot;
}

// Converts a sum in these units back to a probability.
HONE_HOST_DEVICE inline double ProbabilityOf(uint64_t sum) {
  return -expm1(-(static_cast<double>(sum < kEnough ? sum : kEnough) / kLogUnit));
}

// Returns the share of a node's slots that are drawn after one more hop, where `known` is the probability that the node
// is known.
HONE_HOST_DEVICE inline double DrawnAfter(double drawn, double known, int32_t fanout, int64_t degree) {
  if (degree <= 0) return drawn;
  const double share = static_cast<double>(fanout) / static_cast<double>(degree);
  const double undrawn_probability = known - drawn;
  return drawn + (undrawn_probability > 0 ? undrawn_probability : 0) * (share < 1 ? share : 1);
}

}  // namespace hone::gnn::cuda
