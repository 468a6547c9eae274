// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the tasks of a campaign by lot, so that nobody chooses tasks that suit a strategy, and anybody can draw them
// again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// A lot puts all names in an order that follows from the seed alone. A draw takes `take` of them after the first
// `skip`: draws of one seed that skip what the others take have no name in common.
struct Lot {
  int64_t take = 0;  // 0: no lot, everything is taken
  int64_t skip = 0;
  uint64_t seed = 0;
};

// Returns the names that the lot takes, sorted. The order in which `names` are given, and repeats among them, do not
// matter. Fewer than `take` are returned where fewer are left.
std::vector<std::string> Draw(const Lot& lot, std::vector<std::string> names);

// Returns "Drawn by lot (seed 7, the first 3 of 15 tasks): relu, softmax, transpose."
std::string LotText(const Lot& lot, size_t total, const std::vector<std::string>& drawn, std::string_view what);

}  // namespace hone
