// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/infer/exact_ranks.h"

#include <algorithm>

#include "gnn/cuda/infer/exact_kernels.h"

namespace hone::gnn::cuda {
namespace {

constexpr size_t kBuckets = 65536;  // a node with as many readers or more is in the first bucket

size_t BucketOf(uint32_t readers) { return kBuckets - 1 - std::min<size_t>(readers, kBuckets - 1); }

}  // namespace

Result<std::vector<uint32_t>> CountReaders(const CsrView& graph, bool symmetric, const int32_t* columns,
                                           int64_t num_edges) {
  std::vector<uint32_t> readers(static_cast<size_t>(graph.num_nodes));
  if (symmetric) {
    for (size_t v = 0; v < readers.size(); ++v) {
      readers[v] = static_cast<uint32_t>(std::min<int64_t>(graph.Degree(static_cast<NodeId>(v)), UINT32_MAX));
    }
    return readers;
  }
  DeviceArray<uint32_t> counts;
  HONE_RETURN_IF_ERROR(counts.Allocate(graph.num_nodes));
  HONE_CUDA_RETURN_IF_ERROR(cudaMemset(counts.get(), 0, readers.size() * sizeof(uint32_t)));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueCountReaders(columns, num_edges, counts.get(), nullptr));
  HONE_RETURN_IF_ERROR(counts.Download(readers));
  return readers;
}

std::vector<int32_t> RanksByReaders(std::span<const uint32_t> readers) {
  std::vector<int32_t> next(kBuckets + 1, 0);
  for (const uint32_t count : readers) ++next[BucketOf(count) + 1];
  for (size_t b = 1; b <= kBuckets; ++b) next[b] += next[b - 1];
  std::vector<int32_t> ranks(readers.size());
  for (size_t v = 0; v < ranks.size(); ++v) ranks[v] = next[BucketOf(readers[v])]++;
  return ranks;
}

std::vector<NodeId> FirstByRank(std::span<const int32_t> ranks, int64_t count) {
  std::vector<NodeId> nodes(static_cast<size_t>(count));
  for (size_t v = 0; v < ranks.size(); ++v) {
    if (ranks[v] < count) nodes[static_cast<size_t>(ranks[v])] = static_cast<NodeId>(v);
  }
  return nodes;
}

}  // namespace hone::gnn::cuda
