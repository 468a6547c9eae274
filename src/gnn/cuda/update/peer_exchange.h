// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gathers the parts of a step's sum on all GPUs of one host, through the GPUs' own memory and without NCCL.
//
// NCCL's gather serves any number of bytes and hosts. Here one kernel (peer_exchange_kernels.h) writes the bytes to
// where the other GPUs read them. The bytes are the same, so the results are too; docs/design/0019 has the times.
// Because no library is needed, ranks of one host whose GPUs read one another's memory train without NCCL.
#pragma once

#include <memory>

#include "gnn/cuda/update/peer_exchange_kernels.h"
#include "gnn/dist/gradient_exchange.h"

namespace hone::gnn::cuda {

// Makes exchange buffers ("rooms", peer_exchange_kernels.h) for a caller's own kernels (peer_flags.cuh).
class PeerRooms {
 public:
  // Makes a room that lives as long as the exchange. Collective on the host too, and waits for the device. Abort sets
  // the room's `stop`.
  virtual Result<ExchangeOnDevice> MakeRoom(int64_t slot_bytes, int slices) = 0;

 protected:
  ~PeerRooms() = default;
};

// Makes the exchange. Collective: each rank's thread must have chosen its GPU; `ranks` must outlive the exchange.
// Errors are those of PeerRows (peer_rows.h), and kInvalidArgument for more than kMostPeers ranks; they are the same on
// all ranks unless one was lost. The exchange has rooms(). Its AllGather takes multiples of 16 bytes. The first gather
// of a given size is collective on the host too, waits for the device, and must not be captured. After Abort a gather
// in progress ends with whatever has arrived, and every later call returns kUnavailable.
Result<std::shared_ptr<GradientExchange>> MakePeerExchange(Communicator& ranks);

}  // namespace hone::gnn::cuda
