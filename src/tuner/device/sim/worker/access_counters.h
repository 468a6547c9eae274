// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the cost of a launch's accesses in a GPU's memory system: sectors, cache hits, bank conflicts.
//
// The input is warp-wide accesses (access_log.h) in the order of one block. A first-level cache (l1_cache.h) stands
// before the second level; a bitmap over every bound tensor distinguishes a sector's first use from later ones. Numbers
// are those of the observed blocks: ScaleToLaunch (sim_model.h) scales them to the whole launch.
//
// The simulator runs one warp after another, a GPU runs them side by side: a row that each of 32 warps reads twice lies
// between the two readings 32 times. Loads and stores are therefore kept until all warps of the block have stopped, and
// then pass through the cache in turns of one batch per warp. A batch is the set of a warp's loads in flight together:
// it ends where the warp waits for loaded values. Stores go through to the second level and occupy a line in the first,
// as Accel-Sim (Khairy et al. 2020) models Volta and later: rows that are read, then read and written, need space
// twice.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "tuner/device/sim/sim_layout.h"
#include "tuner/device/sim/worker/access_log.h"
#include "tuner/device/sim/worker/l1_cache.h"
#include "tuner/device/sim/worker/zeroed_array.h"

namespace hone::sim {

// One instruction that touches memory, on one OS thread.
struct alignas(64) Site {
  uint64_t pc = 0;           // return address of the hook
  uint64_t low = 0, high = 0;  // begin and end of the bound range (a tensor) that it touched last, for the fast path
  uint64_t total = 0;        // accesses by single threads
  uint64_t logged = 0;       // of these, those that went through the log
  uint64_t groups = 0;       // warp-wide accesses among the logged
  uint64_t sectors = 0;      // global: 32-byte sectors touched by the groups
  uint64_t missed = 0;       // global: sectors that went on to the second level
  uint64_t partial = 0;      // global stores: sectors of which only a part was written
  uint64_t lines = 0;        // global: 128-byte lines touched by the groups, a pass of the load-store unit each
  uint64_t cycles = 0;       // shared: passes through the banks
  uint64_t ideal_cycles = 0; // shared: passes without a conflict
  uint32_t batch = 0;        // number of the batch of loads that it last belonged to
  uint32_t batch_loads = 0;  // loads of this instruction in that batch
  uint16_t id = 0;
  uint8_t bytes = 0;
  bool writes = false;
  bool atomic = false;
  bool writable = false;     // the last-touched tensor may be written
  bool may_be_unwritten = false;  // the last-touched tensor may have bytes without a defined value
  bool sparse = false;       // the last-touched tensor's bits in the map mean "written", not "unwritten"
  bool drawn = false;        // the last-touched tensor may be read even where it is unwritten
  bool counted = false;      // the last-touched tensor is an output of its own: its first writes are counted by block
  bool owned = false;        // the last-touched tensor's last writers are remembered (block_owners.h)
  bool ignored = false;      // it touches the compiler's own bookkeeping in shared memory
  int16_t range = -1;        // the last-touched tensor's number among the launch's ranges; -1: none
};

// Records the first use of each 32-byte sector of the bound tensors during one launch. Shared by all OS threads of the
// launch.
class SectorMap {
 public:
  // Ranges as (begin, end) offsets from kGlobalBase.
  explicit SectorMap(const std::vector<std::pair<uint64_t, uint64_t>>& ranges);

  // Returns true at the first read, and at the first write, of the sector at `offset` (from kGlobalBase) in range
  // number `range`.
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

// Sums over the blocks that ran. The type is double, because the sums are scaled.
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
  double l2_partial_sectors = 0;    // of these, sectors of which one warp wrote only a part
  double l2_atomics = 0;            // atomics, counted by lane
  double atomic_sectors = 0;        // different sectors with atomics, which queue for them
  double shared_requests = 0;
  double shared_cycles = 0;
  double shared_conflict_cycles = 0;
  double barriers = 0;              // __syncthreads, counted per warp
  double warp_operations = 0;       // shuffles, votes, matches, reductions
  double waiting_operations = 0;    // operations that had to wait for operands
  double mma_multiply_adds = 0;
  double load_batches = 0;          // a batch is the set of a warp's global loads in flight together; counted by warp
  double load_batch_bytes = 0;      // bytes of the sectors of all batches
  // Counts by single threads, from the code itself (image/work_count.h): floating-point operations of single precision,
  // some of which also occupy the special-function unit, operations of double precision and on integers, and bytes of
  // arrays too large for a register file.
  double operations = 0, special_operations = 0, doubles = 0, integers = 0, local_read_bytes = 0, local_written_bytes = 0;
  // For each bound range: the number of sectors that were read at least once, and of those written at least once.
  std::vector<double> range_read, range_written;

  void Add(const LaunchCounters& other);

  // Lists every field but the vectors, with its name in messages. `grows`: proportional to the number of blocks.
  struct Sum {
    const char* name;
    double LaunchCounters::*field;
    bool grows;
  };
  static const std::array<Sum, 28> kSums;
};
inline constexpr std::array<LaunchCounters::Sum, 28> LaunchCounters::kSums{{
    {"blocks", &LaunchCounters::blocks, true},
    {"warps", &LaunchCounters::warps, true},
    {"accesses", &LaunchCounters::accesses, true},
    {"global_requests", &LaunchCounters::global_requests, true},
    {"load_requests", &LaunchCounters::load_requests, true},
    {"global_lines", &LaunchCounters::global_lines, true},
    {"global_sectors", &LaunchCounters::global_sectors, true},
    {"load_sectors", &LaunchCounters::load_sectors, true},
    {"l2_read_sectors", &LaunchCounters::l2_read_sectors, true},
    {"l2_write_sectors", &LaunchCounters::l2_write_sectors, true},
    {"l2_partial_sectors", &LaunchCounters::l2_partial_sectors, true},
    {"l2_atomics", &LaunchCounters::l2_atomics, true},
    {"atomic_sectors", &LaunchCounters::atomic_sectors, false},
    {"shared_requests", &LaunchCounters::shared_requests, true},
    {"shared_cycles", &LaunchCounters::shared_cycles, true},
    {"shared_conflict_cycles", &LaunchCounters::shared_conflict_cycles, true},
    {"barriers", &LaunchCounters::barriers, true},
    {"warp_operations", &LaunchCounters::warp_operations, true},
    {"waiting_operations", &LaunchCounters::waiting_operations, true},
    {"mma_multiply_adds", &LaunchCounters::mma_multiply_adds, true},
    {"load_batches", &LaunchCounters::load_batches, true},
    {"load_batch_bytes", &LaunchCounters::load_batch_bytes, true},
    {"operations", &LaunchCounters::operations, true},
    {"special_operations", &LaunchCounters::special_operations, true},
    {"doubles", &LaunchCounters::doubles, true},
    {"integers", &LaunchCounters::integers, true},
    {"local_read_bytes", &LaunchCounters::local_read_bytes, true},
    {"local_written_bytes", &LaunchCounters::local_written_bytes, true},
}};

class AccessCounters {
 public:
  AccessCounters() : sites_by_code_(AccessLog::kMaxCode + 1), sites_(kMaxSites) {}

  // Begins a launch. `sectors` outlives it. `l1_bytes`: one block's share of the first-level cache.
  void BeginLaunch(SectorMap* sectors, size_t ranges, uint64_t text_begin, uint64_t l1_bytes);
  // Makes the following accesses read through `cache`, as earlier blocks on the same SM did; null: through a cache of
  // this object, in which no `owner` finds another owner's lines. Call between rounds only.
  void UseCache(L1Cache* cache, uint64_t owner);

  // Returns the site of a return address; null outside the image's text.
  Site* Find(uint64_t pc) {
    const uint64_t code = (pc - text_begin_) >> 2;
    if (code > AccessLog::kMaxCode) [[unlikely]] return nullptr;
    const uint16_t index = sites_by_code_[code];
    return index != 0 ? &sites_[index] : Insert(pc, code);
  }
  uint64_t Code(const Site& site) const { return (site.pc - text_begin_) >> 2; }
  // Sites are numbered from 1; entry 0 is unused.
  const Site& site(uint16_t id) const { return sites_[id]; }
  uint16_t site_count() const { return site_count_; }

  // Reads the log of a warp whose lanes are all at one place. Its batch of loads continues.
  void Drain(AccessLog& log, int warp);
  // Ends a batch: the warp whose log was drained last waits for all its loads.
  void EndBatch();
  // Ends a round: all warps of the block have stopped, and their loads and stores since the last round pass through the
  // cache.
  void EndRound();

  LaunchCounters counters;

  // Adds the counts of another OS thread in the same launch. Sites are added before scaling, so that the sums do not
  // depend on which thread ran which block.
  void Absorb(const AccessCounters& other);

  // Sums the sites: accesses that the log left out are scaled from those it held.
  LaunchCounters Finish();

 private:
  static constexpr uint16_t kMaxSites = 0xfff0;  // all further instructions share the last one
  static constexpr uint32_t kMaxRepeats = 4;     // limit for one load in a batch: nvcc unrolls loops by this factor

  // The loads and stores of one warp in a round. Each takes a word with the site's number and the number of lines, and
  // a word per line: the line's number << 4 | bits of its sectors.
  struct WarpRequests {
    static constexpr uint64_t kTurnEnds = uint64_t{1} << 63;
    static constexpr int kSiteShift = 32;
    std::vector<uint64_t> words;
    size_t last = 0;  // position of the latest entry's first word
    size_t at = 0;    // position that EndRound has reached
  };

  // Returns a new site for the instruction at `pc`.
  Site* Insert(uint64_t pc, uint64_t code);
  // Counts the 32-byte sectors that a warp's access to global memory touches.
  void CountGlobal(Site& site, const uint64_t* offsets, int lanes);
  // Counts the passes over the banks that a warp's access to shared memory takes.
  void CountShared(Site& site, const uint64_t* offsets, int lanes);
  // Keeps the request of a warp for its turn in the cache: the site, and the lines with the sectors that it touches.
  void Keep(const Site& site, const uint64_t* sectors, int count);
  // Passes the kept requests of a warp to the modelled first-level cache.
  void TakeTurn(WarpRequests& requests);

  uint64_t text_begin_ = 0;
  ZeroedArray<uint16_t> sites_by_code_;
  ZeroedArray<Site> sites_;    // never moves, because hooks hold pointers to elements
  uint16_t site_count_ = 0;
  SectorMap* sectors_ = nullptr;
  std::vector<uint64_t> range_read_, range_written_;
  uint64_t atomic_sectors_ = 0;
  L1Cache own_cache_;
  L1Cache* cache_ = &own_cache_;
  uint64_t cache_tag_ = 0;      // the owner's number, in the bits above a line's number
  uint64_t l1_bytes_ = 0;
  std::array<WarpRequests, kMaxBlockThreads / kWarpSize> requests_;
  int warp_ = 0;  // warp whose log was drained last
  // The batch of loads that is being collected: its number, and the bytes of its sectors.
  uint32_t batch_ = 1;
  uint64_t batch_bytes_ = 0;
};

}  // namespace hone::sim
