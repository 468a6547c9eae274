// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs ranks for tests, each with an emulated GPU. There is one emulated device per process, so every rank but 0 is a
// forked process. NCCL is replaced by work of the emulated streams, captured and replayed like a kernel, that exchanges
// bytes over a socket. A rank's host and device take turns, and so do the ranks, so only the order by number (0) is
// free of deadlocks.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gnn/cuda/emulated/runtime.h"
#include "gnn/dist/gradient_exchange.h"
#include "gnn/dist/test_ranks.h"

namespace hone::gnn::cuda {

class StreamExchange final : public GradientExchange {
 public:
  explicit StreamExchange(Communicator& link) : link_(link) {}
  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  Status AllGather(const void* in, void* out, int64_t count, DeviceElement element, CUstream_st* stream) override {
    if (element != DeviceElement::kFloat32) return Status::Internal("not in this test");
    const auto bytes = static_cast<size_t>(count) * sizeof(float);
    emulated::Enqueue(stream, "an all-gather", [this, in, out, bytes] {
      auto* const all = static_cast<std::byte*>(out);
      const std::span own_bytes(static_cast<const std::byte*>(in), bytes);
      std::vector<std::span<const std::byte>> to(static_cast<size_t>(size()), own_bytes);
      std::vector<std::span<std::byte>> from;
      for (size_t r = 0; r < to.size(); ++r) from.emplace_back(all + r * bytes, bytes);
      std::memmove(all + static_cast<size_t>(rank()) * bytes, in, bytes);
      to[static_cast<size_t>(rank())] = {};
      from[static_cast<size_t>(rank())] = {};
      // An aborted NCCL operation leaves whatever had arrived, and the stream continues. The fill stands for such data.
      if (!link_.Exchange("an all-gather", to, from).ok()) std::memset(out, 0x3c, to.size() * bytes);
    });
    return Status::Ok();
  }
  Status Poll() override { return Status::Ok(); }
  void Abort() override {}

 private:
  Communicator& link_;
};

// Runs `body` as each of `count` ranks. Rank 0 is this process. Each other rank is a child process, which ends after
// the body, with status 0 if the body returned Ok and the child's device has no fault. Returns rank 0's result; *others
// gets the wait statuses of ranks 1 and up.
using RankBody = std::function<Status(Communicator& ranks, GradientExchange& gpus)>;
inline Status OnRankProcesses(int count, const RankBody& body, std::vector<int>* others) {
  std::vector<std::unique_ptr<Communicator>> hosts = ConnectedRanks(count), links = ConnectedRanks(count);
  std::vector<pid_t> children;
  size_t rank = 0;
  for (size_t r = 1; r < hosts.size() && rank == 0; ++r) {
    const pid_t child = fork();
    if (child == 0) rank = r;
    children.push_back(child);
  }
  for (size_t r = 0; r < hosts.size(); ++r) {
    if (r == rank) continue;
    hosts[r] = nullptr;  // this also closes the process's copies of the other rank's sockets
    links[r] = nullptr;
  }
  StreamExchange exchange(*links[rank]);
  const Status result = body(*hosts[rank], exchange);
  if (rank > 0) _exit(result.ok() && emulated::Fault().empty() ? 0 : 1);
  hosts[0] = nullptr;
  links[0] = nullptr;
  others->clear();
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    others->push_back(status);
  }
  return result;
}

}  // namespace hone::gnn::cuda
