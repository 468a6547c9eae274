// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides ranks for tests: threads of one process, connected like processes.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/process/frames.h"
#include "gnn/dist/socket.h"
#include "gnn/dist/tcp_communicator.h"

namespace hone::gnn {

// Returns `count` communicators that are connected by sockets.
inline std::vector<std::unique_ptr<Communicator>> ConnectedRanks(int count, double timeout_seconds = 300) {
  std::vector<TcpCommunicatorOptions> options(static_cast<size_t>(count));
  for (int r = 0; r < count; ++r) {
    TcpCommunicatorOptions& o = options[static_cast<size_t>(r)];
    o.rank = r;
    o.timeout_seconds = timeout_seconds;
    o.links.resize(options.size());
    for (int other = 0; other < count; ++other) o.names.push_back("rank " + std::to_string(other) + " on host h");
  }
  for (size_t a = 0; a < options.size(); ++a) {
    for (size_t b = a + 1; b < options.size(); ++b) {
      SocketPair pair = std::move(MakeSocketPair()).value();
      options[a].links[b] = std::move(pair.ours);
      options[b].links[a] = std::move(pair.theirs);
    }
  }
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (TcpCommunicatorOptions& o : options) ranks.push_back(MakeTcpCommunicator(std::move(o)));
  return ranks;
}

// Runs `body` for each rank on a separate thread, and waits for all.
inline void OnEachRank(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r) threads.emplace_back(body, r);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hone::gnn
