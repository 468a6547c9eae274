// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves a step's gradients between the GPUs of a run's ranks, by NCCL (nccl_communicator.h) or through the GPUs' own
// memory (gnn/cuda/update/peer_exchange.h).
//
// Operations are enqueued on a stream and may be captured into a CUDA graph; every rank must enqueue the same
// operations in the same order. Decisions on the host (which ranks are alive, when to stop) are made through the ranks'
// Communicator. Only parts of a sum are exchanged. Each rank adds up the parts in a fixed order (shard_sum.h,
// TreeNodes), so that no bit of a sum depends on the number of ranks.
#pragma once

#include <cstdint>

#include "gnn/dist/process_group.h"
#include "hone/base/status.h"

struct CUstream_st;  // a cudaStream_t points to one

namespace hone::gnn {

namespace cuda {
class PeerRooms;  // gnn/cuda/update/peer_exchange.h
}

enum class DeviceElement { kFloat32, kFloat64, kInt32, kInt64, kUInt8 };

// Only the thread that made the exchange may enqueue; Poll and Abort may be called from any thread at any time.
class GradientExchange : public WatchedDevice {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Gathers `in` of every rank r into out[r * count … ] (device memory).
  virtual Status AllGather(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) = 0;
  // Returns the buffers through which the caller's own kernels may write into other ranks' memory; null: not supported.
  // They live as long as the exchange.
  virtual cuda::PeerRooms* rooms() { return nullptr; }
};

}  // namespace hone::gnn
