// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the GPUs that the simulator can model: their published figures, and the few latencies that its time model
// needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone::sim {

struct GpuModel {
  DeviceFacts facts;                    // modelled is true; id "sim" or "sim:NAME"; driver is left to the session
  double clock_hz = 0;                  // boost
  double reachable_dram = 0;            // fraction of the datasheet bandwidth that a copy kernel reaches
  double l2_bytes_per_second = 0;       // reachable
  double dram_latency_seconds = 0;      // latency of a load while the memory is busy
  double l2_latency_seconds = 0;
  int64_t l1_bytes_per_sm = 0;          // first-level cache and shared memory together
  // Number of single-precision lanes for each lane for doubles, for integers, and for special functions.
  double lanes_per_double = 2, lanes_per_integer = 2, lanes_per_special = 8;
  double launch_seconds = 0;            // time from one kernel's end to the next one's work, within a graph
};

// Returns a GPU by name: "" is the default, a modelled H200; others are h200, h100, a100, rtx4090. nullopt: not in the
// table.
std::optional<GpuModel> FindGpuModel(std::string_view name);
std::vector<std::string> GpuModelNames();

}  // namespace hone::sim
