// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines threadIdx, blockIdx, blockDim, gridDim, warpSize and PTX's special registers.
//
// The indices' values never change while a thread lives, so they are read by an assembly statement without memory
// clobbers: the compiler may keep them in registers and hoist them, and the access hooks do not see (and count) the
// reads.
#pragma once

#include "sim_abi.h"
#include "vector_types.h"

namespace hone_sim {

#if defined(__x86_64__)
template <int kWhich>
HONE_SIM_INLINE auto Index() {
  unsigned value;
  asm("movl %c2(%1), %0" : "=r"(value) : "r"(hone_sim_thread()), "i"(4 * kWhich));
  return value;
}
#else
template <int kWhich>
HONE_SIM_INLINE auto Index() {
  return hone_sim_index(kWhich);
}
#endif

HONE_SIM_INLINE uint3 ThreadIndex() {
  return uint3(Index<HONE_SIM_THREAD_X>(), Index<HONE_SIM_THREAD_Y>(), Index<HONE_SIM_THREAD_Z>());
}
HONE_SIM_INLINE uint3 BlockIndex() {
  return uint3(Index<HONE_SIM_BLOCK_X>(), Index<HONE_SIM_BLOCK_Y>(), Index<HONE_SIM_BLOCK_Z>());
}
HONE_SIM_INLINE dim3 BlockDim() {
  return dim3(Index<HONE_SIM_BLOCK_DIM_X>(), Index<HONE_SIM_BLOCK_DIM_Y>(), Index<HONE_SIM_BLOCK_DIM_Z>());
}
HONE_SIM_INLINE dim3 GridDim() {
  return dim3(Index<HONE_SIM_GRID_DIM_X>(), Index<HONE_SIM_GRID_DIM_Y>(), Index<HONE_SIM_GRID_DIM_Z>());
}

}  // namespace hone_sim

#define threadIdx (hone_sim::ThreadIndex())
#define blockIdx (hone_sim::BlockIndex())
#define blockDim (hone_sim::BlockDim())
#define gridDim (hone_sim::GridDim())
static constexpr int warpSize = 32;
