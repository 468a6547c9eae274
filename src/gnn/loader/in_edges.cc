// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/in_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <utility>

#include "gnn/graph/parallel.h"
#include "gnn/loader/huge_pages.h"

namespace hone::gnn {
namespace {

constexpr int64_t kPiece = 1 << 16;  // edges or rows that a thread takes at a time

// Returns the index of an edge with an end that is not a node: the first such edge; -1: there is none.
int64_t FirstBadEdge(std::span<const int64_t> sources, std::span<const int64_t> destinations, int64_t num_nodes,
                     int threads) {
  const auto edges = static_cast<int64_t>(sources.size());
  const auto limit = static_cast<uint64_t>(num_nodes);
  std::atomic<int64_t> bad{std::numeric_limits<int64_t>::max()};
  ParallelPieces(threads, (edges + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t end = std::min(edges, (piece + 1) * kPiece);
    for (int64_t e = piece * kPiece; e < end; ++e) {
      const auto i = static_cast<size_t>(e);
      if (static_cast<uint64_t>(sources[i]) < limit && static_cast<uint64_t>(destinations[i]) < limit) continue;
      int64_t lowest_bad_edge = bad.load();
      while (e < lowest_bad_edge && !bad.compare_exchange_weak(lowest_bad_edge, e)) {
      }
      break;
    }
  });
  return bad.load() == std::numeric_limits<int64_t>::max() ? -1 : bad.load();
}

// Sorts the edges by destination; their ends were checked.
InEdges Build(std::span<const int64_t> sources, std::span<const int64_t> destinations, int64_t num_nodes, int threads) {
  const auto edges = static_cast<int64_t>(sources.size());
  InEdges result;
  ResizeOnHugePages(result.row_offsets, static_cast<size_t>(num_nodes) + 1);
  // Threads count up these positions to place edges within their rows, in any order; the rows are sorted below.
  std::vector<std::atomic<int64_t>> next_position(static_cast<size_t>(num_nodes));
  const int64_t pieces = (edges + kPiece - 1) / kPiece;
  ParallelPieces(threads, pieces, [&](int64_t piece) {
    const int64_t end = std::min(edges, (piece + 1) * kPiece);
    for (int64_t e = piece * kPiece; e < end; ++e) {
      next_position[static_cast<size_t>(destinations[static_cast<size_t>(e)])].fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (size_t v = 0; v < static_cast<size_t>(num_nodes); ++v) {
    result.row_offsets[v + 1] = result.row_offsets[v] + next_position[v].load(std::memory_order_relaxed);
    next_position[v].store(result.row_offsets[v], std::memory_order_relaxed);
  }
  struct Entry {
    int64_t edge;
    NodeId source;
  };
  std::vector<Entry> entries;
  ResizeOnHugePages(entries, static_cast<size_t>(edges));
  ParallelPieces(threads, pieces, [&](int64_t piece) {
    const int64_t end = std::min(edges, (piece + 1) * kPiece);
    for (int64_t e = piece * kPiece; e < end; ++e) {
      const auto i = static_cast<size_t>(e);
      const int64_t place = next_position[static_cast<size_t>(destinations[i])].fetch_add(1, std::memory_order_relaxed);
      entries[static_cast<size_t>(place)] = {e, static_cast<NodeId>(sources[i])};
    }
  });
  ResizeOnHugePages(result.columns, static_cast<size_t>(edges));
  ResizeOnHugePages(result.edge_ids, static_cast<size_t>(edges));
  std::atomic<bool> moved{false};
  ParallelPieces(threads, (num_nodes + kPiece - 1) / kPiece, [&](int64_t piece) {
    bool moved_here = false;
    const int64_t last = std::min(num_nodes, (piece + 1) * kPiece);
    for (int64_t v = piece * kPiece; v < last; ++v) {
      const int64_t begin = result.row_offsets[static_cast<size_t>(v)],
                    end = result.row_offsets[static_cast<size_t>(v) + 1];
      std::sort(entries.begin() + begin, entries.begin() + end, [](const Entry& a, const Entry& b) {
        return a.source != b.source ? a.source < b.source : a.edge < b.edge;
      });
      for (int64_t i = begin; i < end; ++i) {
        result.columns[static_cast<size_t>(i)] = entries[static_cast<size_t>(i)].source;
        result.edge_ids[static_cast<size_t>(i)] = entries[static_cast<size_t>(i)].edge;
        moved_here |= entries[static_cast<size_t>(i)].edge != i;
      }
    }
    if (moved_here) moved.store(true, std::memory_order_relaxed);
  });
  result.in_order = !moved.load();
  return result;
}

}  // namespace

Result<InEdges> MakeInEdges(std::span<const int64_t> sources, std::span<const int64_t> destinations, int64_t num_nodes,
                            int threads) {
  if (sources.size() != destinations.size()) {
    return Status::InvalidArgument(
        fmt::format("there are {} sources and {} destinations", sources.size(), destinations.size()));
  }
  if (num_nodes < 0 || num_nodes >= std::numeric_limits<NodeId>::max()) {
    return Status::InvalidArgument(fmt::format("a graph of {} nodes: 0 to 2^31 - 2 are possible", num_nodes));
  }
  threads = ThreadCount(threads);
  try {
    if (const int64_t bad = FirstBadEdge(sources, destinations, num_nodes, threads); bad >= 0) {
      return Status::InvalidArgument(fmt::format("edge {} goes from node {} to node {}, and the graph has {} nodes",
                                                 bad, sources[static_cast<size_t>(bad)],
                                                 destinations[static_cast<size_t>(bad)], num_nodes));
    }
    return Build(sources, destinations, num_nodes, threads);
  } catch (const std::bad_alloc&) {
    return Status::ResourceExhausted(
        fmt::format("no memory for a graph of {} nodes and {} edges", num_nodes, sources.size()));
  }
}

}  // namespace hone::gnn
