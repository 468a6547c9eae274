// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathers every rank's bytes on every rank, by kernels that write into the memory of the other GPUs.
//
// A thread block handles a slice of this rank's part. It writes the slice to its place in every rank's room and raises
// a flag next to it. Then it waits for the flags of the same slice of all other ranks, and copies their slices out of
// its own room. Kernels only write to peers, and no block waits for a write; a block waits for its own slice only. The
// method is the one-shot all-reduce of TensorRT-LLM and vLLM without the sum, whose order belongs to the caller.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hone::gnn::cuda {

constexpr int kMostPeers = 64;
constexpr int kGatherBlocks = 64;

// The rooms of an exchange. Each rank has a room, which holds two turns of one slot per rank, slot_bytes each, and then
// one flag for each rank and slice. Turns alternate between the two. A rank writes turn n + 2 only after it has seen
// the flags of turn n + 1, which the others raise when they have left turn n.
struct ExchangeOnDevice {
  int rank = 0, ranks = 1;
  unsigned char* rooms = nullptr;           // rooms of all ranks, mapped in this process; zero before the first turn
  int64_t room_stride = 0;                  // bytes from one rank's room to the next rank's
  int64_t slot_bytes = 0;                   // a multiple of 16
  int slices = 0;                           // number of flags per rank; there is one thread block per slice
  uint32_t* turns = nullptr;  // [slices] number of the latest turn, private to this rank; zero before the first turn
  volatile const uint32_t* stop = nullptr;  // in host memory; not 0: kernels leave, with whatever has arrived
};
inline int64_t RoomBytes(int64_t slot_bytes, int slices, int ranks) {
  return 2 * ranks * slot_bytes + int64_t{ranks} * slices * static_cast<int64_t>(sizeof(uint32_t));
}

// Returns the number of slices of a room for gathers of up to `bytes`.
int GatherSlices(int64_t bytes);
// Gathers `in` [bytes] of every rank into out [ranks][bytes]. `bytes` is a multiple of 16, at most slot_bytes, and
// equal on all ranks; `in` and `out` must not overlap. Enqueues on `stream`; may be captured. The kernel ends when all
// ranks' kernels have written, or at a stop.
cudaError_t EnqueueGatherFromPeers(const ExchangeOnDevice& exchange, const void* in, void* out, int64_t bytes,
                                   cudaStream_t stream);

}  // namespace hone::gnn::cuda
