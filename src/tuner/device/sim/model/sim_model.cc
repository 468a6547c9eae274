// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes the bottlenecks, one after the other.
#include "tuner/device/sim/model/sim_model.h"

#include <algorithm>
#include <cmath>

namespace hone::sim {

namespace {

constexpr double kSector = 32;  // bytes of a sector of the caches

// Share of the second-level cache that holds data of earlier launches or of another part of the grid; the rest is lost
// to hashing and to writes.
constexpr double kUsableL2 = 0.7;

double MeanOfOrderFour(std::initializer_list<double> parts) {
  constexpr double kOrder = 4;  // of the norm: near to the largest part, and more if several are large
  double sum = 0;
  for (const double part : parts) sum += std::pow(part, kOrder);
  return std::pow(sum, 1 / kOrder);
}

struct Footprint {
  double read = 0, written = 0;
};

Footprint FootprintOf(const LaunchCounters& counters) {
  Footprint footprint;
  for (const double sectors : counters.range_read) footprint.read += sectors * kSector;
  for (const double sectors : counters.range_written) footprint.written += sectors * kSector;
  return footprint;
}

}  // namespace

int64_t BlocksPerSm(const DeviceFacts& facts, int64_t block_threads, int64_t shared_bytes) {
  const int64_t warps = std::max<int64_t>(1, (block_threads + 31) / 32);
  int64_t blocks = std::min<int64_t>(facts.max_blocks_per_sm, facts.max_threads_per_sm / (warps * 32));
  blocks = std::min(blocks, facts.registers_per_sm / (warps * 32 * kAssumedRegisters));
  // A block that fits alone can always run: the assumed registers must not forbid what the real ones allow.
  if (blocks == 0 && block_threads <= facts.max_threads_per_block) blocks = 1;
  constexpr int64_t kReserved = 1024;  // reserved by the system, per block
  if (shared_bytes > facts.smem_optin) return 0;
  return std::min(blocks, facts.smem_per_sm / (shared_bytes + kReserved));
}

LaunchCounters ScaleToLaunch(const LaunchCounters& counters, const LaunchShape& shape) {
  if (counters.blocks <= 0) return counters;
  const double scale = static_cast<double>(shape.grid_blocks) / counters.blocks;
  // Almost every field is a sum over blocks.
  LaunchCounters scaled_counters = counters;
  for (const LaunchCounters::Sum& sum : LaunchCounters::kSums) {
    if (sum.grows) scaled_counters.*sum.field *= scale;
  }
  for (auto* used : {&scaled_counters.range_read, &scaled_counters.range_written}) {
    for (size_t i = 0; i < used->size() && i < shape.range_bytes.size(); ++i) {
      (*used)[i] = std::min((*used)[i] * scale, std::ceil(static_cast<double>(shape.range_bytes[i]) / kSector) + 1);
    }
  }
  return scaled_counters;
}

namespace {

// Traffic added by arrays in local memory: each thread's part goes through the first-level cache, and further if the
// parts of all resident threads do not fit. Their loads wait like other loads.
struct LocalTraffic {
  double footprint = 0;         // bytes of one thread
  double l2_reads = 0, l2_writes = 0, dram_reads = 0, dram_writes = 0;
  double lines = 0;             // lines of 128 bytes, through the load-store units
};

// Returns the traffic of local arrays: what misses the caches, and what the caches serve.
LocalTraffic LocalTrafficOf(const GpuModel& gpu, const LaunchCounters& c, double resident_threads_per_sm, double resident_threads) {
  LocalTraffic local;
  const double threads = c.warps * kWarpSize, bytes = c.local_read_bytes + c.local_written_bytes;
  if (threads <= 0 || bytes <= 0) return local;
  // No more than the written bytes can be read; the size of an array does not show how much of it is used.
  local.footprint = c.local_written_bytes > 0 ? c.local_written_bytes / threads : bytes / threads;
  local.lines = bytes / 128;
  if (local.footprint * resident_threads_per_sm <= static_cast<double>(gpu.l1_bytes_per_sm)) return local;
  local.l2_reads = c.local_read_bytes;
  local.l2_writes = c.local_written_bytes;
  if (local.footprint * resident_threads <= kUsableL2 * static_cast<double>(gpu.facts.l2_bytes)) return local;
  local.dram_reads = c.local_read_bytes;
  local.dram_writes = c.local_written_bytes;
  return local;
}

}  // namespace

ModelledTime ModelLaunch(const GpuModel& gpu, const LaunchShape& shape, const LaunchCounters& counters, CacheState cache) {
  ModelledTime time;
  LaunchCounters c = counters;
  const DeviceFacts& facts = gpu.facts;
  const double sms = facts.sm_count;
  const double blocks = static_cast<double>(shape.grid_blocks);
  const double per_sm = std::max<double>(1, static_cast<double>(BlocksPerSm(facts, shape.block_threads, shape.shared_bytes)));
  const double warps_per_block = std::ceil(shape.block_threads / 32.0);

  // A wave is as many blocks as all SMs hold at once. The blocks of a first wave start together and end together, and
  // so do those of the next few: a partly filled last wave then takes as long as a full one, while most SMs idle. After
  // several waves blocks end at different times, each SM takes its next block as soon as it has room, and only about
  // half a wave is lost at the end. The limit of four waves is chosen, not measured; `balance` is the work's time over
  // its time if no SM were ever idle.
  const double waves = blocks / (sms * per_sm);
  const double whole_waves = waves <= 1 ? 1 : (waves < 4 ? std::ceil(waves) : waves + 0.5);
  const double balance = waves <= 1 ? 1 : whole_waves / waves;
  // With fewer blocks than SMs, only some SMs work.
  const double busy_sms = std::min(sms, blocks);
  const double resident_warps = std::min(per_sm, std::ceil(blocks / sms)) * warps_per_block;

  const LocalTraffic local =
      LocalTrafficOf(gpu, c, resident_warps * kWarpSize, resident_warps * kWarpSize * busy_sms);
  if (local.l2_reads > 0 && c.load_batches > 0) {
    // Batches are assumed to have the size of the kernel's other loads.
    c.load_batches *= 1 + c.local_read_bytes / std::max(1.0, c.load_batch_bytes);
    c.load_batch_bytes += c.local_read_bytes;
  }
  c.load_sectors += local.l2_reads / kSector;
  c.l2_read_sectors += local.l2_reads / kSector;
  c.l2_write_sectors += local.l2_writes / kSector;
  c.global_lines += local.lines;

  // --- DRAM and the second level ---
  const Footprint footprint = FootprintOf(c);
  const double l2_capacity = kUsableL2 * static_cast<double>(facts.l2_bytes);
  const double l2_reads = c.l2_read_sectors * kSector, l2_writes = c.l2_write_sectors * kSector;
  const bool fits = footprint.read + footprint.written <= l2_capacity;
  double dram_reads = footprint.read, dram_writes = footprint.written;
  if (cache == CacheState::kWarm && fits) {
    dram_reads = dram_writes = 0;
  } else if (fits) {
    dram_writes *= 0.5;  // much of the data is still in the cache when the kernel ends
  } else {
    // Reads of a sector that another block has read before hit while the data of the blocks in flight fits.
    const double reread = std::max(0.0, l2_reads - local.l2_reads - footprint.read);
    const double in_flight = footprint.read * std::min(1.0, sms * per_sm / std::max(1.0, blocks)) * 2;
    const double miss = std::clamp((in_flight - l2_capacity) / std::max(1.0, in_flight), 0.0, 1.0);
    dram_reads += reread * miss;
    // Partly written sectors are written back whole.
    dram_writes = std::max(dram_writes, std::min(l2_writes - local.l2_writes, 4 * footprint.written) * 0.25 + footprint.written * 0.75);
  }
  dram_reads += local.dram_reads;
  dram_writes += local.dram_writes;
  time.dram_bytes = dram_reads + dram_writes;
  const double dram_rate = facts.memory_bandwidth * gpu.reachable_dram;
  time.dram = time.dram_bytes / dram_rate;
  // A sector written in part costs the second level about as much as three whole ones.
  constexpr double kPartialCost = 2.7;
  time.l2 = (l2_reads + l2_writes + (kPartialCost - 1) * c.l2_partial_sectors * kSector) / gpu.l2_bytes_per_second;
  // Atomics queue up per sector; many sectors are served in parallel.
  constexpr double kAtomicsPerSector = 0.12e9, kAtomicsInAll = 120e9;
  time.atomics = c.l2_atomics / std::min(kAtomicsInAll, std::max(1.0, c.atomic_sectors) * kAtomicsPerSector);

  // --- one SM's pipes; the work of all SMs spread over the busy ones ---
  const double cycle = 1 / gpu.clock_hz;
  // The load-store unit takes a cycle for each 128-byte line of a request, and shares its data path with shared
  // memory and shuffles.
  time.sm = (c.global_lines + c.shared_cycles + c.warp_operations) * cycle / busy_sms * balance;
  // An SM issues four warp instructions a cycle; a memory instruction comes with a handful of others (addresses,
  // conversion, arithmetic).
  const double instructions = 8 * c.global_requests + 3 * c.shared_requests + 3 * c.warp_operations + 8 * c.warps;
  time.issue = instructions / 4 * cycle / busy_sms * balance;
  // Counted arithmetic takes at least as long as at the datasheet's rates: each kind on its own lanes, and all of it
  // through the four schedulers, each of which issues one warp's operation a cycle. Part of it is included in the handful above.
  const double rate = facts.fp32_flops / 2 * busy_sms / sms;
  constexpr double kIssuedPerCycle = 4 * kWarpSize;
  time.arithmetic = std::max({c.operations / rate, gpu.lanes_per_special * c.special_operations / rate,
                              gpu.lanes_per_double * c.doubles / rate, gpu.lanes_per_integer * c.integers / rate,
                              (c.operations + c.doubles + c.integers) * cycle / (kIssuedPerCycle * busy_sms)}) *
                    balance;
  time.issue = std::max(time.issue, time.arithmetic);
  time.tensor = 2 * c.mma_multiply_adds / (facts.tensor_bf16_flops * 0.8) * (sms / busy_sms);

  // An SM starts a block every 158 cycles (measured on an H200 with empty little blocks; grids beyond one wave).
  constexpr double kDispatchCycles = 158;
  time.dispatch = waves > 1 ? blocks * kDispatchCycles * cycle / sms : 0;

  // --- latency: the time of one block alone, times the waves ---
  const double batches = c.warps > 0 ? c.load_batches / c.warps : 0;
  const double dram_share = l2_reads > 0 ? std::min(1.0, dram_reads / l2_reads) : 0;
  const double l1_hits = c.load_sectors > 0 ? 1 - std::min(1.0, c.l2_read_sectors / c.load_sectors) : 0;
  const double l1_latency = 34 * cycle;
  const double load_latency = l1_hits * l1_latency + (1 - l1_hits) * (dram_share * gpu.dram_latency_seconds +
                                                                      (1 - dram_share) * gpu.l2_latency_seconds);
  const double shared_per_warp = c.warps > 0 ? c.shared_requests / c.warps : 0;
  const double barriers = c.warps > 0 ? c.barriers / c.warps : 0;
  const double shuffles = c.warps > 0 ? c.waiting_operations / c.warps : 0;
  const double stores = c.warps > 0 ? (c.global_requests - c.load_requests) / c.warps : 0;
  // In cycles: 30 for a shared access (four overlap), 25 for a shuffle, 4 for a store, 700 more for every block. A barrier
  // takes 20 and 2 for each warp, because it waits for the slowest one.
  const double alone = batches * load_latency + shared_per_warp / 4 * 30 * cycle + shuffles * 25 * cycle +
                       barriers * (20 + 2 * warps_per_block) * cycle + stores * 4 * cycle + 700 * cycle;
  time.latency = alone * whole_waves;

  // Little's law for the memory path: throughput is bytes in flight over latency.
  const double batch_bytes = c.load_batches > 0 ? c.load_batch_bytes / c.load_batches : 0;
  if (batch_bytes > 0 && l2_reads > 0) {
    const double in_flight = busy_sms * resident_warps * batch_bytes;
    const double arrival_rate = in_flight / std::max(load_latency, 1e-9);
    time.latency = std::max(time.latency, c.load_sectors * kSector / arrival_rate);
  }

  time.seconds = gpu.launch_seconds + MeanOfOrderFour({time.dram, time.l2, time.atomics, time.sm, time.issue,
                                                       time.tensor, time.dispatch, time.latency});
  return time;
}

double ModelStream(const GpuModel& gpu, double read_bytes, double written_bytes, CacheState cache) {
  const double bytes = read_bytes + written_bytes;
  const double l2_capacity = kUsableL2 * static_cast<double>(gpu.facts.l2_bytes);
  double dram = bytes;
  if (cache == CacheState::kWarm && bytes <= l2_capacity) {
    dram = 0;
  } else if (bytes <= l2_capacity) {
    dram = read_bytes + 0.5 * written_bytes;
  }
  const double latency = gpu.dram_latency_seconds + 700 / gpu.clock_hz;
  return gpu.launch_seconds + MeanOfOrderFour({dram / (gpu.facts.memory_bandwidth * gpu.reachable_dram),
                                               bytes / gpu.l2_bytes_per_second, latency});
}

double ModelProduct(const GpuModel& gpu, const ResolvedCall& product, CacheState cache) {
  const double peak = product.dtype == DType::kFloat32 ? gpu.facts.fp32_flops : gpu.facts.tensor_bf16_flops;
  const double written_bytes = static_cast<double>(product.out.bytes);
  return std::max(ModelStream(gpu, product.bytes() - written_bytes, written_bytes, cache),
                  gpu.launch_seconds + product.flops() / (kReachablePeak * peak));
}

double ModelOperator(const GpuModel& gpu, double bytes, double flops) {
  return std::max(ModelStream(gpu, bytes, 0, CacheState::kWarm), gpu.launch_seconds + flops / (kReachablePeak * gpu.facts.fp32_flops));
}

}  // namespace hone::sim
