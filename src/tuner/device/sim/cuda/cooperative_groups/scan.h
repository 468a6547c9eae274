// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements cooperative_groups::inclusive_scan and exclusive_scan, for tiles and coalesced groups.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operator>
HONE_SIM_INLINE T inclusive_scan(const Group& group, const T& value, Operator&& combine) {
  T total = value;
  const unsigned rank = static_cast<unsigned>(group.thread_rank()), count = static_cast<unsigned>(group.size());
  for (unsigned delta = 1; delta < count; delta *= 2) {
    const T before = group.shfl_up(total, delta);
    if (rank >= delta) total = combine(before, total);
  }
  return total;
}
template <typename Group, typename T>
HONE_SIM_INLINE T inclusive_scan(const Group& group, const T& value) {
  return inclusive_scan(group, value, plus<T>());
}
// The first thread receives T(), as CUDA's does.
template <typename Group, typename T, typename Operator>
HONE_SIM_INLINE T exclusive_scan(const Group& group, const T& value, Operator&& combine) {
  const T inclusive = inclusive_scan(group, value, combine);
  const T before = group.shfl_up(inclusive, 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
HONE_SIM_INLINE T exclusive_scan(const Group& group, const T& value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
