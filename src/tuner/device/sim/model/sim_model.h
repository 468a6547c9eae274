// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns the counters of a simulated launch into a *modelled* time for a named GPU.
//
// A launch is as slow as its tightest bottleneck: DRAM, the second-level cache, the load-store units and shared-memory
// banks, instruction issue, the tensor cores, or plain latency when too few bytes are in flight. Each gives a time; a
// high-order mean combines them: the largest, plus a little for the others. The aim is the right order of kernels, not
// the exact time: for arithmetic outside the tensor cores only a lower bound is known (image/work_count.h), and for
// registers only that an array larger than all of them is in local memory. Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/device/device_session.h"
#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

// Assumed registers per thread: the simulator's compiler does not know the number.
inline constexpr int kAssumedRegisters = 32;

struct LaunchShape {
  uint64_t grid_blocks = 1;
  uint32_t block_threads = 1;
  uint32_t shared_bytes = 0;            // static and dynamic
  std::vector<int64_t> range_bytes;     // sizes of the bound ranges, as in the counters
};

// Returns the number of blocks of this shape that one SM holds at a time; 0: none fits.
int64_t BlocksPerSm(const DeviceFacts& facts, int64_t block_threads, int64_t shared_bytes);

// Scales counters of a sample of blocks to all blocks: sums by the share of blocks, first uses of sectors up to the
// size of each range.
LaunchCounters ScaleToLaunch(const LaunchCounters& counters, const LaunchShape& shape);

// The modelled time of scaled counters. The parts are kept for explanations and tests.
struct ModelledTime {
  double seconds = 0;           // launch included
  double dram_bytes = 0;
  // Seconds of each bottleneck; `arithmetic` is a part of `issue`.
  double dram = 0, l2 = 0, atomics = 0, sm = 0, issue = 0, tensor = 0, dispatch = 0, latency = 0, arithmetic = 0;
};
ModelledTime ModelLaunch(const GpuModel& gpu, const LaunchShape& shape, const LaunchCounters& counters,
                         CacheState cache);

// Models a memset, and the stream kernel behind a floor, with the same figures.
double ModelStream(const GpuModel& gpu, double read_bytes, double written_bytes, CacheState cache);

// Models a library's matrix product, in seconds: its operations at kReachablePeak of the datasheet's rate for the dtype
// (float32 without tensor cores, float16 and bfloat16 with them), or its bytes at a stream's rate, whichever takes
// longer. Tiles, waves and small sizes are not modelled.
inline constexpr double kReachablePeak = 0.75;
double ModelProduct(const GpuModel& gpu, const ResolvedCall& product, CacheState cache);

// Models one call of an operator of PyTorch, in seconds, with the same figures: `bytes` that it reads and writes, and the
// `flops` of a product in float32. What fits L2 is taken to be there, so that the time is rather too short.
double ModelOperator(const GpuModel& gpu, double bytes, double flops);

}  // namespace hone::sim
