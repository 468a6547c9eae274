// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the pipeline primitives: asynchronous copies from global to shared memory, in groups.
#pragma once

#include "hone_cuda.h"

// Copies `bytes` (4, 8 or 16), of which the last `zeros` are set to zero and not read.
HONE_SIM_INLINE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zeros = 0) {
  hone_sim_cp_async(shared, global, static_cast<uint32_t>(bytes), static_cast<uint32_t>(bytes - zeros));
}
HONE_SIM_INLINE void __pipeline_commit() { hone_sim_cp_async_commit(); }
HONE_SIM_INLINE void __pipeline_wait_prior(size_t newest_groups) {
  hone_sim_cp_async_wait(static_cast<uint32_t>(newest_groups));
}
