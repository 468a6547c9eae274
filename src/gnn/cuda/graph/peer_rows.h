// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spreads one array of bytes over the memory of several GPUs, all of which read it at the same addresses.
//
// Each rank of the host allocates its part, sends a descriptor of it to the others (peer_sockets.h), and maps all parts
// side by side into one range of addresses (peer_memory.h). Kernels need not know which bytes lie on another GPU; those
// come over NVLink. Parts are dealt out in pieces, one rank after the other, and not as one contiguous part each. Nodes
// with near ids are often read together (papers100M's labelled nodes, and what they cite, are a small part of it), and
// a GPU that held all of them would serve every rank.
//
// When a rank has ended, its part stays readable, because memory lives as long as any process has it mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gnn/cuda/base/peer_memory.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {

// The distribution of `bytes` over `ranks` GPUs.
struct PeerLayout {
  int64_t bytes = 0;
  int64_t piece = 0;  // bytes per piece, a multiple of the memory's granularity; the last piece may be partly used
  int ranks = 1;

  int64_t pieces() const { return piece > 0 ? (bytes + piece - 1) / piece : 0; }
  int Owner(int64_t number) const { return static_cast<int>(number % ranks); }
  // Returns the bytes that the GPU of `rank` contributes: whole pieces.
  int64_t BytesOf(int rank) const { return (pieces() + ranks - 1 - rank) / ranks * piece; }
};
// Chooses the piece: small enough that every rank has several pieces if there are enough bytes, and large enough that
// mapping the pieces takes no relevant time.
PeerLayout LayOutOverPeers(int64_t bytes, int64_t granularity, int ranks);

// Checks whether the current GPUs of the ranks' threads can read one another's memory. kInvalidArgument, the same on
// all ranks, names two GPUs that cannot, ranks on several hosts, or a single rank, with the remedy. Collective.
Status CheckPeers(Communicator& ranks);

class PeerRows {
 public:
  // Allocates and maps the array; its contents are undefined. Collective; `ranks` is borrowed during the call. All
  // ranks return the same error: those of CheckPeers; kResourceExhausted if a GPU lacks the memory for its part.
  Status Make(Communicator& ranks, int64_t bytes);

  // Makes the array from one piece of at least `bytes` bytes per rank, in the order of the ranks.
  Status MakeOneEach(Communicator& ranks, int64_t bytes);

  unsigned char* get() const { return range_.get(); }
  const PeerLayout& layout() const { return layout_; }
  int rank() const { return rank_; }
  // Calls fill(first, end) for every range of bytes of the array that this rank's GPU holds; stops at an error.
  template <typename Fill>
  Status FillOwn(const Fill& fill) const {
    for (int64_t number = rank_; number < layout_.pieces(); number += layout_.ranks) {
      const int64_t first = number * layout_.piece;
      HONE_RETURN_IF_ERROR(fill(first, first + layout_.piece < layout_.bytes ? first + layout_.piece : layout_.bytes));
    }
    return Status::Ok();
  }
  // Copies bytes from offset `at` on to the host, and waits for the device. A copy never crosses from one GPU's memory
  // to another's.
  Status Download(int64_t at, std::span<std::byte> to) const;

 private:
  Status Share(Communicator& ranks);
  PeerLayout layout_;
  int rank_ = 0;
  PeerRange range_;
};

}  // namespace hone::gnn::cuda
