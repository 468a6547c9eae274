// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares correct kernels, and kernels with one fault each, for emulator_test.cc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hone::gnn::cuda {

// out[i] = in[last - i] within each block of 64, through shared memory. `barrier` false: omits the barrier.
cudaError_t EnqueueReverse(const int* in, int* out, int blocks, bool barrier, bool dynamic, cudaStream_t stream);
// Per warp of 32: sum, lanes with odd values, smallest, lanes with lane 0's value, value of the next lane (last: own).
struct WarpFacts {
  int sum, smallest, next;
  unsigned odd, like_first;
};
cudaError_t EnqueueWarpFacts(const int* in, WarpFacts* out, int warps, cudaStream_t stream);
// Adds 1 to bins[in[i] % count] for each i; the threads beyond `items` return at once.
cudaError_t EnqueueHistogram(const int* in, int items, unsigned* bins, unsigned count, cudaStream_t stream);
// Reads a counter, adds one, and stores it if it has not changed meanwhile; counts the retries.
cudaError_t EnqueueCompareAndSwap(unsigned* counter, unsigned* retries, cudaStream_t stream);
// Numbers the threads of the block in the order of their arrival.
cudaError_t EnqueueArrivals(unsigned* counter, unsigned* order, int blocks, cudaStream_t stream);
// Block 0 waits until the last block has raised the flag; with `raise` false the flag is never raised.
cudaError_t EnqueueWaitForFlag(unsigned* flag, int blocks, bool raise, cudaStream_t stream);
// out[i] = in[i] over [first, first + count).
cudaError_t EnqueueCopy(const int* in, int* out, int first, int count, cudaStream_t stream);
// *to = *to * factor + term, by one thread: shows in which order such kernels ran.
cudaError_t EnqueueStep(int* to, int factor, int term, cudaStream_t stream);

enum class Mistake { kBarrierInBranch, kDifferentBarriers, kLaneLeft, kOwnLaneMissing, kOtherLaneMissing, kLanesWaitApart };
cudaError_t EnqueueMistake(Mistake mistake, int* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
