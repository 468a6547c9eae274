// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the addresses of the simulated GPU's memory. The session and its child processes map the same pages at the
// same addresses, so that pointers are valid on both sides and a hook can recognise global memory by one comparison.
//
// The region is far from where Linux puts programs, heaps and libraries on x86-64. Every byte of global memory has one
// bit in the `unwritten` map, which is set while the byte has no defined value. The map is inverted on purpose, because
// fresh pages read as zero and most memory is defined.
#pragma once

#include <cstdint>

namespace hone::sim {

inline constexpr uint64_t kGlobalBase = uint64_t{1} << 45;  // where simulated global memory begins
inline constexpr uint64_t kGlobalSpan = uint64_t{1} << 44;     // 16 TiB of addresses
inline constexpr uint64_t kUnwrittenBase = kGlobalBase + kGlobalSpan;

// Returns the address of the byte whose bit (address & 7) belongs to `address`.
inline uint64_t UnwrittenByte(uint64_t address) { return kUnwrittenBase + ((address - kGlobalBase) >> 3); }

// No tensor gets the last addresses: in the bookkeeping they represent an image's own variables.
inline constexpr uint64_t kImageSpan = uint64_t{1} << 32;
inline constexpr uint64_t kImageOffset = kGlobalSpan - kImageSpan;

// Blocks of an arena start on multiples of this, so that each can be mapped, with its part of the unwritten map on
// whole pages, without its neighbours.
inline constexpr uint64_t kBlockGranule = 64 * 1024;

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxBlockThreads = 1024;
// Largest dynamic shared memory of a block, and the largest total in an image.
inline constexpr uint32_t kMaxDynamicShared = 227 * 1024;

}  // namespace hone::sim
