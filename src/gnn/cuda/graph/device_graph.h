// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds a graph and its labels in device memory. Features lie in the same memory, across several GPUs, or in host
// memory (feature_storage.h).
#pragma once

#include <array>
#include <memory>
#include <span>

#include "gnn/cuda/base/batch_layout.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/edge_features_on_device.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/graph/host_rows.h"
#include "gnn/cuda/graph/peer_rows.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "gnn/infer/fingerprint.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

// Returns whether `graph` is an outline (gnn/graph/synthetic/synthetic_graph.h), whose edges and features are not generated yet.
bool IsOutline(const Graph& graph);

class DeviceGraph {
 public:
  // The largest number of batches that may have staged rows at the same time: one that is trained on, and those being
  // prepared.
  static constexpr int kStagingSets = 4;

  // Copies structure, labels and features; `graph` need not stay. kInvalidArgument if it lacks features or labels,
  // kResourceExhausted if memory does not suffice.
  Status Upload(const Graph& graph);
  // Copies structure and labels. Features stay with `graph`, which must outlive this object; FillCache must be called
  // next.
  Status UploadForCache(const Graph& graph, const HostRowsOptions& options = {});
  // Copies the features of the graph's edges, for a model that reads them. kResourceExhausted if memory does not
  // suffice.
  Status UploadEdgeFeatures(const Graph& graph);
  // Generates a synthetic graph on the device, with the bytes that the host would make. What takes the host's cores
  // seconds takes fractions of a second, and nothing crosses the bus. Temporarily needs four bytes more per slot.
  Status Generate(const SyntheticRequest& request);
  // Generates only structure and labels, for callers that place the features themselves (generate_features.h).
  Status GenerateStructure(const SyntheticRequest& request);
  // Generates structure and labels on the device, and features piece by piece into host memory; FillCache must be
  // called next.
  Status GenerateForCache(const SyntheticRequest& request, const HostRowsOptions& options = {});
  // Do the work of Upload and Generate, but each rank's GPU keeps a part of the features and reads the other ranks'
  // parts (peer_rows.h). Collective; on return all parts are available. Errors are also those of CheckPeers.
  Status UploadOverPeers(const Graph& graph, Communicator& ranks);
  Status GenerateOverPeers(const SyntheticRequest& request, Communicator& ranks);
  // Moves features that are all on the device to host memory; FillCache must be called next. No effect if they are
  // there already.
  Status MoveFeaturesToHost(int threads);
  // Copies the rows of `cached` [count] (distinct ids, on the device) into a cache that replaces the previous one.
  // Behind the cached rows there is room for `staging_rows` rows in each of the staging sets. For features in host
  // memory or on peers.
  Status FillCache(const int32_t* cached, int64_t count, int64_t staging_rows);
  // Copies the graph of an outline to host memory; features that are there already stay owned by this object.
  Result<std::shared_ptr<const Graph>> Download(const Graph& outline) const;
  // Does the work of UploadForCache and of FillCache, for ids in host memory.
  Status UploadCached(const Graph& graph, std::span<const NodeId> cached, int64_t staging_rows);
  // Returns a reader that makes the fingerprint of a graph that only this device holds. The reader borrows this object,
  // and each read waits for the device.
  GraphReader Reader() const;

  // Returns the graph as kernels see it. `staging_set` is the batch's staging set; all views are equal if nothing is
  // staged.
  const GraphOnDevice& view(int staging_set = 0) const { return views_[static_cast<size_t>(staging_set)]; }
  Element feature_element() const { return feature_element_; }
  // Returns the features of the edges; `rows` is null before UploadEdgeFeatures.
  const EdgeFeaturesOnDevice& edge_features() const { return edge_view_; }
  int64_t num_edges() const { return columns_.size(); }
  // These return the arrays on the device, which tests and fingerprints copy to the host.
  const DeviceArray<int64_t>& row_offsets() const { return row_offsets_; }
  const DeviceArray<int32_t>& columns() const { return columns_; }
  const DeviceArray<int32_t>& labels() const { return labels_; }
  // [num_nodes, width of Graph::targets()], or empty.
  const DeviceArray<float>& targets() const { return targets_; }
  const DeviceArray<unsigned char>& features() const { return features_; }
  // Returns null if no other GPU holds any of the features.
  const PeerRows* peer_rows() const { return peer_rows_.get(); }
  // In the cached tier, features() has cached_rows() rows of the cache, and behind them the staging rows,
  // staging_rows() per set. Both numbers are 0 if all rows are on the device.
  int64_t cached_rows() const { return cached_rows_; }
  int64_t staging_rows() const { return staging_rows_; }
  // Switches the staging of misses on or off, if there is room for staging rows. No enqueued work may rely on the old
  // setting.
  void SetStaging(bool staged) {
    for (GraphOnDevice& view : views_) view.staging.rows = staged ? static_cast<int32_t>(staging_rows_) : 0;
  }
  bool managed() const { return host_rows_ != nullptr && host_rows_->managed(); }
  bool shares_host_rows() const { return host_rows_ != nullptr && host_rows_->shared(); }
  bool stages() const { return views_[0].staging.rows > 0; }
  // [num_nodes] GraphOnDevice::feature_places of staging set 0.
  const DeviceArray<int32_t>& places() const { return sets_[0].places; }

 private:
  // The arrays that locate the rows of one batch.
  struct StagingSet {
    DeviceArray<int32_t> places, nodes, count;
  };
  void SetView(const FeatureView& features, int64_t num_nodes);
  Status UploadStructure(const Graph& graph);
  // Takes ownership of the rows once every rank has filled its part.
  Status TakePeerRows(std::unique_ptr<PeerRows> rows, Status filled, Communicator& ranks);
  // Returns all rows by id, in host memory or across peers, for reading in place; null if the device has all rows.
  const void* rows_off_device() const {
    if (peer_rows_ != nullptr) return peer_rows_->get();
    return host_rows_ != nullptr ? host_rows_->device() : nullptr;
  }

  DeviceArray<int64_t> row_offsets_;
  DeviceArray<int32_t> columns_, labels_;
  DeviceArray<float> targets_;
  DeviceArray<unsigned char> features_, edge_features_;
  EdgeFeaturesOnDevice edge_view_;
  std::array<StagingSet, kStagingSets> sets_;
  std::unique_ptr<HostRows> host_rows_;
  std::unique_ptr<PeerRows> peer_rows_;
  int64_t cached_rows_ = 0, staging_rows_ = 0;
  FeatureView shape_;  // dtype and width of the rows; its `rows` is not used
  std::array<GraphOnDevice, kStagingSets> views_{};
  Element feature_element_ = Element::kFloat32;
};

}  // namespace hone::gnn::cuda
