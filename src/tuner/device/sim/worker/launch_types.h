// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the input and output of one simulated kernel launch. Both sides of the child's socket use these types.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tuner/device/sim/worker/access_counters.h"

namespace hone::sim {

// Global memory that the launch may touch. Ranges do not overlap and ascend.
struct BoundRange {
  uint64_t begin = 0, end = 0;
  bool writable = false;
  std::string name;
  bool sparse = false;  // see SimArena::Block
  bool drawn = false;
  bool output = false;  // the range is a tensor that the launch may write, and no workspace
};

// Addresses and sizes of a loaded image, for the runtime.
struct ImageLayout {
  uint64_t text_begin = 0, text_end = 0;     // addresses in this process
  uint64_t image_begin = 0, image_end = 0;   // all segments
  uint64_t data_begin = 0, data_end = 0;     // writable globals
  uint32_t shared_bytes = 0;                 // size of the segment that holds shared memory, dynamic included
  uint32_t static_shared = 0;                // bytes of static shared memory, from its start
  uint32_t dynamic_offset = 0;               // offset of dynamic shared memory in it
  bool has_dynamic = false;
  std::vector<std::pair<uint32_t, uint32_t>> guards;  // see image_symbols.h
  std::vector<std::pair<uint64_t, uint64_t>> constants;  // addresses of __constant__ variables, (begin, end)
};

using KernelEntry = void (*)(const void* const*);

struct LaunchSpec {
  KernelEntry entry = nullptr;
  std::vector<const void*> arguments;        // one address of a value per parameter
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamic_shared = 0;
  bool cooperative = false;
  // The counters become a modelled time, so they must be reproducible: one OS thread runs all blocks in a fixed order,
  // even if they communicate. Otherwise all OS threads share the blocks.
  bool in_order = false;
  std::vector<uint64_t> blocks;              // linear numbers of the blocks to run, in order; empty: all
  bool secret = false;                       // a secret selected `blocks`: their outputs are compared, and not timed
  // No further block begins after about `access_budget` observed accesses (0: no bound), unless fewer than
  // `least_blocks` have begun and fewer than `access_limit` accesses have been observed.
  uint64_t access_budget = 0;
  uint64_t least_blocks = 0;
  uint64_t access_limit = 0;
  bool before_wait = false;                  // run until a thread waits for the launches before this one, whose results
                                             // count as unwritten; device globals stay as they are
  std::vector<BoundRange> ranges;
  uint32_t sm_count = 132;
  uint64_t l1_bytes = 128 * 1024;            // one block's share of the first-level cache
  uint32_t stack_bytes = 64 * 1024;          // size of a simulated thread's stack
  uint32_t local_bytes = 0;                  // size of a kernel's local variables at the top of the stack,
                                             // which are filled with arbitrary values when a block starts
  uint64_t fill_key = 0;                     // selects the contents of shared and local memory at the start of a block;
                                             // 0: one fixed pattern
  uint32_t displacement = 0;                 // key of the approximate functions' displacements (sim_abi.h); 0 where the
                                             // launch gives a time, which must repeat

  uint64_t grid_blocks() const { return uint64_t{grid[0]} * grid[1] * grid[2]; }
  uint32_t block_threads() const { return block[0] * block[1] * block[2]; }
};

enum class LaunchEnd {
  kOk,
  kCrashed,        // a GPU would fault: out of bounds, misaligned, trap
  kUnsupported,    // the simulator cannot run it
  kStuck,          // sampled blocks wait for blocks outside the sample
  kForbidden,      // forbidden in every launch: a write to an input
  kWaiting,        // all blocks wait for each other and none can continue
};

// This part of a message says that a step read what the step before it writes, before any wait for that step.
inline constexpr const char* kReadBeforeWait = "no thread has waited for that step (cudaGridDependencySynchronize)";

// A fault of the candidate. `{0}` and `{1}` in the message stand for the source positions of pcs[0] and pcs[1], which
// only the session can look up.
struct RawFinding {
  std::string kind;
  std::string message;
  std::vector<uint64_t> pcs;       // offsets from the image's start, of the byte after the call
  // The finding is valid only when the two positions are different lines: a compiler may duplicate one barrier.
  bool only_if_lines_differ = false;
};

// Cost of one memory instruction, for advice that names a line.
struct SiteReport {
  uint64_t pc = 0;                 // offset from the image's start
  bool shared = false, writes = false, atomic = false;
  int bytes = 0;
  double accesses = 0, groups = 0, sectors = 0, cycles = 0, ideal_cycles = 0;
};

struct LaunchReport {
  LaunchEnd end = LaunchEnd::kOk;
  std::string detail;              // why it ended, with `{0}` as in findings
  std::vector<RawFinding> findings;  // the fatal one, if any, is the last
  bool incomplete = false;         // a block read memory that no block had written yet, or added to memory that others
                                   // add to: what the sample wrote is not what the grid would have written
  LaunchCounters counters;
  std::vector<SiteReport> sites;   // the memory instructions that cost most
  // For a sample in order: the number of each block, and the bytes of outputs that it was the first to write.
  std::vector<std::pair<uint64_t, uint64_t>> first_writes;
  double cpu_seconds = 0;          // processor time of the launch, all OS threads
};

}  // namespace hone::sim
