// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts sectors, cache lines and banks, one warp-wide access at a time.
#include "tuner/device/sim/worker/access_counters.h"

#include <algorithm>
#include <bit>

namespace hone::sim {

SectorMap::SectorMap(const std::vector<std::pair<uint64_t, uint64_t>>& ranges) {
  for (const auto& [begin, end] : ranges) {
    Part part;
    part.first = begin >> 5;
    part.sectors = end > begin ? ((end - 1) >> 5) - part.first + 1 : 0;
    part.read = ZeroedArray<uint8_t>((part.sectors + 7) / 8);
    part.written = ZeroedArray<uint8_t>((part.sectors + 7) / 8);
    parts_.push_back(std::move(part));
  }
}

void LaunchCounters::Add(const LaunchCounters& other) {
  for (const Sum& sum : kSums) this->*sum.field += other.*sum.field;
  range_read.resize(std::max(range_read.size(), other.range_read.size()));
  range_written.resize(std::max(range_written.size(), other.range_written.size()));
  for (size_t i = 0; i < other.range_read.size(); ++i) range_read[i] += other.range_read[i];
  for (size_t i = 0; i < other.range_written.size(); ++i) range_written[i] += other.range_written[i];
}

void AccessCounters::BeginLaunch(SectorMap* sectors, size_t ranges, uint64_t text_begin, uint64_t l1_bytes) {
  for (uint16_t i = 1; i <= site_count_; ++i) {
    const uint64_t code = Code(sites_[i]);
    if (code <= AccessLog::kMaxCode) sites_by_code_[code] = 0;
    sites_[i] = Site();
  }
  site_count_ = 0;
  counters = LaunchCounters();
  sectors_ = sectors;
  text_begin_ = text_begin;
  range_read_.assign(ranges, 0);
  range_written_.assign(ranges, 0);
  l1_bytes_ = l1_bytes;
  own_cache_ = L1Cache();
  UseCache(nullptr, 0);
  for (WarpRequests& requests : requests_) requests.words.clear();
  warp_ = 0;
  batch_ = 1;
  batch_bytes_ = 0;
  atomic_sectors_ = 0;
}

void AccessCounters::UseCache(L1Cache* cache, uint64_t owner) {
  cache_ = cache != nullptr ? cache : &own_cache_;
  cache_tag_ = cache != nullptr ? uint64_t{1} << 40 : (owner + 1) << 40;
  if (!cache_->ready()) cache_->Reset(l1_bytes_);
}

// Returns a new site for the instruction at `pc`. If the table is full, returns its last site, which then stands for
// several instructions.
Site* AccessCounters::Insert(uint64_t pc, uint64_t code) {
  if (site_count_ + 1 < kMaxSites) {
    ++site_count_;
    Site& site = sites_[site_count_];
    site = Site();
    site.pc = pc;
    site.id = site_count_;
  }
  sites_by_code_[code] = site_count_;
  return &sites_[site_count_];
}

void AccessCounters::EndBatch() {
  if (batch_bytes_ == 0) return;
  counters.load_batches += 1;
  counters.load_batch_bytes += static_cast<double>(batch_bytes_);
  batch_bytes_ = 0;
  ++batch_;
  WarpRequests& requests = requests_[static_cast<size_t>(warp_)];
  if (!requests.words.empty()) requests.words[requests.last] |= WarpRequests::kTurnEnds;
}

void AccessCounters::Drain(AccessLog& log, int warp) {
  if (log.empty()) return;
  warp_ = warp;
  log.Drain([this](uint64_t code, const uint64_t* offsets, int lanes) {
    Site& site = sites_[sites_by_code_[code]];
    site.logged += static_cast<uint64_t>(lanes);
    ++site.groups;
    if (offsets[0] & AccessLog::kSharedBit) {
      CountShared(site, offsets, lanes);
      return;
    }
    // Stores do not end a batch: a compiler moves the loads of an unrolled loop before them.
    if (!site.writes) {
      if (site.batch == batch_ && site.batch_loads == kMaxRepeats) EndBatch();
      if (site.batch != batch_) site.batch_loads = 0;
      site.batch = batch_;
      ++site.batch_loads;
    }
    const uint64_t before = site.sectors;
    CountGlobal(site, offsets, lanes);
    if (!site.writes) batch_bytes_ += (site.sectors - before) * 32;
  });
}

// Keeps the request of a warp for its turn in the cache: the site, and the lines with the sectors that it touches.
void AccessCounters::Keep(const Site& site, const uint64_t* sectors, int count) {
  WarpRequests& requests = requests_[static_cast<size_t>(warp_)];
  requests.last = requests.words.size();
  requests.words.push_back(uint64_t{site.id} << WarpRequests::kSiteShift);
  for (int i = 0; i < count;) {
    const uint64_t line = sectors[i] >> 2;
    uint64_t mask = 0;
    for (; i < count && sectors[i] >> 2 == line; ++i) mask |= uint64_t{1} << (sectors[i] & 3);
    requests.words.push_back(line << 4 | mask);
    ++requests.words[requests.last];
  }
}

// Passes the kept requests of a warp to the modelled first-level cache.
void AccessCounters::TakeTurn(WarpRequests& requests) {
  while (requests.at < requests.words.size()) {
    const uint64_t head = requests.words[requests.at++];
    Site& site = sites_[head >> WarpRequests::kSiteShift & 0xffff];
    for (uint64_t lines = head & 0xffff; lines > 0; --lines) {
      const uint64_t word = requests.words[requests.at++];
      const int missed = cache_->CountMissedSectors(word >> 4 | cache_tag_, word & 15);
      if (!site.writes) site.missed += static_cast<uint64_t>(missed);
    }
    if (head & WarpRequests::kTurnEnds) return;
  }
}

void AccessCounters::EndRound() {
  EndBatch();
  for (bool more = true; more;) {
    more = false;
    for (WarpRequests& requests : requests_) {
      if (requests.at == requests.words.size()) continue;
      TakeTurn(requests);
      more = true;
    }
  }
  for (WarpRequests& requests : requests_) {
    requests.words.clear();
    requests.at = 0;
  }
}

// Counts the 32-byte sectors that a warp's access to global memory touches.
void AccessCounters::CountGlobal(Site& site, const uint64_t* offsets, int lanes) {
  // Collects the distinct sectors in ascending order. Addresses of neighbouring lanes are mostly ascending already.
  uint64_t sectors[kWarpSize * 2];
  int count = 0;
  bool ascending = true;
  uint64_t last = ~uint64_t{0};
  const uint64_t span = site.bytes > 0 ? site.bytes - 1u : 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const uint64_t first = offsets[lane] >> 5, end = (offsets[lane] + span) >> 5;
    for (uint64_t sector = first; sector <= end; ++sector) {
      if (sector == last) continue;
      ascending &= last == ~uint64_t{0} || sector > last;
      sectors[count++] = sector;
      last = sector;
      if (count == kWarpSize * 2) break;
    }
  }
  if (!ascending) {
    std::sort(sectors, sectors + count);
    count = static_cast<int>(std::unique(sectors, sectors + count) - sectors);
  }
  site.sectors += static_cast<uint64_t>(count);
  for (int i = 0; i < count; ++i) site.lines += i == 0 || sectors[i] >> 2 != sectors[i - 1] >> 2;
  if (sectors_ != nullptr) {
    for (int i = 0; i < count; ++i) {
      if (!sectors_->FirstUse(site.range, sectors[i] << 5, site.writes && !site.atomic)) continue;
      auto& used_range = site.writes && !site.atomic ? range_written_ : range_read_;
      ++used_range[static_cast<size_t>(site.range)];
      if (site.atomic) ++atomic_sectors_;
    }
  }
  if (site.atomic) {
    // Atomics are executed at the second level; lanes with the same address take turns.
    site.missed += static_cast<uint64_t>(lanes);
  } else if (site.writes) {
    site.missed += static_cast<uint64_t>(count);
    const uint64_t full_sectors = static_cast<uint64_t>(lanes) * site.bytes / 32;
    if (full_sectors < static_cast<uint64_t>(count)) site.partial += static_cast<uint64_t>(count) - full_sectors;
    Keep(site, sectors, count);
  } else {
    Keep(site, sectors, count);
  }
}

// Counts the passes over the banks that a warp's access to shared memory takes.
void AccessCounters::CountShared(Site& site, const uint64_t* offsets, int lanes) {
  // 32 banks of 4 bytes. Accesses of 8 bytes are served by half warps, of 16 bytes by quarter warps; within a part
  // each bank gives one word a cycle to any number of lanes.
  const int words_per_lane = site.bytes <= 4 ? 1 : (site.bytes <= 8 ? 2 : 4);
  const int part = kWarpSize / words_per_lane;
  uint64_t cycles = 0;
  const int parts = (lanes + part - 1) / part;
  for (int begin = 0; begin < lanes; begin += part) {
    const int end = std::min(lanes, begin + part);
    uint8_t depth[kWarpSize] = {};
    uint32_t held[kWarpSize][kWarpSize];
    uint8_t deepest = 1;
    for (int lane = begin; lane < end; ++lane) {
      uint32_t word = static_cast<uint32_t>(offsets[lane] & (AccessLog::kSharedBit - 1)) >> 2;
      for (int k = 0; k < words_per_lane; ++k, ++word) {
        const uint32_t bank = word & 31;
        bool known = false;
        for (uint8_t d = 0; d < depth[bank]; ++d) known |= held[bank][d] == word;
        if (known && !site.atomic) continue;
        if (depth[bank] < kWarpSize) held[bank][depth[bank]++] = word;
        deepest = std::max(deepest, depth[bank]);
      }
    }
    cycles += deepest;
  }
  site.cycles += cycles;
  site.ideal_cycles += static_cast<uint64_t>(parts);
}

void AccessCounters::Absorb(const AccessCounters& other) {
  for (uint16_t i = 1; i <= other.site_count_; ++i) {
    const Site& other_site = other.sites_[i];
    Site* own_site = Find(other_site.pc);
    if (own_site == nullptr) continue;
    if (own_site->total == 0) {
      const uint16_t id = own_site->id;
      *own_site = other_site;
      own_site->id = id;
      continue;
    }
    own_site->ignored |= other_site.ignored;
    for (uint64_t Site::* sum : {&Site::total, &Site::logged, &Site::groups, &Site::sectors, &Site::missed,
                                 &Site::partial, &Site::lines, &Site::cycles, &Site::ideal_cycles}) {
      own_site->*sum += other_site.*sum;
    }
  }
  counters.Add(other.counters);
  for (size_t i = 0; i < range_read_.size(); ++i) {
    range_read_[i] += other.range_read_[i];
    range_written_[i] += other.range_written_[i];
  }
  atomic_sectors_ += other.atomic_sectors_;
}

LaunchCounters AccessCounters::Finish() {
  LaunchCounters result = counters;
  // The order is the program's: sums of fractions depend on it, if only in the last digit.
  std::vector<uint16_t> order(site_count_);
  for (uint16_t i = 0; i < site_count_; ++i) order[i] = static_cast<uint16_t>(i + 1);
  std::sort(order.begin(), order.end(), [this](uint16_t a, uint16_t b) { return sites_[a].pc < sites_[b].pc; });
  for (const uint16_t i : order) {
    const Site& site = sites_[i];
    if (site.ignored) continue;
    result.accesses += static_cast<double>(site.total);
    if (site.logged == 0) continue;
    const double scale = static_cast<double>(site.total) / static_cast<double>(site.logged);
    const auto scaled = [scale](uint64_t n) { return static_cast<double>(n) * scale; };
    if (site.sectors > 0) {
      result.global_requests += scaled(site.groups);
      result.global_sectors += scaled(site.sectors);
      result.global_lines += scaled(site.lines);
      if (site.atomic) {
        result.l2_atomics += scaled(site.missed);
      } else if (site.writes) {
        result.l2_write_sectors += scaled(site.missed);
        result.l2_partial_sectors += scaled(site.partial);
      } else {
        result.load_requests += scaled(site.groups);
        result.load_sectors += scaled(site.sectors);
        result.l2_read_sectors += scaled(site.missed);
      }
    }
    if (site.cycles > 0) {
      result.shared_requests += scaled(site.groups);
      result.shared_cycles += scaled(site.cycles);
      result.shared_conflict_cycles += scaled(site.cycles - site.ideal_cycles);
    }
  }
  result.atomic_sectors = static_cast<double>(atomic_sectors_);
  result.range_read.assign(range_read_.begin(), range_read_.end());
  result.range_written.assign(range_written_.begin(), range_written_.end());
  return result;
}

}  // namespace hone::sim
