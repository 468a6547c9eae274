// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what the accesses of a launch cost a GPU's memory system: sectors, cache hits, bank conflicts.
//
// Fed with warp-wide accesses (access_log.h) in the order of one block. A first-level cache (l1_cache.h) stands before
// the second level; a bitmap over every bound tensor tells a sector's first use from a later one. Numbers are of what
// was seen: ScaleToLaunch (sim_model.h) brings them up to the whole launch.
//
// The simulator runs one warp after another, a GPU runs them side by side: a row that each of 32 warps reads twice lies
// between the two readings 32 times. Loads and stores are therefore kept until all warps of the block have come to a
// stop, and then go through the cache in turns of one batch a warp. A batch is the loads that a warp has under way
// together: it ends where the warp waits for loaded values. Stores go through to the second level and take a line in
// the first, as Accel-Sim (Khairy et al. 2020) has it for Volta and later: rows that are read, then read and written,
// need room twice.
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
  uint32_t batch = 0;        // the last batch of loads that it took part in, and how often
  uint32_t batch_loads = 0;
  uint16_t id = 0;
  uint8_t bytes = 0;
  bool writes = false;
  bool atomic = false;
  bool writable = false;     // the last tensor
  bool may_be_unwritten = false;
  bool sparse = false;       // the last tensor's bits say "written", not "unwritten"
  bool drawn = false;        // and it may be read all the same
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
  double waiting_operations = 0;    // of these, those whose operands had to be waited for
  double mma_multiply_adds = 0;
  double load_batches = 0;          // global loads that a thread has under way together
  double load_batch_bytes = 0;      // bytes (of sectors) of such batches, summed
  // By single threads, from the code itself (image/work_count.h): floating-point operations, of which some also take the
  // special-function unit, and bytes of arrays that no register file holds.
  double operations = 0, special_operations = 0, local_read_bytes = 0, local_written_bytes = 0;
  // By bound range: sectors used at least once, read or written.
  std::vector<double> range_read, range_written;

  void Add(const LaunchCounters& other);

  // Every field but the vectors, with its name on the wire. `grows`: with the number of blocks.
  struct Sum {
    const char* name;
    double LaunchCounters::*field;
    bool grows;
  };
  static const std::array<Sum, 26> kSums;
};
inline constexpr std::array<LaunchCounters::Sum, 26> LaunchCounters::kSums{{
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
    {"local_read_bytes", &LaunchCounters::local_read_bytes, true},
    {"local_written_bytes", &LaunchCounters::local_written_bytes, true},
}};

class AccessCounters {
 public:
  AccessCounters() : sites_by_code_(AccessLog::kMaxCode + 1), sites_(kMaxSites) {}

  // A launch begins. `sectors` outlives it. `l1_bytes`: what one block has of the first-level cache.
  void BeginLaunch(SectorMap* sectors, size_t ranges, uint64_t text_begin, uint64_t l1_bytes);
  // What comes now reads through `cache`, as the blocks before it on the same SM did; null: through a cache of this
  // object's own, in which nobody finds what another `owner` loaded. Between rounds only.
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

  // Reads the log of a warp whose lanes all stand at one place. Its batch of loads goes on.
  void Drain(AccessLog& log, int warp);
  // The warp whose log was drained last waits for everything it has loaded.
  void EndBatch();
  // All warps of the block have stopped: what they have loaded and stored since the last round goes through the cache.
  void EndRound();

  LaunchCounters counters;

  // Takes over what another OS thread counted in the same launch. Sites are added up before anything is scaled, so
  // that the sums do not depend on which thread ran which block.
  void Absorb(const AccessCounters& other);

  // Sums up the sites: what the log left out is scaled from what it held.
  LaunchCounters Finish();

 private:
  static constexpr uint16_t kMaxSites = 0xfff0;  // all further instructions share the last one
  static constexpr uint32_t kMaxRepeats = 4;     // of one load in a batch: as far as nvcc unrolls a loop by itself

  // The loads and stores of one warp in a round. Each is a word with the site's number and the number of lines, and
  // then a word a line: its number << 4 | its sectors.
  struct WarpRequests {
    static constexpr uint64_t kTurnEnds = uint64_t{1} << 63;
    static constexpr int kSiteShift = 32;
    std::vector<uint64_t> words;
    size_t last = 0;  // where the latest begins
    size_t at = 0;    // how far EndRound has come
  };

  Site* Insert(uint64_t pc, uint64_t code);
  void CountGlobal(Site& site, const uint64_t* offsets, int lanes);
  void CountShared(Site& site, const uint64_t* offsets, int lanes);
  void Keep(const Site& site, const uint64_t* sectors, int count);
  void TakeTurn(WarpRequests& requests);

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
  uint64_t l1_bytes_ = 0;
  std::array<WarpRequests, kMaxBlockThreads / kWarpSize> requests_;
  int warp_ = 0;  // whose log was drained last
  // The batch of loads being gathered.
  uint32_t batch_ = 1;
  uint64_t batch_bytes_ = 0;
};

}  // namespace hone::sim
