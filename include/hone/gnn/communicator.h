// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Connects the processes ("ranks") that train one model: sums, broadcasts, barriers, agreements.
//
// Every operation is collective: all ranks call it, in the same order and with the same sizes, or the call fails and
// names the ranks that differ. Values are always summed in the order of the ranks, whichever arrives first; so every
// rank ends with the same bits, and a run repeats to the bit. Buffers are in host memory
// (src/gnn/dist/gradient_exchange.h handles device memory).
//
// A communicator cannot be used after an error: the ranks no longer agree on what comes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

// One thread at a time may call these functions, except Abort, which any thread may call at any time.
//
// Errors of every operation: kUnavailable, a rank was lost (killed, hung, or failed by itself), naming rank, host and
// reason; kTimedOut, a rank did not join in time; kInternal, a rank is in another operation.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // 0 … size() - 1
  virtual int size() const = 0;
  virtual std::string Name(int rank) const = 0;  // "rank 2 on host node7"

  // Sends to[r] to rank r, and stores what rank r sent here in from[r]: the only operation that an implementation must
  // provide. Both sides know the sizes; the size for any pair of ranks may be 0. `what` names the operation in errors
  // and must be equal on all ranks. Buffers must not overlap.
  virtual Status Exchange(std::string_view what, std::span<const std::span<const std::byte>> to,
                          std::span<const std::span<std::byte>> from) = 0;

  // Makes the operation in progress, if any, and all later ones fail with `why`, at once. The first reason is kept.
  // Never blocks on an operation.
  virtual void Abort(const Status& why) = 0;

  // Sums on every rank: values = values of rank 0 + values of rank 1 + …, added in that order.
  Status AllReduceSum(std::string_view what, std::span<float> values);
  Status AllReduceSum(std::string_view what, std::span<double> values);
  // Copies `bytes` of rank `root` to every rank. The string version may start with a different length on each rank.
  Status Broadcast(std::string_view what, std::span<std::byte> bytes, int root);
  Status Broadcast(std::string_view what, std::string& bytes, int root);
  // Returns the strings of all ranks, indexed by rank. They may differ in length.
  Result<std::vector<std::string>> AllGather(std::string_view what, const std::string& own_text);
  // Returns when every rank has called it.
  Status Barrier(std::string_view what);
  // Checks that `value` is equal on all ranks. Otherwise kInvalidArgument, which names the ranks that differ from rank
  // 0.
  Status Agree(std::string_view what, uint64_t value);

 private:
  std::vector<std::byte> scratch_;
};

// Makes a communicator for a process by itself: rank 0 of 1. Every operation succeeds at once, until Abort.
std::unique_ptr<Communicator> MakeSoloCommunicator();

}  // namespace hone::gnn
