// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the smallest and the largest node id of a list of edges, which show that ids are counted from 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "gnn/graph/convert/graph_source.h"
#include "hone/base/status.h"

namespace hone::gnn {

// The ids of both ends of all edges seen so far.
struct IdRange {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  int64_t largest = std::numeric_limits<int64_t>::min();

  void Add(int64_t source, int64_t destination) {
    smallest = std::min({smallest, source, destination});
    largest = std::max({largest, source, destination});
  }
  // Returns whether these look like the ids of `nodes` nodes that are counted from 1: none is 0, and the largest is the
  // number of nodes.
  bool CountsFromOne(int64_t nodes) const { return smallest == 1 && largest == nodes; }
};

// Reads all edges. Errors are those of the source.
Result<IdRange> RangeOfIds(const EdgeSource& edges);

}  // namespace hone::gnn
