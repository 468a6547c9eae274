// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which neighbors a row draws (sample/draw.h), for any fanout. PickSlot (pick_slot.cuh) does so for fanouts up
// to 32 in registers; here a warp works in shared memory.
//
// Floyd's rule visits slot after slot: if slot s's draw t_s was chosen before, slot s takes m_s = degree - fanout + s
// instead. The values chosen before s are all earlier draws, and the m_i of each earlier slot i whose draw was taken.
// So t_s is taken in two cases: an earlier slot drew it too, which a table answers for all slots at once; or t_s = m_i
// for an earlier slot i whose draw was taken. At most one i qualifies, and whether its draw was taken is found in the
// same way. Each slot follows its chain alone; the chain goes on while draws fall among the last `fanout` neighbors.
#pragma once

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/device_math.cuh"
#include "gnn/cuda/base/fanouts.h"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {

// Returns the entries of the hash table in which a warp finds repeated draws: a power of two, at least 2 * fanout.
inline __host__ __device__ uint32_t WideDrawEntries(int fanout) {
  uint32_t entries = 32;
  while (entries < 2 * static_cast<uint32_t>(fanout)) entries *= 2;
  return entries;
}
// Returns the bytes of shared memory that a warp needs to draw: its table and its draws. 0 if the fanout is above
// kMostDrawn, because a row's neighbors are then all taken.
inline __host__ __device__ size_t WideDrawBytes(int fanout) {
  return fanout > kMostDrawn ? 0 : WideDrawEntries(fanout) * 8 + (static_cast<size_t>(fanout) * 4 + 15) / 16 * 16;
}
// Returns the number of warps per thread block, at most 8, whose draws fit the 40 KiB that every block may use.
inline int WideWarps(int fanout) {
  const size_t bytes = WideDrawBytes(fanout);
  return bytes * 8 <= 40960 ? 8 : static_cast<int>(40960 / bytes);
}

// The drawn neighbors of a row: Source(graph, 0) … Source(graph, count - 1).
struct DrawnRow {
  int64_t begin = 0;  // where the row's neighbors begin in graph.columns
  int32_t count = 0;
  const uint32_t* chosen = nullptr;  // [count] indexes among the row's neighbors; null: all neighbors, in their order
  __device__ int32_t Source(const GraphOnDevice& graph, int32_t slot) const {
    return __ldg(graph.columns + begin + (chosen == nullptr ? slot : static_cast<int32_t>(chosen[slot])));
  }
};

// Draws a row. A whole warp calls this function; `shared` is the warp's own memory, WideDrawBytes(fanout) bytes,
// aligned to 16. The result is valid until the warp's next call.
__device__ inline DrawnRow DrawRow(const GraphOnDevice& graph, const DrawKey& key, uint32_t node, int fanout,
                                   unsigned char* shared) {
  constexpr uint32_t kRepeats = 1u << 31;  // flag of a draw: an earlier slot has the same draw
  constexpr unsigned long long kEmpty = ~0ull;
  DrawnRow row;
  row.begin = __ldg(graph.row_offsets + node);
  const auto degree = static_cast<int32_t>(__ldg(graph.row_offsets + node + 1) - row.begin);
  row.count = degree < fanout ? degree : fanout;
  if (degree <= fanout) return row;

  const int lane = static_cast<int>(threadIdx.x % 32);
  auto* table = reinterpret_cast<unsigned long long*>(shared);  // draw << 32 | the first slot with this draw
  const uint32_t entries = WideDrawEntries(fanout), mask = entries - 1;
  auto* draws = reinterpret_cast<uint32_t*>(shared + entries * sizeof(unsigned long long));
  const auto base = static_cast<uint32_t>(degree - fanout);
  const auto place_of = [mask](uint32_t draw) { return (draw * 0x9E3779B1u >> 7) & mask; };
  __syncwarp();  // all lanes have finished with the previous row
  for (uint32_t at = static_cast<uint32_t>(lane); at < entries; at += 32) table[at] = kEmpty;
  __syncwarp();
  for (uint32_t slot = static_cast<uint32_t>(lane); slot < static_cast<uint32_t>(fanout); slot += 32) {
    const uint32_t draw = BoundedDraw(key, node, slot, DrawWord(key, node, slot, 0), base + slot + 1);
    draws[slot] = draw;
    const unsigned long long entry = static_cast<unsigned long long>(draw) << 32 | slot;
    for (uint32_t at = place_of(draw);; at = (at + 1) & mask) {
      const unsigned long long before = atomicCAS(&table[at], kEmpty, entry);
      if (before == kEmpty) break;
      if (static_cast<uint32_t>(before >> 32) != draw) continue;
      atomicMin(&table[at], entry);
      break;
    }
  }
  __syncwarp();
  for (uint32_t slot = static_cast<uint32_t>(lane); slot < static_cast<uint32_t>(fanout); slot += 32) {
    const uint32_t draw = draws[slot];
    uint32_t at = place_of(draw);
    while (static_cast<uint32_t>(table[at] >> 32) != draw) at = (at + 1) & mask;
    if (static_cast<uint32_t>(table[at]) != slot) draws[slot] = draw | kRepeats;
  }
  __syncwarp();
  uint32_t drawn_slots = 0;  // a bit for each of the lane's slots, at most kMostDrawn / 32 = 32
  int bit = 0;
  for (uint32_t slot = static_cast<uint32_t>(lane); slot < static_cast<uint32_t>(fanout); slot += 32, ++bit) {
    uint32_t at = slot, draw = draws[at];
    while ((draw & kRepeats) == 0 && draw >= base && draw - base < at) {
      at = draw - base;
      draw = draws[at];
    }
    if ((draw & kRepeats) != 0) drawn_slots |= 1u << bit;
  }
  __syncwarp();
  bit = 0;
  for (uint32_t slot = static_cast<uint32_t>(lane); slot < static_cast<uint32_t>(fanout); slot += 32, ++bit) {
    draws[slot] = (drawn_slots >> bit & 1u) != 0 ? base + slot : draws[slot] & ~kRepeats;
  }
  __syncwarp();
  row.chosen = draws;
  return row;
}

}  // namespace hone::gnn::cuda
