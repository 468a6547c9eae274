// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gather between the GPUs of one host that a step's sum needs, by their own memory instead of NCCL.
//
// NCCL's gather of a step's gradients is made for any number of bytes and hosts; here one kernel (peer_exchange_kernels.h)
// writes them where the others read them. Same bytes, so the same bits in every result; docs/design/0019 has the times.
// No library is needed, so the ranks of one host whose GPUs read one another train without NCCL.
#pragma once

#include <memory>

#include "gnn/cuda/update/peer_exchange_kernels.h"
#include "gnn/dist/gradient_exchange.h"

namespace hone::gnn::cuda {

// Rooms for kernels of a caller's own (peer_flags.cuh).
class PeerRooms {
 public:
  // It stays as long as the exchange. Collective on the host too, and waits for the device. An abort sets its `stop`.
  virtual Result<ExchangeOnDevice> MakeRoom(int64_t slot_bytes, int slices) = 0;

 protected:
  ~PeerRooms() = default;
};

// Collective: ranks whose threads have chosen their GPUs; `ranks` must outlive it. PeerRows' errors (peer_rows.h), and
// kInvalidArgument for more than kMostPeers ranks, the same on all ranks unless one was lost.
// It has rooms(), and its AllGather is for bytes that are a multiple of 16. The first gather of so many bytes is collective on the host too, waits for the device, and must not be captured. After Abort a gather that is under way ends with
// whatever had come, and every later call is kUnavailable.
Result<std::shared_ptr<GradientExchange>> MakePeerExchange(Communicator& ranks);

}  // namespace hone::gnn::cuda
