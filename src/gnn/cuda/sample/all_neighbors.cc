// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/sample/all_neighbors.h"

#include <algorithm>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/sample/wide_sample_kernels.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {

bool AsksForAll(std::span<const int32_t> fanouts) {
  return std::find(fanouts.begin(), fanouts.end(), kAllNeighbors) != fanouts.end();
}

std::vector<int32_t> WithAllNeighbors(std::span<const int32_t> fanouts, int32_t largest_degree) {
  std::vector<int32_t> numbers(fanouts.begin(), fanouts.end());
  std::replace(numbers.begin(), numbers.end(), kAllNeighbors, std::max(largest_degree, 1));
  return numbers;
}

int32_t LargestDegree(const CsrView& graph) {
  int64_t largest_degree = 0;
  for (size_t v = 0; v + 1 < graph.row_offsets.size(); ++v) {
    largest_degree = std::max(largest_degree, graph.row_offsets[v + 1] - graph.row_offsets[v]);
  }
  return static_cast<int32_t>(largest_degree);
}

Result<int32_t> LargestDegree(const GraphOnDevice& graph) {
  DeviceArray<int32_t> largest_degree;
  HONE_RETURN_IF_ERROR(largest_degree.Allocate(1));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueLargestDegree(graph.row_offsets, graph.num_nodes, largest_degree.get(), nullptr));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(nullptr));
  std::vector<int32_t> degree_on_host;
  HONE_RETURN_IF_ERROR(largest_degree.Download(degree_on_host));
  return degree_on_host[0];
}

}  // namespace hone::gnn::cuda
