// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs independent pieces of work on a few threads.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace hone::gnn {

// Returns `wanted_threads`, or if it is 0 the number of CPUs this process may use.
inline int ThreadCount(int wanted_threads) {
  if (wanted_threads > 0) return wanted_threads;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Calls work(i) once for each i in [0, count), on up to `threads` threads including the caller. Pieces are handed out
// in order. `report(done)` is called on the caller's thread after each piece that this thread did. Neither function may
// throw.
template <typename Work, typename Report>
void ParallelPieces(int threads, int64_t count, Work&& work, Report&& report) {
  std::atomic<int64_t> next_piece{0}, finished_pieces{0};
  const auto run = [&](bool caller) {
    for (int64_t i; (i = next_piece.fetch_add(1, std::memory_order_relaxed)) < count;) {
      work(i);
      const int64_t finished = finished_pieces.fetch_add(1, std::memory_order_relaxed) + 1;
      if (caller) report(finished);
    }
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < std::min<int64_t>(threads, count); ++t) helpers.emplace_back(run, false);
  run(true);
  for (std::thread& helper : helpers) helper.join();
}
template <typename Work>
void ParallelPieces(int threads, int64_t count, Work&& work) {
  ParallelPieces(threads, count, work, [](int64_t) {});
}

}  // namespace hone::gnn
