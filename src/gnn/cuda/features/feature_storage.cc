// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/features/feature_storage.h"

#include <algorithm>

#include "gnn/cuda/features/cache_ranking.h"
#include "gnn/cuda/features/device_ranking.h"
#include "gnn/cuda/graph/device_graph.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn::cuda {
namespace {

// Staging is chosen if alone it takes at most this factor times zero-copy's time. It may be slower alone because copies
// overlap with everything else, while a hop that reads the rows itself keeps multiprocessors waiting. Where both took
// the same time alone, an epoch took 1.04 times its bound with staging (10 % of the rows cached, and 5 %) and 1.13 and
// 1.49 times with zero-copy (2 % and 20 %; papers100M's shape on an H200). How much faster zero-copy must be to win was
// not measured.
constexpr double kStagingsWorth = 1.5;

Status Check(const FeatureStorage& storage) {
  if (storage.cache_rows >= 0 && storage.staging_rows >= 0 && storage.presampled_epochs >= 1) return Status::Ok();
  return Status::InvalidArgument("a feature cache: its rows cannot be below 0, nor the pre-sampled epochs below 1");
}

// Ranks on the device or, if the scores do not fit there, on the host.
Result<DeviceArray<int32_t>> RankLikeliestRows(const Graph& graph, const FeatureStorage& storage,
                                               const BatchShape& shape, const DeviceGraph& device) {
  Result<DeviceArray<int32_t>> ranked =
      LikeliestOnGpu(device, shape.seeds.empty() ? graph.train_nodes() : shape.seeds, shape, storage, graph.flags().symmetric);
  const bool has_edges = graph.structure().num_edges() > 0;
  if (ranked.ok() || ranked.status().code() != StatusCode::kResourceExhausted || !has_edges) return ranked;
  HONE_ASSIGN_OR_RETURN(const std::vector<NodeId> nodes, LikeliestRows(graph, shape, storage));
  DeviceArray<int32_t> list;
  HONE_RETURN_IF_ERROR(list.Upload(nodes.data(), static_cast<int64_t>(nodes.size())));
  return list;
}

Result<StorageFacts> ShareWithPeers(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                    DeviceGraph& device) {
  const std::unique_ptr<Communicator> solo_communicator = storage.ranks == nullptr ? MakeSoloCommunicator() : nullptr;
  Communicator& ranks = storage.ranks == nullptr ? *solo_communicator : *storage.ranks;
  if (IsOutline(graph)) {
    HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(graph.name()));
    HONE_RETURN_IF_ERROR(device.GenerateOverPeers(request, ranks));
  } else {
    HONE_RETURN_IF_ERROR(device.UploadOverPeers(graph, ranks));
  }
  StorageFacts facts;
  if (storage.cache_rows == 0) return facts;
  HONE_ASSIGN_OR_RETURN(const DeviceArray<int32_t> cached, RankLikeliestRows(graph, storage, shape, device));
  facts.cached_rows = cached.size();
  // Nothing is staged, because reading peers' rows in place is as fast as copying them would be.
  HONE_RETURN_IF_ERROR(device.FillCache(cached.get(), cached.size(), 0));
  return facts;
}

}  // namespace

Status CheckStorageChange(const FeatureStorage& storage) {
  HONE_RETURN_IF_ERROR(Check(storage));
  if (storage.tier == FeatureTier::kCached) return Status::Ok();
  return Status::InvalidArgument("features move to the host's memory, not back: open the graph once more");
}

Result<StorageFacts> ChangeStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                   DeviceGraph& device) {
  HONE_RETURN_IF_ERROR(CheckStorageChange(storage));
  HONE_RETURN_IF_ERROR(device.MoveFeaturesToHost(storage.threads));
  StorageFacts facts;
  {
    HONE_ASSIGN_OR_RETURN(const DeviceArray<int32_t> cached, RankLikeliestRows(graph, storage, shape, device));
    facts.cached_rows = cached.size();
    const int64_t others = device.view().num_nodes - cached.size();  // no batch has more misses
    const int64_t staging = storage.misses == MissPath::kZeroCopy ? 0 : std::min(storage.staging_rows, others);
    HONE_RETURN_IF_ERROR(device.FillCache(cached.get(), cached.size(), staging));
  }
  facts.staged = device.stages();
  facts.managed = device.managed();
  facts.shared = device.shares_host_rows();
  if (!facts.staged || shape.fanouts.empty()) return facts;
  HONE_ASSIGN_OR_RETURN(facts.measured, MeasureMissPaths(device, shape.fanouts.back()));
  if (storage.misses == MissPath::kFastest) {
    facts.staged = facts.measured.staged_ms < kStagingsWorth * facts.measured.zero_copy_ms;
  }
  device.SetStaging(facts.staged);
  return facts;
}

Result<StorageFacts> UploadForStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                                      DeviceGraph& device) {
  HONE_RETURN_IF_ERROR(Check(storage));
  if (storage.tier == FeatureTier::kPeers) return ShareWithPeers(graph, storage, shape, device);
  const bool cached = storage.tier == FeatureTier::kCached;
  const HostRowsOptions host{.threads = storage.threads, .ranks = storage.ranks, .most_bytes = storage.host_bytes};
  if (IsOutline(graph)) {
    HONE_ASSIGN_OR_RETURN(const SyntheticRequest request, ParseSyntheticName(graph.name()));
    HONE_RETURN_IF_ERROR(cached ? device.GenerateForCache(request, host) : device.Generate(request));
  } else {
    HONE_RETURN_IF_ERROR(cached ? device.UploadForCache(graph, host) : device.Upload(graph));
  }
  if (!cached) return StorageFacts{.cached_rows = graph.structure().num_nodes};
  return ChangeStorage(graph, storage, shape, device);
}

}  // namespace hone::gnn::cuda
