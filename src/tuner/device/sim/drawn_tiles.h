// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Caches the tiles of values that sampled launches read (sim_memory.h), so that each is computed once. A judgement
// draws the same inputs several times at each timed shape: before the candidate, again before the incumbent, and, for a
// tensor that is updated in place, before every launch. Computing a tile takes 60 ms, copying it 1 ms.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "tuner/device/device_session.h"

namespace hone::sim {

// Everything that decides the contents of a dense tensor without slices.
struct DrawnContents {
  explicit DrawnContents(const DrawRequest& request);
  bool operator==(const DrawnContents&) const = default;

  DType dtype;
  int64_t elements, row_elements, index_bound;
  Distribution distribution;
  IndexOrder index_order;
  unsigned special;
  double low, high, scale, offset, vary, padding;
  int64_t crowded_row, crowded_elements;
  uint64_t key, pattern_key;
};

class DrawnTiles {
 public:
  // Does what host::Draw does. The view of `tile` is dense, without slices, and of a few megabytes.
  Status Draw(const DrawRequest& tile);

 private:
  // Enough for two sets of inputs of a task with four tensors.
  static constexpr size_t kMostKept = 8;

  struct Kept {
    DrawnContents contents;
    std::vector<char> bytes;
  };
  std::list<Kept> kept_;  // most recently used first
};

}  // namespace hone::sim
