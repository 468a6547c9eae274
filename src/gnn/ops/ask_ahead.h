// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prefetches rows for loops over the edges of a block, whose rows are scattered in memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gnn/ops/simd.h"

namespace hone::gnn {

// Edges by which a prefetch precedes the use of a row: enough to cover the memory's latency.
inline constexpr int32_t kEdgesAhead = 12;

// Prefetches the rows of the edges up to kEdgesAhead past `edge`. `prefetched` is the first edge not prefetched yet; a
// loop starts it at its own first edge.
template <typename T>
HONE_INLINE_BODY void AskAhead(const T* x, int64_t stride, int64_t dim, const int32_t* columns, int32_t num_edges,
                               int32_t edge, int32_t& prefetched) {
  const int64_t bytes = std::min<int64_t>(dim * static_cast<int64_t>(sizeof(T)), 1024);
  for (const int32_t until = std::min(num_edges, edge + kEdgesAhead); prefetched < until; ++prefetched) {
    const char* row = reinterpret_cast<const char*>(x + columns[prefetched] * stride);
    for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b);
  }
}

}  // namespace hone::gnn
