// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements cooperative_groups::memcpy_async and its waits: all threads of a group copy from global to shared memory,
// by cp.async in the widest pieces that both addresses and the size allow.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Size>
HONE_SIM_INLINE void memcpy_async(const Group& group, T* shared, const T* global, const Size& size) {
  const size_t bytes = static_cast<size_t>(size);
  char* to = reinterpret_cast<char*>(shared);
  const char* from = reinterpret_cast<const char*>(global);
  const size_t together = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  const size_t piece = together % 16 == 0 ? 16 : together % 8 == 0 ? 8 : together % 4 == 0 ? 4 : 0;
  const size_t first = static_cast<size_t>(group.thread_rank()), count = static_cast<size_t>(group.size());
  if (piece == 0) {
    // Addresses or size do not allow cp.async, so these are plain copies, as in CUDA.
    for (size_t i = first; i < bytes; i += count) to[i] = from[i];
  } else {
    for (size_t i = first * piece; i < bytes; i += count * piece) {
      hone_sim_cp_async(to + i, from + i, static_cast<uint32_t>(piece), static_cast<uint32_t>(piece));
    }
  }
  hone_sim_cp_async_commit();
}
template <typename Group>
HONE_SIM_INLINE void wait(const Group& group) {
  hone_sim_cp_async_wait_all();
  group.sync();
}
template <unsigned kNewest, typename Group>
HONE_SIM_INLINE void wait_prior(const Group& group) {
  hone_sim_cp_async_wait(kNewest);
  group.sync();
}

}  // namespace cooperative_groups
