// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a large grid speak for all of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::sim {

inline constexpr size_t kSampledBlocks = 64;

// Linear block numbers in the order in which to run them, none twice: all blocks when there are few; else corners and
// edges first (tails and boundary branches live there), then one block from each of equal strata, the strata in an
// order that spreads early, because a launch stops when it has seen enough. Each stratum's block is drawn from a fixed
// hash: the same grid gives the same sample.
std::vector<uint64_t> SampleBlocks(const std::array<uint32_t, 3>& grid, size_t count = kSampledBlocks);

// The blocks whose cost becomes a time that counts: all blocks when there are few, else one from each of equal strata,
// each of them drawn by `key`, in an order that spreads early and begins where the key says. No block is among them for
// what it is, so that none can be spared.
std::vector<uint64_t> TimedBlocks(const std::array<uint32_t, 3>& grid, uint64_t key, size_t count = kSampledBlocks);

// So many other blocks, one from each of equal strata, and the grid's corners, in an order drawn by `key` like the
// blocks; all blocks when there are few.
std::vector<uint64_t> DrawBlocks(const std::array<uint32_t, 3>& grid, size_t count, uint64_t key);

}  // namespace hone::sim
