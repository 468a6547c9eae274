// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares correct kernels, and kernels with one fault each, for emulator_test.cc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hone::gnn::cuda {

// Writes out[i] = in[last - i] within each block of 64, through shared memory. `barrier` false: the barrier is left
// out.
cudaError_t EnqueueReverse(const int* in, int* out, int blocks, bool barrier, bool dynamic, cudaStream_t stream);
// The results of one warp of 32: sum, smallest, lanes with odd values, lanes with lane 0's value, and the next lane's
// value (in the last lane its own).
struct WarpFacts {
  int sum, smallest, next;
  unsigned odd, like_first;
};
cudaError_t EnqueueWarpFacts(const int* in, WarpFacts* out, int warps, cudaStream_t stream);
// Adds 1 to bins[in[i] % count] for each i; threads beyond `items` return at once.
cudaError_t EnqueueHistogram(const int* in, int items, unsigned* bins, unsigned count, cudaStream_t stream);
// Lets each thread read a counter, add one, and store the sum if the counter has not changed meanwhile; counts the
// retries.
cudaError_t EnqueueCompareAndSwap(unsigned* counter, unsigned* retries, cudaStream_t stream);
// Numbers the threads of a block in the order of their arrival.
cudaError_t EnqueueArrivals(unsigned* counter, unsigned* order, int blocks, cudaStream_t stream);
// Block 0 waits until the last block has raised the flag; with `raise` false the flag is never raised.
cudaError_t EnqueueWaitForFlag(unsigned* flag, int blocks, bool raise, cudaStream_t stream);
// Copies: out[i] = in[i] for i in [first, first + count).
cudaError_t EnqueueCopy(const int* in, int* out, int first, int count, cudaStream_t stream);
// Sets *to = *to * factor + term, by one thread, so that the result shows in which order such kernels ran.
cudaError_t EnqueueStep(int* to, int factor, int term, cudaStream_t stream);

enum class Mistake { kBarrierInBranch, kDifferentBarriers, kLaneLeft, kOwnLaneMissing, kOtherLaneMissing, kLanesWaitApart };
cudaError_t EnqueueMistake(Mistake mistake, int* out, cudaStream_t stream);

}  // namespace hone::gnn::cuda
