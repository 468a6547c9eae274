// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the blocks that represent a large grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::sim {

inline constexpr size_t kSampledBlocks = 64;  // blocks of a sample, unless the caller wants another number

// Returns linear block numbers in the order in which to run them, without repeats: all blocks when there are few; else
// corners and edges first (tails and boundary branches live there), then one block from each of equal strata, the
// strata in an order that spreads early, because a launch stops when it has seen enough. Each stratum's block is drawn
// from a fixed hash: the same grid gives the same sample.
std::vector<uint64_t> SampleBlocks(const std::array<uint32_t, 3>& grid, size_t count = kSampledBlocks);

// Returns the blocks whose cost becomes a judged time: all blocks when there are few, else one from each of equal
// strata, each drawn by `key`, in an order that spreads early and begins at a place drawn by the key. No block is
// certain to be chosen, so a kernel cannot treat some blocks differently.
std::vector<uint64_t> TimedBlocks(const std::array<uint32_t, 3>& grid, uint64_t key, size_t count = kSampledBlocks);

// Returns `count` other blocks, one from each of equal strata, and the grid's corners; blocks and order are drawn by
// `key`. All blocks when there are few.
std::vector<uint64_t> DrawBlocks(const std::array<uint32_t, 3>& grid, size_t count, uint64_t key);

}  // namespace hone::sim
