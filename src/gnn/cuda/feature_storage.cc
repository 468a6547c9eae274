// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/feature_storage.h"

#include "gnn/cuda/cache_ranking.h"
#include "gnn/cuda/device_graph.h"
#include "gnn/cuda/miss_path.h"

namespace hone::gnn::cuda {

Status UploadForStorage(const Graph& graph, const FeatureStorage& storage, const BatchShape& shape,
                        DeviceGraph& device) {
  if (storage.tier == FeatureTier::kDevice) return device.Upload(graph);
  if (storage.cache_rows < 0 || storage.staging_rows < 0 || storage.presampled_epochs < 1) {
    return Status::InvalidArgument("a feature cache: its rows cannot be below 0, nor the pre-sampled epochs below 1");
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<NodeId> cached, LikeliestRows(graph, shape, storage));
  const bool complete = static_cast<int64_t>(cached.size()) == graph.structure().num_nodes;
  const int64_t staging = complete || storage.misses == MissPath::kZeroCopy ? 0 : storage.staging_rows;
  HONE_RETURN_IF_ERROR(device.UploadCached(graph, cached, staging));
  if (staging == 0 || storage.misses != MissPath::kFastest || shape.fanouts.empty()) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const MissTimes times, MeasureMissPaths(device, shape.fanouts.back()));
  device.SetStaging(times.staged_ms < times.zero_copy_ms);
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
