// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses strata by linear number and edges by coordinates.
#include "tuner/device/sim/worker/block_sample.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tuner/values/draw.h"

namespace hone::sim {

namespace {

// Returns whether a grid has hardly more than `count` blocks; all are then taken.
bool AllBlocksAreTaken(uint64_t total, size_t count) { return total <= count + count / 2; }
std::vector<uint64_t> AllBlocks(uint64_t total) {
  std::vector<uint64_t> blocks(total);
  std::iota(blocks.begin(), blocks.end(), uint64_t{0});
  return blocks;
}

// Returns numbers below `strata` in bit-reversed order: any first part of the list is spread over the grid.
std::vector<uint64_t> SpreadOrder(uint64_t strata) {
  int bits = 0;
  while ((uint64_t{1} << bits) < strata) ++bits;
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < uint64_t{1} << bits; ++i) {
    uint64_t reversed = 0;
    for (int b = 0; b < bits; ++b) reversed |= (i >> b & 1) << (bits - 1 - b);
    if (reversed < strata) order.push_back(reversed);
  }
  return order;
}

uint64_t BlockOfStratum(uint64_t key, uint64_t total, uint64_t stratum, uint64_t strata) {
  const uint64_t begin = total * stratum / strata, end = total * (stratum + 1) / strata;
  return begin + draw::Hash(key, total, stratum) % (end - begin);
}

}  // namespace

std::vector<uint64_t> SampleBlocks(const std::array<uint32_t, 3>& grid, size_t count) {
  const uint64_t x = grid[0], y = grid[1], z = grid[2];
  const uint64_t total = x * y * z;
  if (AllBlocksAreTaken(total, count)) return AllBlocks(total);
  std::vector<uint64_t> blocks;
  std::set<uint64_t> sampled_blocks;
  const auto take = [&](uint64_t block) {
    if (block < total && sampled_blocks.insert(block).second) blocks.push_back(block);
  };
  const auto number = [&](uint64_t bx, uint64_t by, uint64_t bz) { return bx + x * (by + y * bz); };
  take(total / 2 + x / 3);  // an inner block first, which is like most blocks
  take(0);
  take(total - 1);
  take(number(x - 1, 0, 0));
  take(number(0, y - 1, 0));
  take(number(x - 1, y / 2, z / 2));
  take(number(x / 2, y - 1, z / 2));
  take(1);
  take(total - 2);
  for (const uint64_t stratum : SpreadOrder(count)) {
    if (blocks.size() >= count) break;
    take(BlockOfStratum(0x73616d706c65, total, stratum, count));
  }
  return blocks;
}

std::vector<uint64_t> TimedBlocks(const std::array<uint32_t, 3>& grid, uint64_t key, size_t count) {
  const uint64_t total = uint64_t{grid[0]} * grid[1] * grid[2];
  if (AllBlocksAreTaken(total, count)) return AllBlocks(total);
  std::vector<uint64_t> blocks;
  const uint64_t turn = draw::Mix(key) % count;
  for (const uint64_t stratum : SpreadOrder(count)) {
    blocks.push_back(BlockOfStratum(key, total, (stratum + turn) % count, count));
  }
  return blocks;
}

std::vector<uint64_t> DrawBlocks(const std::array<uint32_t, 3>& grid, size_t count, uint64_t key) {
  const uint64_t total = uint64_t{grid[0]} * grid[1] * grid[2];
  const uint64_t strata = std::min<uint64_t>(total, count);
  std::vector<uint64_t> blocks;
  for (uint64_t i = 0; i < strata; ++i) blocks.push_back(BlockOfStratum(key, total, i, strata));
  // Tails and boundary branches are at the corners.
  for (const uint64_t corner : {uint64_t{0}, uint64_t{grid[0]} - 1, uint64_t{grid[0]} * (grid[1] - 1), total - 1}) {
    if (std::find(blocks.begin(), blocks.end(), corner) == blocks.end()) blocks.push_back(corner);
  }
  for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[draw::Hash(~key, total, i) % i]);
  return blocks;
}

}  // namespace hone::sim
