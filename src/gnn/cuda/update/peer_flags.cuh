// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code of kernels that write into other GPUs' rooms and wait for the others' writes into their own room
// (peer_exchange_kernels.h). Only .cu files may include this file.
#pragma once

#include <cstdint>

#include "gnn/cuda/update/peer_exchange_kernels.h"

#if defined(HONE_SIM)
#include "gnn/cuda/emulated/runtime.h"
#endif

namespace hone::gnn::cuda {

inline constexpr uint32_t kLooksBeforeStop = 1024;  // between looks at the stop flag, because reading it on the host
                                                    // takes a microsecond

#if defined(HONE_SIM)  // the other rank is a process of this machine, and may need this processor
__device__ inline void SetFlag(uint32_t* flag, uint32_t turn) { *static_cast<volatile uint32_t*>(flag) = turn; }
__device__ inline uint32_t ReadFlag(const uint32_t* flag) {
  emulated::GiveWay();
  return *static_cast<volatile const uint32_t*>(flag);
}
#else
// SetFlag sets a flag to `turn`, and ReadFlag returns its value. A thread that sees the flag also sees everything that
// the block has written before.
__device__ inline void SetFlag(uint32_t* flag, uint32_t turn) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(turn) : "memory");
}
__device__ inline uint32_t ReadFlag(const uint32_t* flag) {
  uint32_t turn;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(turn) : "l"(flag) : "memory");
  return turn;
}
#endif

// Returns the slot of rank `from` in the room of rank `room`.
__device__ inline unsigned char* Slot(const ExchangeOnDevice& exchange, int room, uint32_t turn, int from) {
  return exchange.rooms + room * exchange.room_stride +
         (static_cast<int64_t>(turn & 1) * exchange.ranks + from) * exchange.slot_bytes;
}
// Returns the flag in the room of rank `room` by which rank `from` says that slice `slice` is written.
__device__ inline uint32_t* Flag(const ExchangeOnDevice& exchange, int room, int from, unsigned slice) {
  return reinterpret_cast<uint32_t*>(exchange.rooms + room * exchange.room_stride +
                                     2 * exchange.ranks * exchange.slot_bytes) +
         from * exchange.slices + slice;
}

// RaiseForAll tells all other ranks that this block has written its slice; AwaitAll waits for the other ranks' slices.
// All threads of a block call both functions, and a block has at least as many threads as there are ranks. What a block
// has written is visible to a block that has awaited its slice.
__device__ inline void RaiseForAll(const ExchangeOnDevice& exchange, uint32_t turn, unsigned slice) {
  __syncthreads();
  const int peer = static_cast<int>(threadIdx.x);
  if (peer < exchange.ranks && peer != exchange.rank) SetFlag(Flag(exchange, peer, exchange.rank, slice), turn);
}
__device__ inline void AwaitAll(const ExchangeOnDevice& exchange, uint32_t turn, unsigned slice) {
  const int peer = static_cast<int>(threadIdx.x);
  if (peer < exchange.ranks && peer != exchange.rank) {
    const uint32_t* const theirs = Flag(exchange, exchange.rank, peer, slice);
    for (uint32_t looks = 1; static_cast<int32_t>(ReadFlag(theirs) - turn) < 0; ++looks) {
      if (looks % kLooksBeforeStop == 0 && *exchange.stop != 0) break;
    }
  }
  __syncthreads();
}

}  // namespace hone::gnn::cuda
