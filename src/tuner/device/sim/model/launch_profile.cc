// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/model/launch_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace hone::sim {

namespace {

// Adds up the sites of the same source line, space, operation and size; the most expensive come first.
std::vector<MemorySite> MergeSites(const std::vector<SiteReport>& sites, SourceLines& lines) {
  std::vector<uint64_t> pcs;
  for (const SiteReport& site : sites) pcs.push_back(site.pc);
  const std::vector<std::string> places = lines.Find(pcs);
  struct Sum {
    double groups = 0, transfers = 0, ideal = 0;
  };
  std::map<std::tuple<bool, std::string, std::string, int>, Sum> merged;
  double sectors = 0, cycles = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    const SiteReport& site = sites[i];
    if (site.groups <= 0) continue;
    Sum& sum = merged[{site.shared, places[i], site.atomic ? "atomic" : site.writes ? "store" : "load", site.bytes}];
    sum.groups += site.groups;
    sum.transfers += site.shared ? site.cycles : site.sectors;
    // Counts sectors that the lanes' bytes would fill if they were adjacent; a request needs at least one.
    sum.ideal += site.shared ? site.ideal_cycles : std::max(site.groups, site.accesses * site.bytes / 32);
    (site.shared ? cycles : sectors) += site.shared ? site.cycles : site.sectors;
  }
  std::vector<MemorySite> memory_sites;
  for (const auto& [key, sum] : merged) {
    const auto& [shared, location, operation, bytes] = key;
    const double total_cost = shared ? cycles : sectors;
    memory_sites.push_back({.location = location,
                            .space = shared ? "shared" : "global",
                            .operation = operation,
                            .bytes = bytes,
                            .requests = sum.groups,
                            .transfers_per_request = sum.transfers / sum.groups,
                            .ideal_transfers = sum.ideal / sum.groups,
                            .share = total_cost > 0 ? sum.transfers / total_cost : 0});
  }
  std::stable_sort(memory_sites.begin(), memory_sites.end(), [](const MemorySite& a, const MemorySite& b) {
    return a.requests * a.transfers_per_request > b.requests * b.transfers_per_request;
  });
  return memory_sites;
}

}  // namespace

KernelProfile DescribeLaunch(const std::string& kernel, const GpuModel& gpu, const LaunchShape& shape,
                             const LaunchCounters& c, const ModelledTime& time, const std::vector<SiteReport>& sites,
                             SourceLines& lines) {
  const DeviceFacts& facts = gpu.facts;
  KernelProfile profile;
  profile.kernel = kernel;
  profile.duration_us = time.seconds * 1e6;
  profile.blocks = static_cast<int64_t>(shape.grid_blocks);
  profile.threads_per_block = shape.block_threads;
  profile.shared_bytes = shape.shared_bytes;
  const auto share = [&](double seconds) { return time.seconds > 0 ? 100 * seconds / time.seconds : 0; };
  auto& v = profile.values;
  v["dram_bytes"] = time.dram_bytes;
  v["dram_throughput"] = facts.memory_bandwidth > 0 ? share(time.dram_bytes / facts.memory_bandwidth) : 0;
  v["l2_throughput"] = std::min(100.0, share(time.l2));
  v["l1_throughput"] = std::min(100.0, share(time.sm));
  v["memory_throughput"] = std::max({v["dram_throughput"], v["l2_throughput"], v["l1_throughput"]});
  v["sm_throughput"] = std::min(100.0, std::max({share(time.sm), share(time.issue), share(time.tensor)}));
  v["limit_dram"] = share(time.dram);
  v["limit_l2"] = share(time.l2);
  v["limit_atomics"] = share(time.atomics);
  v["limit_lsu"] = share(time.sm);
  v["limit_issue"] = share(time.issue);
  v["limit_tensor"] = share(time.tensor);
  v["limit_dispatch"] = share(time.dispatch);
  v["limit_latency"] = share(time.latency);

  const double per_sm = std::max<double>(1, static_cast<double>(BlocksPerSm(facts, shape.block_threads, shape.shared_bytes)));
  const double blocks = static_cast<double>(shape.grid_blocks);
  const double resident = std::min(per_sm, std::ceil(blocks / facts.sm_count));
  const double warps_per_block = std::ceil(shape.block_threads / 32.0);
  v["waves"] = blocks / (facts.sm_count * per_sm);
  if (facts.max_threads_per_sm > 0) {
    v["occupancy"] = std::min(100.0, 100 * resident * warps_per_block * 32 / facts.max_threads_per_sm);
  }
  if (c.load_batches > 0) v["load_bytes_in_flight"] = resident * warps_per_block * c.load_batch_bytes / c.load_batches;

  v["load_requests"] = c.load_requests;
  v["load_sectors"] = c.load_sectors;
  v["store_requests"] = c.global_requests - c.load_requests;
  v["store_sectors"] = c.global_sectors - c.load_sectors;
  if (c.load_sectors > 0) v["l1_hit_rate"] = 100 * (1 - std::min(1.0, c.l2_read_sectors / c.load_sectors));
  v["shared_passes"] = c.shared_cycles;
  v["bank_conflicts"] = c.shared_conflict_cycles;
  if (c.mma_multiply_adds > 0) v["tensor_active"] = std::min(100.0, share(time.tensor));
  if (c.warps > 0) v["barriers_per_warp"] = c.barriers / c.warps;
  profile.sites = MergeSites(sites, lines);
  return profile;
}

}  // namespace hone::sim
