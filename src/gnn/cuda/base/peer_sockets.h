// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// File descriptors from every rank of a run to every other one, by Unix sockets of this host.
//
// Each rank listens at an unguessable name that only processes of this host can reach (the abstract namespace); the ranks
// tell one another these names through their Communicator, so whoever connects is one of them, and a process of another
// user is turned away whatever it knows. Everything here is collective, and no descriptor is of any use before the call
// has come back on all ranks.
#pragma once

#include <span>
#include <vector>

#include "base/file.h"
#include "hone/base/status.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {

class PeerSockets {
 public:
  // Connects all ranks, which must be on one host; `ranks` is borrowed. kInvalidArgument names the ranks that are on
  // different ones; kUnavailable, a rank was lost; kIo.
  static Result<PeerSockets> Connect(Communicator& ranks);

  // How many descriptors Exchange takes at once, on every rank: what is on its way counts against the user's open files.
  size_t most() const { return most_; }
  // Sends `mine` (which stay the caller's) to every other rank. Of each rank what it has sent, of this one nothing.
  Result<std::vector<std::vector<UniqueFd>>> Exchange(std::span<const int> mine);

 private:
  explicit PeerSockets(Communicator& ranks) : ranks_(&ranks), links_(static_cast<size_t>(ranks.size())) {}
  Status Link(int listener, const std::vector<std::string>& names);
  Communicator* ranks_;
  std::vector<UniqueFd> links_;  // by rank; of this one none
  size_t most_ = 1;
};

// Collective. Ok where all ranks are on one host, else kInvalidArgument with the remedy.
Status CheckOneHost(Communicator& ranks);

}  // namespace hone::gnn::cuda
