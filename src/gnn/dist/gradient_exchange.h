// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// By what a step's gradients travel between the GPUs of a run's ranks: NCCL (nccl_communicator.h), or the GPUs' own memory
// (gnn/cuda/update/peer_exchange.h).
//
// Operations are enqueued on a stream and may be captured into a CUDA graph; every rank must enqueue the same ones in
// the same order. Host-side decisions (who is there, when to stop) stay with the ranks' Communicator. Only parts are
// exchanged: each rank adds them up in an order of its own choice (shard_sum.h, TreeNodes), so that no bit of a sum depends
// on how many ranks there are.
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

// The thread that made it may enqueue; Poll and Abort may come from any thread, at any time.
class GradientExchange : public WatchedDevice {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // out[r * count … ] = in of rank r (device memory).
  virtual Status AllGather(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) = 0;
  // Where a kernel of the caller's may write into the other ranks' memory itself; null: it may not. As long as this.
  virtual cuda::PeerRooms* rooms() { return nullptr; }
};

}  // namespace hone::gnn
