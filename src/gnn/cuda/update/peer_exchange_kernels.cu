// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements peer_exchange_kernels.h.
#include "gnn/cuda/base/launch.h"
#include "gnn/cuda/update/peer_exchange_kernels.h"
#include "gnn/cuda/update/peer_flags.cuh"

namespace hone::gnn::cuda {
namespace {

constexpr int kThreads = 512;

__global__ void __launch_bounds__(kThreads)
    GatherFromPeersKernel(ExchangeOnDevice exchange, const uint4* in, uint4* out, int64_t parts) {
  __shared__ uint32_t shared_turn;
  if (threadIdx.x == 0) shared_turn = ++exchange.turns[blockIdx.x];
  __syncthreads();
  const uint32_t turn = shared_turn;
  const auto slot = [&](int room, int from) { return reinterpret_cast<uint4*>(Slot(exchange, room, turn, from)); };
  const int64_t slice = (parts + gridDim.x - 1) / gridDim.x;
  const int64_t begin = blockIdx.x * slice, end = begin + slice < parts ? begin + slice : parts;

  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const uint4 value = in[i];
    for (int ahead = 1; ahead < exchange.ranks; ++ahead) {  // each rank begins with another peer
      slot((exchange.rank + ahead) % exchange.ranks, exchange.rank)[i] = value;
    }
    out[exchange.rank * parts + i] = value;
  }
  RaiseForAll(exchange, turn, blockIdx.x);
  AwaitAll(exchange, turn, blockIdx.x);
  for (int from = 0; from < exchange.ranks; ++from) {
    if (from == exchange.rank) continue;
    const uint4* const theirs = slot(exchange.rank, from);
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) out[from * parts + i] = __ldcg(theirs + i);
  }
}

}  // namespace

cudaError_t EnqueueGatherFromPeers(const ExchangeOnDevice& exchange, const void* in, void* out, int64_t bytes,
                                   cudaStream_t stream) {
  // Every exchange through one buffer slot launches the same number of blocks, so each block can count the slot's
  // exchanges by itself.
  Launch(GatherFromPeersKernel, exchange.slices, kThreads, 0, stream, exchange, static_cast<const uint4*>(in),
         static_cast<uint4*>(out), bytes / 16);
  return cudaPeekAtLastError();
}

int GatherSlices(int64_t bytes) {
  const int64_t wanted_blocks = (bytes / 16 + kThreads - 1) / kThreads;
  return static_cast<int>(wanted_blocks < 1 ? 1 : wanted_blocks < kGatherBlocks ? wanted_blocks : kGatherBlocks);
}

}  // namespace hone::gnn::cuda
