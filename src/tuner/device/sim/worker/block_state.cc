// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lays out the stacks of a block.
#include "tuner/device/sim/worker/block_state.h"

#include <new>

namespace hone::sim {

BlockState::BlockState(int threads, uint32_t stack_bytes, uint32_t shared_bytes)
    : shadow(shared_bytes),
      threads_(threads),
      stride_((size_t{stack_bytes} + kHeader + 63) / 64 * 64 + 9 * 64),
      stacks_(static_cast<size_t>(threads) * stride_),
      copies_(static_cast<size_t>(threads)),
      group_reads_(static_cast<size_t>(threads)) {
  for (int t = 0; t < threads; ++t) new (&fiber(t)) Fiber();
}

}  // namespace hone::sim
