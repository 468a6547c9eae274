// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes file descriptors from every rank of a run to every other rank, through Unix sockets of this host.
//
// Each rank listens at an unguessable name that only processes of this host can reach (the abstract namespace). The
// ranks exchange these names through their Communicator, so every peer that connects is a rank of the run; a process of
// another user is rejected even if it knows the name. Everything here is collective, and a descriptor must not be used
// before the call has returned on all ranks.
#pragma once

#include <span>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {

class PeerSockets {
 public:
  // Connects all ranks, which must be on one host; `ranks` is borrowed. Errors: kInvalidArgument names the ranks on
  // different hosts; kUnavailable for a lost rank; kIo.
  static Result<PeerSockets> Connect(Communicator& ranks);

  // The largest number of descriptors that Exchange takes at once, on every rank. It is limited because descriptors in
  // flight count against the user's open files.
  size_t most() const { return most_; }
  // Sends `own_descriptors` (which stay the caller's) to every other rank. Returns what each rank has sent; this rank's
  // entry is empty.
  Result<std::vector<std::vector<UniqueFd>>> Exchange(std::span<const int> own_descriptors);

 private:
  explicit PeerSockets(Communicator& ranks) : ranks_(&ranks), links_(static_cast<size_t>(ranks.size())) {}
  // Accepts the connections of all later ranks. `names`: the names of all ranks' sockets.
  Status Link(int listener, const std::vector<std::string>& names);
  Communicator* ranks_;
  std::vector<UniqueFd> links_;  // indexed by rank; this rank's entry is empty
  size_t most_ = 1;  // limit of descriptors that every rank can take in one message
};

// Checks that all ranks are on one host; otherwise returns kInvalidArgument with the remedy. Collective.
Status CheckOneHost(Communicator& ranks);

}  // namespace hone::gnn::cuda
