// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides work into fixed pieces, and spreads them over threads.
//
// The pieces depend on the shape alone, never on the number of threads, and a reduction adds its pieces in order. Every
// output row has one writer. Results are therefore equal to the bit on any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hone::gnn {

// Calls body(i) for i in [0, count) on up to `threads` threads. Bodies must not throw.
template <typename Body>
void ParallelFor(int threads, int64_t count, const Body& body) {
  const int used_threads = static_cast<int>(std::min<int64_t>(threads, count));
  if (used_threads <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(used_threads)
  for (int64_t i = 0; i < count; ++i) body(i);
}

// Calls body(begin, end) for consecutive pieces of `piece` rows.
template <typename Body>
void ParallelRows(int threads, int64_t rows, int64_t piece, const Body& body) {
  ParallelFor(threads, (rows + piece - 1) / piece,
              [&](int64_t i) { body(i * piece, std::min(rows, (i + 1) * piece)); });
}

// Returns the number of rows of a piece that is worth handing to a thread: about 16,384 elements, but 16 to 4,096 rows.
inline int64_t PieceRows(int64_t cols) { return std::clamp<int64_t>(16384 / std::max<int64_t>(cols, 1), 16, 4096); }

}  // namespace hone::gnn
