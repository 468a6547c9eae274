// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements cooperative groups on the simulated GPU: the block, tiles of a warp, coalesced threads, the grid.
//
// Tiles above 32 threads, clusters and multi-device groups are not simulated; a cluster ends the launch as
// `unsupported`.
#pragma once

#include "hone_cuda.h"

namespace cooperative_groups {

namespace detail {

// Shuffles any trivially copyable value, eight bytes at a time.
template <typename T>
HONE_SIM_INLINE T ShuffleAny(int kind, unsigned mask, const T& value, unsigned argument, unsigned width) {
  if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    return hone_sim::FromWord<T>(hone_sim_shuffle(kind, mask, hone_sim::ToWord(value), argument, width, nullptr));
  } else {
    constexpr int kWords = static_cast<int>((sizeof(T) + 7) / 8);
    uint64_t words[kWords] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (int i = 0; i < kWords; ++i) words[i] = hone_sim_shuffle(kind, mask, words[i], argument, width, nullptr);
    T result;
    __builtin_memcpy(&result, words, sizeof(T));
    return result;
  }
}

// Returns the lane number of the `rank`-th set bit of `mask`.
HONE_SIM_INLINE unsigned LaneOfRank(unsigned mask, unsigned rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return static_cast<unsigned>(__builtin_ctz(mask));
}

}  // namespace detail

class thread_block {
 public:
  static constexpr unsigned _sync_bits = 0;
  HONE_SIM_INLINE static void sync() { hone_sim_syncthreads(); }
  HONE_SIM_INLINE static unsigned thread_rank() { return hone_sim::Index<HONE_SIM_LINEAR_THREAD>(); }
  HONE_SIM_INLINE static unsigned num_threads() {
    const dim3 d = blockDim;
    return d.x * d.y * d.z;
  }
  HONE_SIM_INLINE static unsigned size() { return num_threads(); }
  HONE_SIM_INLINE static dim3 group_index() { return blockIdx; }
  HONE_SIM_INLINE static dim3 thread_index() { return threadIdx; }
  HONE_SIM_INLINE static dim3 group_dim() { return blockDim; }
  HONE_SIM_INLINE static dim3 dim_threads() { return blockDim; }
};
HONE_SIM_INLINE thread_block this_thread_block() { return thread_block(); }

// Lanes given by a mask; ranks count its set bits. Base of coalesced and partitioned groups.
class coalesced_group {
 public:
  HONE_SIM_INLINE explicit coalesced_group(unsigned mask) : mask_(mask) {}
  HONE_SIM_INLINE void sync() const { hone_sim_syncwarp(mask_); }
  HONE_SIM_INLINE unsigned num_threads() const { return static_cast<unsigned>(__popc(mask_)); }
  HONE_SIM_INLINE unsigned size() const { return num_threads(); }
  HONE_SIM_INLINE unsigned thread_rank() const { return RankOf(hone_sim::Index<HONE_SIM_LANE>()); }
  HONE_SIM_INLINE unsigned meta_group_size() const { return 1; }
  HONE_SIM_INLINE unsigned meta_group_rank() const { return 0; }
  template <typename T>
  HONE_SIM_INLINE T shfl(const T& value, unsigned rank) const {
    return detail::ShuffleAny(HONE_SIM_SHUFFLE_INDEX, mask_, value, detail::LaneOfRank(mask_, rank % num_threads()),
                              32);
  }
  template <typename T>
  HONE_SIM_INLINE T shfl_up(const T& value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank >= delta ? rank - delta : rank);
  }
  template <typename T>
  HONE_SIM_INLINE T shfl_down(const T& value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank + delta < num_threads() ? rank + delta : rank);
  }
  HONE_SIM_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  HONE_SIM_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  HONE_SIM_INLINE unsigned ballot(int predicate) const { return Packed(__ballot_sync(mask_, predicate)); }
  template <typename T>
  HONE_SIM_INLINE unsigned match_any(T value) const {
    return Packed(__match_any_sync(mask_, value));
  }
  template <typename T>
  HONE_SIM_INLINE unsigned match_all(T value, int& equal) const {
    return Packed(__match_all_sync(mask_, value, &equal));
  }
  HONE_SIM_INLINE unsigned Mask() const { return mask_; }

 private:
  HONE_SIM_INLINE unsigned RankOf(unsigned lane) const {
    return static_cast<unsigned>(__popc(mask_ & ((1u << lane) - 1u)));
  }
  // Returns the group's lanes in `lanes` (bit i: lane i) by rank (bit i: the group's thread of rank i).
  HONE_SIM_INLINE unsigned Packed(unsigned lanes) const {
    unsigned packed = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane) & 1u) packed |= 1u << RankOf(lane);
    }
    return packed;
  }
  unsigned mask_;
};
HONE_SIM_INLINE coalesced_group coalesced_threads() { return coalesced_group(hone_sim_activemask()); }

// kSize consecutive threads of a block, a power of two up to 32.
template <unsigned kSize, typename Parent = void>
class thread_block_tile {
  static_assert(kSize >= 1 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "the simulated GPU has tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
  thread_block_tile() = default;
  // A tile may drop the type of its parent, as in `thread_block_tile<32> warp = tiled_partition<32>(block)`.
  template <typename Other>
  HONE_SIM_INLINE thread_block_tile(const thread_block_tile<kSize, Other>&) {}
  HONE_SIM_INLINE static unsigned thread_rank() { return hone_sim::Index<HONE_SIM_LANE>() & (kSize - 1); }
  HONE_SIM_INLINE static constexpr unsigned num_threads() { return kSize; }
  HONE_SIM_INLINE static constexpr unsigned size() { return kSize; }
  HONE_SIM_INLINE static unsigned meta_group_rank() { return hone_sim::Index<HONE_SIM_LINEAR_THREAD>() / kSize; }
  HONE_SIM_INLINE static unsigned meta_group_size() { return (thread_block::num_threads() + kSize - 1) / kSize; }
  HONE_SIM_INLINE static void sync() { hone_sim_syncwarp(Mask()); }
  template <typename T>
  HONE_SIM_INLINE T shfl(const T& value, int rank) const {
    return detail::ShuffleAny(HONE_SIM_SHUFFLE_INDEX, Mask(), value, static_cast<unsigned>(rank), kSize);
  }
  template <typename T>
  HONE_SIM_INLINE T shfl_up(const T& value, unsigned delta) const {
    return detail::ShuffleAny(HONE_SIM_SHUFFLE_UP, Mask(), value, delta, kSize);
  }
  template <typename T>
  HONE_SIM_INLINE T shfl_down(const T& value, unsigned delta) const {
    return detail::ShuffleAny(HONE_SIM_SHUFFLE_DOWN, Mask(), value, delta, kSize);
  }
  template <typename T>
  HONE_SIM_INLINE T shfl_xor(const T& value, unsigned lanes) const {
    return detail::ShuffleAny(HONE_SIM_SHUFFLE_XOR, Mask(), value, lanes, kSize);
  }
  HONE_SIM_INLINE int any(int predicate) const { return __any_sync(Mask(), predicate); }
  HONE_SIM_INLINE int all(int predicate) const { return __all_sync(Mask(), predicate); }
  HONE_SIM_INLINE unsigned ballot(int predicate) const { return __ballot_sync(Mask(), predicate) >> Shift(); }
  template <typename T>
  HONE_SIM_INLINE unsigned match_any(T value) const {
    return __match_any_sync(Mask(), value) >> Shift();
  }
  template <typename T>
  HONE_SIM_INLINE unsigned match_all(T value, int& equal) const {
    return __match_all_sync(Mask(), value, &equal) >> Shift();
  }
  HONE_SIM_INLINE static unsigned Mask() { return (kSize == 32 ? 0xffffffffu : (1u << (kSize % 32)) - 1u) << Shift(); }

 private:
  HONE_SIM_INLINE static unsigned Shift() { return hone_sim::Index<HONE_SIM_LANE>() & ~(kSize - 1); }
};

template <unsigned kSize, typename Parent>
HONE_SIM_INLINE thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<kSize, Parent>();
}
// A tile whose size is known only at run time.
template <typename Parent>
HONE_SIM_INLINE coalesced_group tiled_partition(const Parent&, unsigned size) {
  const unsigned lane = hone_sim::Index<HONE_SIM_LANE>();
  return coalesced_group((size >= 32 ? 0xffffffffu : (1u << size) - 1u) << (lane & ~(size - 1)));
}
template <typename Group>
HONE_SIM_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.Mask(), predicate);
  return coalesced_group(predicate ? yes : group.Mask() & ~yes);
}
template <typename Group, typename Label>
HONE_SIM_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.Mask(), label));
}

typedef coalesced_group thread_group;

class grid_group {
 public:
  HONE_SIM_INLINE static bool is_valid() { return hone_sim_grid_is_cooperative() != 0; }
  HONE_SIM_INLINE static void sync() { hone_sim_grid_sync(); }
  HONE_SIM_INLINE static unsigned long long block_rank() {
    const dim3 g = gridDim, b = blockIdx;
    return (static_cast<unsigned long long>(b.z) * g.y + b.y) * g.x + b.x;
  }
  HONE_SIM_INLINE static unsigned long long num_blocks() {
    const dim3 g = gridDim;
    return static_cast<unsigned long long>(g.x) * g.y * g.z;
  }
  HONE_SIM_INLINE static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  HONE_SIM_INLINE static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  HONE_SIM_INLINE static unsigned long long size() { return num_threads(); }
  HONE_SIM_INLINE static dim3 group_dim() { return gridDim; }
  HONE_SIM_INLINE static dim3 dim_blocks() { return gridDim; }
  HONE_SIM_INLINE static dim3 block_index() { return blockIdx; }
};
HONE_SIM_INLINE grid_group this_grid() { return grid_group(); }

class cluster_group {
 public:
  static void sync() { Refuse(); }
  static void barrier_arrive() { Refuse(); }
  static void barrier_wait() { Refuse(); }
  static unsigned block_rank() { Refuse(); }
  static unsigned num_blocks() { Refuse(); }
  static unsigned thread_rank() { Refuse(); }
  template <typename T>
  static T* map_shared_rank(T*, unsigned) {
    Refuse();
  }

 private:
  [[noreturn]] static void Refuse() { hone_sim_unsupported("thread-block clusters are not simulated"); }
};
HONE_SIM_INLINE cluster_group this_cluster() { return cluster_group(); }

template <typename Group>
HONE_SIM_INLINE void sync(const Group& group) {
  group.sync();
}
template <typename Group>
HONE_SIM_INLINE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
HONE_SIM_INLINE auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups
