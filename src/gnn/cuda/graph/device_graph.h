// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph with its labels in device memory, and its features there, in that of several devices, or in the host's
// (feature_storage.h).
#pragma once

#include <array>
#include <memory>
#include <span>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/cuda/graph/peer_rows.h"
#include "gnn/graph/synthetic_shape.h"
#include "gnn/infer/fingerprint.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// Whether `graph` is an outline (gnn/graph/synthetic_graph.h), whose edges and features nobody has made yet.
bool IsOutline(const Graph& graph);

class DeviceGraph {
 public:
  // Batches that may have staged rows at the same time: one that is trained on, and those under way to it.
  static constexpr int kStagingSets = 4;

  // Copies everything; `graph` may go. kInvalidArgument when it lacks features or labels, kResourceExhausted when
  // memory does not suffice.
  Status Upload(const Graph& graph);
  // Likewise, but features stay with `graph`, which must outlive this; FillCache comes next.
  Status UploadForCache(const Graph& graph, const HostRowsOptions& options = {});
  // Makes a synthetic graph where it is wanted, with the bytes that the host would make: seconds of the host's cores
  // become fractions of one here, and nothing crosses the bus. Needs four bytes a slot more while it works.
  Status Generate(const SyntheticRequest& request);
  // The structure and labels alone, for who puts the features where he wants them (generate_features.h).
  Status GenerateStructure(const SyntheticRequest& request);
  // As Generate, but features go to the host's memory as they are made, a piece at a time; FillCache comes next.
  Status GenerateForCache(const SyntheticRequest& request, const HostRowsOptions& options = {});
  // Likewise both, but each rank's GPU keeps a part of the features, and reads those of all others (peer_rows.h).
  // Collective; when it has come back, all are there. CheckPeers' errors beside the others.
  Status UploadOverPeers(const Graph& graph, Communicator& ranks);
  Status GenerateOverPeers(const SyntheticRequest& request, Communicator& ranks);
  // Features that are all here go to memory of the host; FillCache comes next. Nothing where they are there already.
  Status MoveFeaturesToHost(int threads);
  // Of features in the host's memory, or the peers': those of `cached` [count] (distinct ids, on the device) are copied, with room behind
  // them for `staging_rows` more in each of the staging sets. Replaces what was cached before.
  Status FillCache(const int32_t* cached, int64_t count, int64_t staging_rows);
  // The graph of an outline, in the host's memory; features that are there already stay this object's.
  Result<std::shared_ptr<const Graph>> Download(const Graph& outline) const;
  // UploadForCache and FillCache, for ids of the host.
  Status UploadCached(const Graph& graph, std::span<const NodeId> cached, int64_t staging_rows);
  // For the fingerprint of a graph that only this device holds. Borrows this; each read waits for the device.
  GraphReader Reader() const;

  // `set`: of the batch that looks; all are one where nothing is staged.
  const GraphOnDevice& view(int set = 0) const { return views_[static_cast<size_t>(set)]; }
  Element feature_element() const { return feature_element_; }
  int64_t num_edges() const { return columns_.size(); }
  // To the host, for tests and fingerprints.
  const DeviceArray<int64_t>& row_offsets() const { return row_offsets_; }
  const DeviceArray<int32_t>& columns() const { return columns_; }
  const DeviceArray<int32_t>& labels() const { return labels_; }
  const DeviceArray<unsigned char>& features() const { return features_; }
  // Null where no other GPU has any of the features.
  const PeerRows* peer_rows() const { return peer_rows_.get(); }
  // Of the cached tier: rows of features() that are a cache, and those behind them; both 0 where all rows are there.
  int64_t cached_rows() const { return cached_rows_; }
  int64_t staging_rows() const { return staging_rows_; }
  // Whether misses are staged from now on, where there is room; not while work is under way that was enqueued otherwise.
  void SetStaging(bool staged) {
    for (GraphOnDevice& view : views_) view.staging.rows = staged ? static_cast<int32_t>(staging_rows_) : 0;
  }
  bool managed() const { return host_rows_ != nullptr && host_rows_->managed(); }
  bool shares_host_rows() const { return host_rows_ != nullptr && host_rows_->shared(); }
  bool stages() const { return views_[0].staging.rows > 0; }
  // [num_nodes], see GraphOnDevice::feature_places.
  const DeviceArray<int32_t>& places() const { return sets_[0].places; }

 private:
  // Where a batch's rows are.
  struct StagingSet {
    DeviceArray<int32_t> places, nodes, count;
  };
  void SetView(const FeatureView& features, int64_t num_nodes);
  Status UploadStructure(const Graph& graph);
  Status TakePeerRows(std::unique_ptr<PeerRows> rows, Status filled, Communicator& ranks);
  // All rows by id, where the device reads those that it has no copy of; null where it has all.
  const void* elsewhere() const {
    if (peer_rows_ != nullptr) return peer_rows_->get();
    return host_rows_ != nullptr ? host_rows_->device() : nullptr;
  }

  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> columns_, labels_;
  DeviceArray<unsigned char> features_;
  std::array<StagingSet, kStagingSets> sets_;
  std::unique_ptr<HostRows> host_rows_;
  std::unique_ptr<PeerRows> peer_rows_;
  int64_t cached_rows_ = 0, staging_rows_ = 0;
  FeatureView shape_;  // of the rows, wherever they are; its `rows` means nothing
  std::array<GraphOnDevice, kStagingSets> views_{};
  Element feature_element_ = Element::kFloat32;
};

}  // namespace hone::gnn::cuda
