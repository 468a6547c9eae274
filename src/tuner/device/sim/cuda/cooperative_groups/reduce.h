// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements cooperative_groups::reduce and its operators, for tiles and coalesced groups.
//
// Tiles combine by exchanging halves, which gives every thread the same value in the same order of additions.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename T = void>
struct plus {
  HONE_SIM_INLINE T operator()(T a, T b) const { return a + b; }
};
template <typename T = void>
struct less {
  HONE_SIM_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T = void>
struct greater {
  HONE_SIM_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T = void>
struct bit_and {
  HONE_SIM_INLINE T operator()(T a, T b) const { return a & b; }
};
template <typename T = void>
struct bit_or {
  HONE_SIM_INLINE T operator()(T a, T b) const { return a | b; }
};
template <typename T = void>
struct bit_xor {
  HONE_SIM_INLINE T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned kSize, typename Parent, typename T, typename Operator>
HONE_SIM_INLINE T reduce(const thread_block_tile<kSize, Parent>& group, const T& value, Operator&& combine) {
  T total = value;
  for (unsigned lanes = kSize / 2; lanes > 0; lanes /= 2) {
    const T other = group.shfl_xor(total, lanes);
    total = combine(total, other);
  }
  return total;
}
template <typename T, typename Operator>
HONE_SIM_INLINE T reduce(const coalesced_group& group, const T& value, Operator&& combine) {
  const unsigned count = group.num_threads();
  T total = group.shfl(value, 0);
  for (unsigned rank = 1; rank < count; ++rank) {
    const T other = group.shfl(value, rank);
    total = combine(total, other);
  }
  return total;
}

}  // namespace cooperative_groups
