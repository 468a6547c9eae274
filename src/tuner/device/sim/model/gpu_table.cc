// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures are from NVIDIA's datasheets and tuning guides (SXM parts at boost clock). Latencies and reachable
// fractions are round numbers, typical of pointer-chasing and copy benchmarks; only the order of modelled times depends
// on them.
#include "tuner/device/sim/model/gpu_table.h"

namespace hone::sim {

namespace {

struct Row {
  const char* name;
  const char* title;
  int major, minor, sms;
  int64_t l2_mib;
  int64_t memory_bytes;
  int64_t smem_optin, smem_per_sm, l1_per_sm;
  int threads_per_sm, blocks_per_sm;
  double bandwidth, reachable, l2_bandwidth, clock;
  double fp32, bf16;
  double dram_latency_ns, l2_latency_ns, launch_us;
  double per_double, per_integer, per_special;  // single-precision lanes for each lane of this kind
};

constexpr int64_t kKiB = 1024;
constexpr int64_t kGB = 1000 * 1000 * 1000;

constexpr Row kRows[] = {
    {"h200", "H200", 9, 0, 132, 60, 141 * kGB, 227 * kKiB, 228 * kKiB, 256 * kKiB, 2048, 32, 4.8e12, 0.88, 5.6e12, 1.98e9,
     66.9e12, 989e12, 640, 270, 1.6, 2, 2, 8},
    {"h100", "H100 SXM", 9, 0, 132, 50, 80 * kGB, 227 * kKiB, 228 * kKiB, 256 * kKiB, 2048, 32, 3.35e12, 0.90, 5.6e12,
     1.98e9, 66.9e12, 989e12, 620, 270, 1.6, 2, 2, 8},
    {"a100", "A100 SXM 80 GB", 8, 0, 108, 40, 80 * kGB, 163 * kKiB, 164 * kKiB, 192 * kKiB, 2048, 32, 2.039e12, 0.90,
     4.2e12, 1.41e9, 19.5e12, 312e12, 560, 220, 1.8, 2, 1, 4},
    {"rtx4090", "GeForce RTX 4090", 8, 9, 128, 72, 24 * kGB, 99 * kKiB, 100 * kKiB, 128 * kKiB, 1536, 24, 1.008e12, 0.92,
     4.8e12, 2.52e9, 82.6e12, 165.2e12, 560, 240, 1.5, 64, 2, 8},
};

}  // namespace

std::optional<GpuModel> FindGpuModel(std::string_view name) {
  const std::string_view gpu_name = name.empty() ? "h200" : name;
  for (const Row& row : kRows) {
    if (gpu_name != row.name) continue;
    GpuModel model;
    DeviceFacts& facts = model.facts;
    facts.id = name.empty() ? "sim" : "sim:" + std::string(name);
    facts.name = std::string("simulated GPU, modelled on ") + (row.title[0] == 'G' ? "a " : "an ") + row.title;
    facts.modelled = true;
    facts.cc_major = row.major;
    facts.cc_minor = row.minor;
    facts.sm_count = row.sms;
    facts.l2_bytes = row.l2_mib * 1024 * 1024;
    facts.memory_bytes = row.memory_bytes;
    facts.smem_optin = row.smem_optin;
    facts.smem_per_sm = row.smem_per_sm;
    facts.max_threads_per_sm = row.threads_per_sm;
    facts.max_blocks_per_sm = row.blocks_per_sm;
    facts.memory_bandwidth = row.bandwidth;
    // This is a bound, not an average: twice what a kernel reaches.
    facts.l2_bandwidth = 2 * row.l2_bandwidth;
    facts.fp32_flops = row.fp32;
    facts.tensor_bf16_flops = row.bf16;
    model.clock_hz = row.clock;
    model.reachable_dram = row.reachable;
    model.l2_bytes_per_second = row.l2_bandwidth;
    model.dram_latency_seconds = row.dram_latency_ns * 1e-9;
    model.l2_latency_seconds = row.l2_latency_ns * 1e-9;
    model.l1_bytes_per_sm = row.l1_per_sm;
    model.launch_seconds = row.launch_us * 1e-6;
    model.lanes_per_double = row.per_double;
    model.lanes_per_integer = row.per_integer;
    model.lanes_per_special = row.per_special;
    return model;
  }
  return std::nullopt;
}

std::vector<std::string> GpuModelNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace hone::sim
