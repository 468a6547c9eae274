// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements warp intrinsics: shuffles, votes, matches and reductions over the lanes of a mask.
#pragma once

#include "qualifiers.h"
#include "sim_abi.h"

namespace hone_sim {

// Converts a value of at most 8 bytes to the runtime's word: low-order bytes first, zero above.
template <typename T>
HONE_SIM_INLINE auto ToWord(T value) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  if constexpr (sizeof(T) == 1)
    return __builtin_bit_cast(uint8_t, value);
  else if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(uint16_t, value);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(uint32_t, value);
  else
    return __builtin_bit_cast(uint64_t, value);
}
template <typename T>
HONE_SIM_INLINE auto FromWord(uint64_t word) {
  if constexpr (sizeof(T) == 1)
    return __builtin_bit_cast(T, static_cast<uint8_t>(word));
  else if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(T, static_cast<uint16_t>(word));
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, static_cast<uint32_t>(word));
  else
    return __builtin_bit_cast(T, word);
}
template <typename T>
HONE_SIM_INLINE auto Shuffle(int kind, unsigned mask, T value, unsigned argument, int width) {
  return FromWord<T>(hone_sim_shuffle(kind, mask, ToWord(value), argument, static_cast<uint32_t>(width), nullptr));
}

}  // namespace hone_sim

// The overload set is CUDA's, so that narrower arguments promote as they do there.
#define HONE_SIM_SHUFFLES(T)                                                                           \
  HONE_SIM_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {                    \
    return hone_sim::Shuffle(HONE_SIM_SHUFFLE_INDEX, mask, value, static_cast<unsigned>(lane), width); \
  }                                                                                                    \
  HONE_SIM_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {           \
    return hone_sim::Shuffle(HONE_SIM_SHUFFLE_UP, mask, value, delta, width);                          \
  }                                                                                                    \
  HONE_SIM_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {         \
    return hone_sim::Shuffle(HONE_SIM_SHUFFLE_DOWN, mask, value, delta, width);                        \
  }                                                                                                    \
  HONE_SIM_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {               \
    return hone_sim::Shuffle(HONE_SIM_SHUFFLE_XOR, mask, value, static_cast<unsigned>(lanes), width);  \
  }
#define HONE_SIM_MATCHES(T)                                                           \
  HONE_SIM_INLINE unsigned __match_any_sync(unsigned mask, T value) {                 \
    return hone_sim_match_any(mask, hone_sim::ToWord(value));                         \
  }                                                                                   \
  HONE_SIM_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all_equal) { \
    int equal = 0;                                                                    \
    const unsigned lanes = hone_sim_match_all(mask, hone_sim::ToWord(value), &equal); \
    *all_equal = equal;                                                               \
    return lanes;                                                                     \
  }
#define HONE_SIM_SHUFFLES_AND_MATCHES(T) HONE_SIM_SHUFFLES(T) HONE_SIM_MATCHES(T)
HONE_SIM_SHUFFLES_AND_MATCHES(int)
HONE_SIM_SHUFFLES_AND_MATCHES(unsigned)
HONE_SIM_SHUFFLES_AND_MATCHES(long)
HONE_SIM_SHUFFLES_AND_MATCHES(unsigned long)
HONE_SIM_SHUFFLES_AND_MATCHES(long long)
HONE_SIM_SHUFFLES_AND_MATCHES(unsigned long long)
HONE_SIM_SHUFFLES_AND_MATCHES(float)
HONE_SIM_SHUFFLES_AND_MATCHES(double)

HONE_SIM_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return hone_sim_vote(HONE_SIM_VOTE_BALLOT, mask, predicate != 0);
}
HONE_SIM_INLINE int __all_sync(unsigned mask, int predicate) {
  return static_cast<int>(hone_sim_vote(HONE_SIM_VOTE_ALL, mask, predicate != 0));
}
HONE_SIM_INLINE int __any_sync(unsigned mask, int predicate) {
  return static_cast<int>(hone_sim_vote(HONE_SIM_VOTE_ANY, mask, predicate != 0));
}
HONE_SIM_INLINE int __uni_sync(unsigned mask, int predicate) {
  return static_cast<int>(hone_sim_vote(HONE_SIM_VOTE_UNI, mask, predicate != 0));
}
HONE_SIM_INLINE unsigned __activemask() { return hone_sim_activemask(); }

#define HONE_SIM_REDUCTION(NAME, T, KIND)                                                  \
  HONE_SIM_INLINE T __reduce_##NAME##_sync(unsigned mask, T value) {                       \
    return static_cast<T>(hone_sim_warp_reduce(KIND, mask, static_cast<uint32_t>(value))); \
  }
HONE_SIM_REDUCTION(add, int, HONE_SIM_REDUCE_ADD)
HONE_SIM_REDUCTION(add, unsigned, HONE_SIM_REDUCE_ADD)
HONE_SIM_REDUCTION(min, int, HONE_SIM_REDUCE_MIN_S32)
HONE_SIM_REDUCTION(min, unsigned, HONE_SIM_REDUCE_MIN_U32)
HONE_SIM_REDUCTION(max, int, HONE_SIM_REDUCE_MAX_S32)
HONE_SIM_REDUCTION(max, unsigned, HONE_SIM_REDUCE_MAX_U32)
HONE_SIM_REDUCTION(and, unsigned, HONE_SIM_REDUCE_AND)
HONE_SIM_REDUCTION(or, unsigned, HONE_SIM_REDUCE_OR)
HONE_SIM_REDUCTION(xor, unsigned, HONE_SIM_REDUCE_XOR)
#undef HONE_SIM_REDUCTION
