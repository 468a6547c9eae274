// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an earlier access of another thread of the block is ordered before the present one: the race
// detector's vector clocks.
//
// The threads of a block run one after another on one OS thread, so all events of a block are on one time line. A
// *stamp* is a position on this line and grows at every synchronisation. An access is recorded as (thread, stamp), and
// each thread knows, for every other thread, the stamp up to which the other's accesses happened before. A full vector
// for each of 1024 threads would be slow and is almost never needed, so knowledge is kept in four layers:
//   * one stamp for the block: the last barrier of all threads;
//   * one stamp per warp: the last __syncwarp of all its living lanes;
//   * a 32 x 32 matrix per warp: __syncwarp over some lanes;
//   * a row per thread, made when needed: named barriers over some warps, and atomics with fences.
// Shuffles and votes order nothing, as CUDA says.
//
// The class records no accesses: shared_shadow.h does. Not thread-safe. Stamps only grow, also from block to block, so
// nothing needs clearing between blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tuner/device/sim/sim_layout.h"

namespace hone::sim {

using Stamp = uint32_t;

class HappensBefore {
 public:
  static constexpr Stamp kLastStamp = (1u << 20) - 2;  // limit of a shadow cell
  static constexpr Stamp kRestartStamp = 1;

  HappensBefore();

  // Begins a block of `threads` threads: everything earlier is ordered before everything in it.
  void BeginBlock(int threads);

  Stamp now() const { return now_; }
  Stamp block_begin() const { return block_begin_; }
  // Returns the stamp below which accesses are ordered before every thread of the block.
  Stamp base() const { return base_; }

  // Returns whether an access of `other` at `stamp` happens before what `self` does now. The caller has excluded stamp
  // < base() and other == self, which cover nearly all calls.
  bool OrderedSlow(int other, Stamp stamp, int self) const {
    if ((other ^ self) < kWarpSize && (other >> 5) == (self >> 5)) {
      const Warp& warp = *warps_[static_cast<size_t>(self >> 5)];
      if (stamp < warp.all) return true;
      if (stamp < warp.lanes[static_cast<size_t>(self & 31)][static_cast<size_t>(other & 31)]) return true;
    }
    const Row* row = rows_[static_cast<size_t>(self)].get();
    return row != nullptr && row->block == block_begin_ && stamp < row->known[static_cast<size_t>(other)];
  }
  bool Ordered(int other, Stamp stamp, int self) const {
    return stamp < base_ || other == self || OrderedSlow(other, stamp, self);
  }

  void BlockBarrier();
  // Records that `lanes` of `warp` met in __syncwarp; `living` are the lanes that have not exited.
  void WarpBarrier(int warp, uint32_t lanes, uint32_t living);
  // Records that `threads` met in a named barrier.
  void PartialBarrier(const std::vector<int>& threads);

  // Records __threadfence*: the thread's next atomic writes publish what it did before, and it now knows what its
  // earlier atomic reads saw.
  void Fence(int self);
  // Records an atomic or volatile access. `acquire` and `release` take effect at once; if neither is set, the thread's fences
  // decide what is ordered.
  void AtomicAccess(int self, uint64_t address, bool reads, bool writes, bool acquire, bool release);

  // Records fence.proxy.async of a thread.
  void ProxyFence(int self);
  // Returns whether the async proxy, on behalf of `reader`, sees what `writer` wrote at `stamp`: the writer has executed a
  // proxy fence since, or the reader one after a barrier of the block that came later than the write.
  bool SeenByAsyncProxy(int writer, Stamp stamp, int reader) const {
    return stamp < block_begin_ || stamp <= proxy_own_[static_cast<size_t>(writer)] ||
           stamp < proxy_base_[static_cast<size_t>(reader)];
  }

  // Returns true once stamps run out: the caller stamps its recorded accesses kRestartStamp and calls Restart.
  bool exhausted() const { return now_ >= kLastStamp; }
  void Restart();

 private:
  struct Warp {
    Stamp all = 0;
    std::array<std::array<Stamp, kWarpSize>, kWarpSize> lanes{};  // [knower][known]
  };
  struct Row {
    Stamp block = 0;            // block_begin_ of the block it belongs to
    std::vector<Stamp> known;   // indexed by thread
  };
  using Vector = std::vector<Stamp>;

  void Tick() { ++now_; }
  // Returns what `thread` knows of the others' progress, emptied at its first use in a block.
  Row& RowOf(int thread);
  void JoinInto(Row& row, const Vector& knowledge);
  // Returns everything that `thread` knows of others, with its own accesses up to `own`.
  Vector KnowledgeOf(int thread, Stamp own);

  int threads_ = 0;
  static constexpr size_t kMaxPublished = 2048;  // limit on the addresses that are remembered

  Stamp now_ = kRestartStamp + 1, base_ = kRestartStamp + 1, block_begin_ = kRestartStamp + 1;
  std::array<std::unique_ptr<Warp>, kWarpSize> warps_;
  std::vector<std::unique_ptr<Row>> rows_;
  bool any_row_ = false;
  // State for atomics with fences. `fence_[t]`: the thread's stamp at its last fence; 0: none in this block.
  std::vector<Stamp> fence_;
  std::vector<Stamp> proxy_own_, proxy_base_;      // of each thread, at its last proxy fence: the stamp, and base_
  std::map<uint64_t, Vector> published_;           // keyed by address
  std::map<int, Vector> seen_;                     // keyed by thread: read by atomics, not yet fenced
};

}  // namespace hone::sim
