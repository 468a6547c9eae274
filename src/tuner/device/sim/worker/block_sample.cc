// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Strata by linear number; edges by coordinates.
#include "tuner/device/sim/worker/block_sample.h"

#include <algorithm>
#include <set>

#include "tuner/core/draw.h"

namespace hone::sim {

std::vector<uint64_t> SampleBlocks(const std::array<uint32_t, 3>& grid, size_t count) {
  const uint64_t x = grid[0], y = grid[1], z = grid[2];
  const uint64_t total = x * y * z;
  std::vector<uint64_t> blocks;
  if (total <= count + count / 2) {
    for (uint64_t b = 0; b < total; ++b) blocks.push_back(b);
    return blocks;
  }
  std::set<uint64_t> taken;
  const auto take = [&](uint64_t block) {
    if (block < total && taken.insert(block).second) blocks.push_back(block);
  };
  const auto number = [&](uint64_t bx, uint64_t by, uint64_t bz) { return bx + x * (by + y * bz); };
  take(total / 2 + x / 3);  // an inner block first: what most blocks are like
  take(0);
  take(total - 1);
  take(number(x - 1, 0, 0));
  take(number(0, y - 1, 0));
  take(number(x - 1, y / 2, z / 2));
  take(number(x / 2, y - 1, z / 2));
  take(1);
  take(total - 2);
  // Strata in bit-reversed order: any first part of the list is spread over the grid.
  const uint64_t strata = count;
  int bits = 0;
  while ((uint64_t{1} << bits) < strata) ++bits;
  for (uint64_t i = 0; i < uint64_t{1} << bits && blocks.size() < count; ++i) {
    uint64_t reversed = 0;
    for (int b = 0; b < bits; ++b) reversed |= (i >> b & 1) << (bits - 1 - b);
    if (reversed >= strata) continue;
    const uint64_t begin = total * reversed / strata, end = total * (reversed + 1) / strata;
    take(begin + draw::Hash(0x73616d706c65, total, reversed) % (end - begin));
  }
  return blocks;
}

std::vector<uint64_t> DrawBlocks(const std::array<uint32_t, 3>& grid, size_t count, uint64_t key) {
  const uint64_t total = uint64_t{grid[0]} * grid[1] * grid[2];
  const uint64_t strata = std::min<uint64_t>(total, count);
  std::vector<uint64_t> blocks;
  for (uint64_t i = 0; i < strata; ++i) {
    const uint64_t begin = total * i / strata, end = total * (i + 1) / strata;
    blocks.push_back(begin + draw::Hash(key, total, i) % (end - begin));
  }
  for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[draw::Hash(~key, total, i) % i]);
  return blocks;
}

}  // namespace hone::sim
