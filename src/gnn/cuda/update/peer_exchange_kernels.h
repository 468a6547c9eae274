// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every rank's GPU has, on every one of them, by kernels that write into the others' memory.
//
// A block takes a slice of this rank's part, writes it to its place in everybody's room, raises a flag beside it there,
// waits for the flags of the same slice of all others, and takes their slices out of its own room. Nothing is asked of a
// peer but writes, which nobody waits for; and nobody waits for more than its own slice. Method: the one-shot all-reduce
// of TensorRT-LLM and vLLM, without the sum, whose order is the caller's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hone::gnn::cuda {

constexpr int kMostPeers = 64;
constexpr int kGatherBlocks = 64;

// A room: two turns of one slot a rank, slot_bytes each; then a flag for each rank and slice. Turns alternate: whoever
// writes for turn n + 2 has the flags of n + 1, which others raise when they have left turn n.
struct ExchangeOnDevice {
  int rank = 0, ranks = 1;
  unsigned char* rooms = nullptr;           // of every rank, where this one sees them; all zero before the first turn
  int64_t room_stride = 0;                  // bytes from one rank's to the next one's
  int64_t slot_bytes = 0;                   // a multiple of 16
  int slices = 0;                           // flags a rank; a slice has one block
  uint32_t* turns = nullptr;                // [slices], of this rank alone; zero before the first turn
  volatile const uint32_t* stop = nullptr;  // in the host's memory; not 0: leave, with whatever has come
};
inline int64_t RoomBytes(int64_t slot_bytes, int slices, int ranks) {
  return 2 * ranks * slot_bytes + int64_t{ranks} * slices * static_cast<int64_t>(sizeof(uint32_t));
}

// The slices of a room for gathers of up to so many bytes.
int GatherSlices(int64_t bytes);
// out [ranks][bytes]: `in` [bytes] of every rank. bytes a multiple of 16 and at most slot_bytes, equal on all ranks; the
// two must not overlap. Enqueues on `stream`; may be captured. Ends when all ranks have enqueued it, or at a stop.
cudaError_t EnqueueGatherFromPeers(const ExchangeOnDevice& exchange, const void* in, void* out, int64_t bytes,
                                   cudaStream_t stream);

}  // namespace hone::gnn::cuda
