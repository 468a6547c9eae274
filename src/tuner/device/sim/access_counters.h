// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what the accesses of a launch cost a GPU's memory system: sectors, cache hits, bank conflicts.
//
// Fed with warp-wide accesses (access_log.h) in the order of one block. A small first-level cache with 128-byte lines
// and 32-byte sectors stands before the second level; a bitmap over every bound tensor tells a sector's first use from
// a later one. Numbers are of what was seen: ScaleToLaunch (sim_model.h) brings them up to the whole launch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "tuner/device/sim/access_log.h"
#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/zeroed_array.h"

namespace hone::sim {

// One instruction that touches memory, on one OS thread.
struct alignas(64) Site {
  uint64_t pc = 0;           // return address of the hook
  uint64_t low = 0, high = 0;  // range of the last tensor it touched: the fast path's bounds
  uint64_t total = 0;        // accesses by single threads
  uint64_t logged = 0;       // of these, those that went through the log
  uint64_t groups = 0;       // warp-wide accesses among the logged
  uint64_t sectors = 0;      // global: 32-byte sectors touched by the groups
  uint64_t missed = 0;       // global: sectors that went on to the second level
  uint64_t partial = 0;      // global stores: sectors of which only a part was written
  uint64_t lines = 0;        // global: 128-byte lines touched by the groups, a pass of the load-store unit each
  uint64_t cycles = 0;       // shared: passes through the banks
  uint64_t ideal_cycles = 0; // shared: passes without a conflict
  uint16_t id = 0;
  uint8_t bytes = 0;
  bool writes = false;
  bool atomic = false;
  bool writable = false;     // the last tensor
  bool may_be_unwritten = false;
  bool ignored = false;      // the compiler's own bookkeeping in shared memory
  int16_t range = -1;        // the last tensor's number
};

// First use of each 32-byte sector of the bound tensors during one launch. Shared by all threads of the launch.
class SectorMap {
 public:
  // Ranges as (begin, end) offsets from kGlobalBase.
  explicit SectorMap(const std::vector<std::pair<uint64_t, uint64_t>>& ranges);

  // True the first time that `offset`'s sector is seen, for reading or for writing separately.
  bool FirstUse(int range, uint64_t offset, bool writes) {
    if (range < 0) return false;
    Part& part = parts_[static_cast<size_t>(range)];
    const uint64_t sector = (offset >> 5) - part.first;
    if (sector >= part.sectors) return false;
    std::atomic_ref<uint8_t> bits((writes ? part.written : part.read)[sector >> 3]);
    const uint8_t bit = static_cast<uint8_t>(1u << (sector & 7));
    if (bits.load(std::memory_order_relaxed) & bit) return false;
    return (bits.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

 private:
  struct Part {
    uint64_t first = 0, sectors = 0;
    ZeroedArray<uint8_t> read, written;
  };
  std::vector<Part> parts_;
};

// A first-level cache, between launches empty.
struct L1Cache {
  struct Line {
    uint64_t tag = 0;      // line number, with its owner's number above
    uint64_t used = 0;     // time of last use
    uint8_t sectors = 0;
  };
  std::vector<Line> lines;  // sets of ways; made by its first user
  uint64_t time = 0;
};

// Sums over the blocks that ran. Doubles, because they are scaled.
struct LaunchCounters {
  double blocks = 0;
  double warps = 0;
  double accesses = 0;              // by single threads, global and shared
  double global_requests = 0;       // warp-wide
  double load_requests = 0;         // of these, loads
  double global_lines = 0;          // 128-byte lines of the requests
  double global_sectors = 0;        // 32 bytes each, before any cache
  double load_sectors = 0;
  double l2_read_sectors = 0;       // loads that missed the first level
  double l2_write_sectors = 0;
  double l2_partial_sectors = 0;    // of these, written in part by one warp
  double l2_atomics = 0;            // by single lanes
  double atomic_sectors = 0;        // different sectors that atomics go to: what they queue for
  double shared_requests = 0;
  double shared_cycles = 0;
  double shared_conflict_cycles = 0;
  double barriers = 0;              // __syncthreads, counted per warp
  double warp_operations = 0;       // shuffles, votes, matches, reductions
  double mma_multiply_adds = 0;
  double load_batches = 0;          // global loads that a thread has under way together
  double load_batch_bytes = 0;      // bytes (of sectors) of such batches, summed
  // By bound range: sectors used at least once, read or written.
  std::vector<double> range_read, range_written;

  void Add(const LaunchCounters& other);
};

class AccessCounters {
 public:
  AccessCounters() : sites_by_code_(AccessLog::kMaxCode + 1), sites_(kMaxSites) {}

  // A launch begins. `sectors` outlives it. `l1_bytes`: what one block has of the first-level cache.
  void BeginLaunch(SectorMap* sectors, size_t ranges, uint64_t text_begin, uint64_t l1_bytes);
  // What comes now reads through `cache`, as the blocks before it on the same SM did; null: through a cache of this
  // object's own, in which nobody finds what another `owner` loaded.
  void UseCache(L1Cache* cache, uint64_t owner);

  // The site of a return address; null outside the image's text.
  Site* Find(uint64_t pc) {
    const uint64_t code = (pc - text_begin_) >> 2;
    if (code > AccessLog::kMaxCode) [[unlikely]] return nullptr;
    const uint16_t index = sites_by_code_[code];
    return index != 0 ? &sites_[index] : Insert(pc, code);
  }
  uint64_t Code(const Site& site) const { return (site.pc - text_begin_) >> 2; }
  // Numbers from 1; entry 0 is nobody's.
  const Site& site(uint16_t id) const { return sites_[id]; }
  uint16_t site_count() const { return site_count_; }

  // Reads the log of a warp that has stopped.
  void Drain(AccessLog& log);

  LaunchCounters counters;

  // Takes over what another OS thread counted in the same launch. Sites are added up before anything is scaled, so
  // that the sums do not depend on which thread ran which block.
  void Absorb(const AccessCounters& other);

  // Sums up the sites: what the log left out is scaled from what it held.
  LaunchCounters Finish();

 private:
  static constexpr uint16_t kMaxSites = 0xfff0;  // all further instructions share the last one
  static constexpr int kWays = 4;
  static constexpr uint64_t kMaxRepeats = 4;     // of one load in a batch: as far as nvcc unrolls a loop by itself
  Site* Insert(uint64_t pc, uint64_t code);
  void EndBatch();
  void CountGlobal(Site& site, const uint64_t* offsets, int lanes);
  void CountShared(Site& site, const uint64_t* offsets, int lanes);
  int MissedSectors(uint64_t line, uint8_t sectors);

  uint64_t text_begin_ = 0;
  ZeroedArray<uint16_t> sites_by_code_;
  ZeroedArray<Site> sites_;    // never moves: hooks hold pointers
  uint16_t site_count_ = 0;
  SectorMap* sectors_ = nullptr;
  std::vector<uint64_t> range_read_, range_written_;
  uint64_t atomic_sectors_ = 0;
  L1Cache own_cache_;
  L1Cache* cache_ = &own_cache_;
  uint64_t cache_tag_ = 0;      // of the owner, above the line's number
  uint64_t sets_ = 1;
  // The batch of loads being gathered.
  uint64_t batch_bytes_ = 0, batch_code_ = 0, batch_repeats_ = 0;
};

}  // namespace hone::sim
