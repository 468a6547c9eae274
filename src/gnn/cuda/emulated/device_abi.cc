// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the C interface behind the simulated GPU's device headers (sim_abi.h), as far as the engine's kernels use
// it. A missing function fails to link: add it here.
#include <fmt/format.h>

#include "gnn/cuda/emulated/block_runner.h"
#include "hone/base/status.h"
#include "tuner/device/sim/sim_abi.h"

using hone::gnn::cuda::emulated::BlockRunner;
using hone::gnn::cuda::emulated::WarpOperation;

namespace {

BlockRunner& RunningBlocks() {
  BlockRunner* const runner = hone::gnn::cuda::emulated::running;
  HONE_CHECK(runner != nullptr, "device code is called outside of a kernel");
  return *runner;
}

}  // namespace

extern "C" {

// Approximate functions of the engine's kernels err alike in every launch: nobody tries to recognize this device.
const uint32_t hone_sim_displacement = 0;

uint32_t hone_sim_index(uint32_t which) { return RunningBlocks().index()[which]; }
const uint32_t* hone_sim_thread(void) { return RunningBlocks().index(); }

void hone_sim_syncthreads(void) { RunningBlocks().BlockBarrier(HONE_SIM_COUNT, 0); }
int hone_sim_syncthreads_reduce(int kind, int predicate) { return RunningBlocks().BlockBarrier(kind, predicate); }

void hone_sim_syncwarp(uint32_t mask) { RunningBlocks().Warp(WarpOperation::kSync, 0, mask, 0, 0, 32, nullptr); }
uint64_t hone_sim_shuffle(int kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width, int* in_range) {
  return RunningBlocks().Warp(WarpOperation::kShuffle, kind, mask, value, argument, width, in_range);
}
uint32_t hone_sim_vote(int kind, uint32_t mask, int predicate) {
  return static_cast<uint32_t>(
      RunningBlocks().Warp(WarpOperation::kVote, kind, mask, predicate != 0 ? 1 : 0, 0, 32, nullptr));
}
uint32_t hone_sim_match_any(uint32_t mask, uint64_t value) {
  return static_cast<uint32_t>(RunningBlocks().Warp(WarpOperation::kMatchAny, 0, mask, value, 0, 32, nullptr));
}
uint32_t hone_sim_match_all(uint32_t mask, uint64_t value, int* all_equal) {
  return static_cast<uint32_t>(RunningBlocks().Warp(WarpOperation::kMatchAll, 0, mask, value, 0, 32, all_equal));
}
uint32_t hone_sim_warp_reduce(int kind, uint32_t mask, uint32_t value) {
  return static_cast<uint32_t>(RunningBlocks().Warp(WarpOperation::kReduce, kind, mask, value, 0, 32, nullptr));
}

void hone_sim_fence(int) {}
void hone_sim_atomic(const volatile void*, uint32_t, int, int, int) { RunningBlocks().Atomic(); }
void hone_sim_nanosleep(uint32_t) { RunningBlocks().Yield(); }
void hone_sim_trap(void) { RunningBlocks().Fault("traps"); }
void hone_sim_assert_fail(const char* expression, const char* file, uint32_t line, const char*) {
  RunningBlocks().Fault(fmt::format("fails the assertion '{}' at {}:{}", expression, file, line));
}
void hone_sim_unsupported(const char* what) {
  RunningBlocks().Fault(fmt::format("needs what is not emulated: {}", what));
}

}  // extern "C"
