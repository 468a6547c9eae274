// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file draws secret orders and subsets: which kernel goes first in a quad, which buffer set a launch gets, which
// slices are drawn anew.
//
// All functions are pure functions of a key that the candidate's code never sees (values/draw.h), so that a timing can
// be replayed from its seed. They may be called from any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

// The order of the four samples of a quad: A is the candidate, B the incumbent.
enum class QuadOrder { kAbba, kBaab };
// Tosses a fair coin for quad number `quad`.
QuadOrder SecretQuadOrder(uint64_t quad, uint64_t key);
// Returns whether sample `position` (0 to 3) of a quad is the candidate's (A).
constexpr bool IsCandidate(QuadOrder order, int position) {
  return (position == 0 || position == 3) == (order == QuadOrder::kAbba);
}

// Returns the numbers 0 to n - 1 in an order drawn uniformly by `key`. n >= 0.
std::vector<int> SecretOrder(int n, uint64_t key);

// Returns `count` different numbers below n, ascending, drawn uniformly by `key`; all of them when count >= n.
std::vector<int64_t> SecretSubset(int64_t n, int64_t count, uint64_t key);

}  // namespace hone
