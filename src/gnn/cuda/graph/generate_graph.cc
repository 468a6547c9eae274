// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements DeviceGraph::Generate in the order counts, places, owners, columns, features, labels. The host only adds
// up the counts of class blocks.
#include <algorithm>
#include <array>
#include <vector>

#include "gnn/cuda/graph/device_graph.h"
#include "gnn/cuda/graph/generate_features.h"
#include "gnn/cuda/graph/generate_kernels.h"
#include "gnn/dist/agreement.h"

namespace hone::gnn::cuda {

Status DeviceGraph::GenerateStructure(const SyntheticRequest& request) {
  const SyntheticSpec& spec = request.spec;
  const auto blocks = static_cast<size_t>(spec.num_blocks);
  DeviceArray<uint32_t> upper;
  DeviceArray<uint64_t> threshold, slots;
  HONE_RETURN_IF_ERROR(upper.Upload(request.degrees.upper.data(), static_cast<int64_t>(request.degrees.upper.size())));
  HONE_RETURN_IF_ERROR(threshold.Upload(request.degrees.threshold.data(), static_cast<int64_t>(request.degrees.threshold.size())));
  const DegreeTableView table{upper.get(), threshold.get(), static_cast<int32_t>(request.degrees.upper.size())};
  HONE_RETURN_IF_ERROR(slots.Allocate(3 * spec.num_blocks));
  cudaStream_t const stream = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(EnqueueCountSlots(spec, table, slots.get(), stream));
  std::vector<uint64_t> counts;
  HONE_RETURN_IF_ERROR(slots.Download(counts));

  std::array<DeviceArray<uint64_t>, 3> start_arrays;
  std::array<DeviceArray<int32_t>, 3> owner_arrays;
  SlotStarts starts{};
  int32_t* owners[3] = {};
  int64_t edges = 0;
  for (size_t level = 0; level < 3; ++level) {
    std::vector<uint64_t> edges_before(blocks + 1);
    for (size_t b = 0; b < blocks; ++b) edges_before[b + 1] = edges_before[b] + counts[level * blocks + b];
    edges += static_cast<int64_t>(edges_before.back());
    HONE_RETURN_IF_ERROR(start_arrays[level].Upload(edges_before.data(), static_cast<int64_t>(edges_before.size())));
    HONE_RETURN_IF_ERROR(owner_arrays[level].Allocate(static_cast<int64_t>(edges_before.back())));
    starts.level[level] = start_arrays[level].get();
    owners[level] = owner_arrays[level].get();
  }
  HONE_RETURN_IF_ERROR(row_offsets_.Allocate(spec.num_nodes + 1));
  HONE_RETURN_IF_ERROR(columns_.Allocate(edges));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueOwners(spec, table, starts, row_offsets_.get(), owners, stream));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueColumns(spec, table, starts, owners, columns_.get(), stream));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream));
  for (DeviceArray<int32_t>& owner : owner_arrays) owner = {};  // frees this memory for the features

  HONE_RETURN_IF_ERROR(labels_.Allocate(spec.num_nodes));
  HONE_CUDA_RETURN_IF_ERROR(EnqueueLabels(spec, labels_.get(), stream));
  SetView(FeaturesOf(request), spec.num_nodes);
  return Status::Ok();
}

Status DeviceGraph::Generate(const SyntheticRequest& request) {
  HONE_RETURN_IF_ERROR(GenerateStructure(request));
  HONE_RETURN_IF_ERROR(features_.Allocate(shape_.num_rows * shape_.stride_bytes));
  SetView(shape_, request.spec.num_nodes);
  FeatureGenerator generator(request);
  HONE_RETURN_IF_ERROR(generator.Enqueue(0, request.spec.num_nodes, features_.get()));
  HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(nullptr));
  return Status::Ok();
}

Status DeviceGraph::GenerateOverPeers(const SyntheticRequest& request, Communicator& ranks) {
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the graph on the GPUs", GenerateStructure(request)));
  const SyntheticSpec& spec = request.spec;
  const int64_t stride = shape_.stride_bytes;
  auto rows = std::make_unique<PeerRows>();
  HONE_RETURN_IF_ERROR(rows->Make(ranks, spec.num_nodes * stride));
  FeatureGenerator generator(request);
  // Fills the rows that begin in this rank's memory. A row may end in the next GPU's memory; this rank writes it
  // completely.
  const Status filled = rows->FillOwn([&](int64_t first, int64_t end) -> Status {
    const int64_t row = (first + stride - 1) / stride;
    return generator.Enqueue(row, (end + stride - 1) / stride, rows->get() + row * stride);
  });
  return TakePeerRows(std::move(rows), filled, ranks);
}

Status DeviceGraph::GenerateForCache(const SyntheticRequest& request, const HostRowsOptions& options) {
  HONE_RETURN_IF_ERROR(GenerateStructure(request));
  auto host = std::make_unique<HostRows>();
  HONE_RETURN_IF_ERROR(host->Allocate(shape_.num_rows * shape_.stride_bytes, options));
  HONE_RETURN_IF_ERROR(FeatureGenerator(request).FillHost(*host));
  host_rows_ = std::move(host);
  SetView(shape_, shape_.num_rows);
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
