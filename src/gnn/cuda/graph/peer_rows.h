// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One array of bytes in the memory of several GPUs, a part of it in each, that every one of them reads at the same places.
//
// Each rank of the host makes its part, hands it to the others (peer_sockets.h), and maps all parts side by side into one
// range of addresses (peer_memory.h). What lies on another GPU comes over NVLink when a kernel reads it, so kernels do
// not know the difference. Parts are dealt out in pieces, one rank after the other, and not as one stretch each: nodes
// that are near one another are often wanted together (papers100M's labelled nodes, and what they cite, are a small part
// of it), and the GPU that had all of them would serve everybody.
//
// When a rank is gone its part stays readable: memory lives as long as anybody has it mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/base/peer_memory.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {

// How `bytes` are dealt out to `ranks` GPUs.
struct PeerLayout {
  int64_t bytes = 0;
  int64_t piece = 0;  // bytes, a multiple of the memory's granularity; the last one may be filled in part
  int ranks = 1;

  int64_t pieces() const { return piece > 0 ? (bytes + piece - 1) / piece : 0; }
  int Owner(int64_t number) const { return static_cast<int>(number % ranks); }
  // What the GPU of `rank` gives for it, whole pieces.
  int64_t BytesOf(int rank) const { return (pieces() + ranks - 1 - rank) / ranks * piece; }
};
// Pieces are small enough that every rank has several where there is enough to deal out, and few enough that mapping
// them takes no time that matters.
PeerLayout LayOutOverPeers(int64_t bytes, int64_t granularity, int ranks);

// Collective. Whether the GPUs that the ranks' threads have chosen can read one another's memory; kInvalidArgument names
// two that cannot, ranks on several hosts, or a single rank, with the remedy, and is the same on all ranks.
Status CheckPeers(Communicator& ranks);

class PeerRows {
 public:
  // Collective, `ranks` is borrowed for the time of the call. CheckPeers' errors; kResourceExhausted where one GPU lacks
  // the memory for its part, on all ranks. What the bytes are is undefined.
  Status Make(Communicator& ranks, int64_t bytes);

  // Likewise, but each rank's part is one piece of at least `bytes`, in the order of the ranks.
  Status MakeOneEach(Communicator& ranks, int64_t bytes);

  unsigned char* get() const { return range_.get(); }
  const PeerLayout& layout() const { return layout_; }
  int rank() const { return rank_; }
  // Calls fill(first, end) for every stretch of the array that is this rank's part; stops at an error.
  template <typename Fill>
  Status FillOwn(const Fill& fill) const {
    for (int64_t number = rank_; number < layout_.pieces(); number += layout_.ranks) {
      const int64_t first = number * layout_.piece;
      HONE_RETURN_IF_ERROR(fill(first, first + layout_.piece < layout_.bytes ? first + layout_.piece : layout_.bytes));
    }
    return Status::Ok();
  }
  // To the host; waits for the device. A copy never crosses from one GPU's memory to another's.
  Status Download(int64_t at, std::span<std::byte> to) const;

 private:
  Status Share(Communicator& ranks);
  PeerLayout layout_;
  int rank_ = 0;
  PeerRange range_;
};

}  // namespace hone::gnn::cuda
