// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/graph/device_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "gnn/cuda/graph/staging_kernels.h"
#include "gnn/dist/agreement.h"
#include "gnn/graph/array_graph.h"
#include "gnn/graph/parallel.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kTouched = int64_t{16} << 20;  // bytes of pages that a thread touches at a time

Element StoredElement(FeatureDtype dtype) {
  if (dtype == FeatureDtype::kFloat32) return Element::kFloat32;
  return dtype == FeatureDtype::kFloat16 ? Element::kFloat16 : Element::kBFloat16;
}

}  // namespace

void DeviceGraph::SetView(const FeatureView& features, int64_t num_nodes) {
  const int64_t element = FeatureDtypeBytes(features.dtype);
  feature_element_ = StoredElement(features.dtype);
  shape_ = features;
  shape_.rows = nullptr;
  // Without a cache, peers' rows lie at their ids in one array, as on a device that holds all rows.
  const bool at_ids = peer_rows_ != nullptr && sets_[0].places.get() == nullptr;
  for (size_t i = 0; i < views_.size(); ++i) {
    views_[i] = {row_offsets_.get(),
                 columns_.get(),
                 labels_.get(),
                 at_ids ? peer_rows_->get() : features_.get(),
                 num_nodes,
                 features.stride_bytes / element,
                 static_cast<int32_t>((features.width + 7) / 8),
                 sets_[staging_rows_ > 0 ? i : 0].places.get(),
                 at_ids ? nullptr : rows_off_device()};
  }
}

Status DeviceGraph::UploadStructure(const Graph& graph) {
  if (graph.features().num_rows < graph.structure().num_nodes || graph.labels().empty()) {
    return Status::InvalidArgument("'" + graph.name() + "' lacks features or labels");
  }
  const CsrView csr = graph.structure();
  HONE_RETURN_IF_ERROR(row_offsets_.Upload(csr.row_offsets.data(), csr.num_nodes + 1));
  HONE_RETURN_IF_ERROR(columns_.Upload(csr.columns.data(), csr.num_edges()));
  if (const TargetView targets = graph.targets(); targets.num_rows > 0) {
    HONE_RETURN_IF_ERROR(targets_.Upload(targets.rows, targets.num_rows * targets.width));
  }
  return labels_.Upload(graph.labels().data(), csr.num_nodes);
}

Status DeviceGraph::Upload(const Graph& graph) {
  HONE_RETURN_IF_ERROR(UploadStructure(graph));
  const FeatureView features = graph.features();
  HONE_RETURN_IF_ERROR(features_.Upload(reinterpret_cast<const unsigned char*>(features.rows),
                                        features.num_rows * features.stride_bytes));
  SetView(features, graph.structure().num_nodes);
  return Status::Ok();
}

Status DeviceGraph::UploadEdgeFeatures(const Graph& graph) {
  const FeatureView edges = graph.edge_features();
  HONE_RETURN_IF_ERROR(
      edge_features_.Upload(reinterpret_cast<const unsigned char*>(edges.rows), edges.num_rows * edges.stride_bytes)
          .WithContext("copying the features of the edges to the GPU"));
  edge_view_ = {edge_features_.get(), StoredElement(edges.dtype), edges.stride_bytes / FeatureDtypeBytes(edges.dtype),
                static_cast<int32_t>(edges.width)};
  return Status::Ok();
}

Status DeviceGraph::UploadForCache(const Graph& graph, const HostRowsOptions& options) {
  HONE_RETURN_IF_ERROR(UploadStructure(graph));
  host_rows_ = std::make_unique<HostRows>();
  HONE_RETURN_IF_ERROR(host_rows_->Open(graph.features(), options));
  SetView(graph.features(), graph.structure().num_nodes);
  return Status::Ok();
}

Status DeviceGraph::UploadOverPeers(const Graph& graph, Communicator& ranks) {
  const auto upload = [&]() -> Status {
    HONE_RETURN_IF_ERROR(UploadStructure(graph));
    SetView(graph.features(), graph.structure().num_nodes);
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the graph on the GPUs", upload()));
  auto rows = std::make_unique<PeerRows>();
  HONE_RETURN_IF_ERROR(rows->Make(ranks, shape_.num_rows * shape_.stride_bytes));
  const std::byte* const from = graph.features().rows;
  const Status filled = rows->FillOwn([&](int64_t first, int64_t end) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(
        cudaMemcpy(rows->get() + first, from + first, static_cast<size_t>(end - first), cudaMemcpyHostToDevice));
    return Status::Ok();
  });
  return TakePeerRows(std::move(rows), filled, ranks);
}

// Takes ownership of the rows once every rank has filled its part.
Status DeviceGraph::TakePeerRows(std::unique_ptr<PeerRows> rows, Status filled, Communicator& ranks) {
  if (filled.ok()) filled = CudaStatus(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  HONE_RETURN_IF_ERROR(AgreeOnStatus(ranks, "the features on the GPUs", filled));
  peer_rows_ = std::move(rows);
  SetView(shape_, views_[0].num_nodes);
  return Status::Ok();
}

Status DeviceGraph::MoveFeaturesToHost(int threads) {
  if (host_rows_ != nullptr) return Status::Ok();
  auto host = std::make_unique<HostRows>();
  const int64_t bytes = shape_.num_rows * shape_.stride_bytes;
  HONE_RETURN_IF_ERROR(host->Allocate(bytes, {.threads = threads}));
  const unsigned char* const from = peer_rows_ != nullptr ? peer_rows_->get() : features_.get();
  const int64_t piece = peer_rows_ != nullptr ? peer_rows_->layout().piece : bytes;
  for (int64_t at = 0; at < bytes; at += piece) {
    HONE_RETURN_IF_ERROR(host->FillFromDevice(at, from + at, std::min(piece, bytes - at)));
  }
  HONE_RETURN_IF_ERROR(host->Ready());
  host_rows_ = std::move(host);
  peer_rows_.reset();
  features_ = {};
  SetView(shape_, views_[0].num_nodes);
  return Status::Ok();
}

Status DeviceGraph::FillCache(const int32_t* cached, int64_t count, int64_t staging_rows) {
  const int64_t num_nodes = views_[0].num_nodes;
  const auto parts = static_cast<int32_t>(shape_.stride_bytes / 16);
  cached_rows_ = count;
  staging_rows_ = staging_rows;
  const size_t used_sets = staging_rows > 0 ? sets_.size() : 1;
  features_ = {};
  HONE_RETURN_IF_ERROR(features_.Allocate(
      (count + static_cast<int64_t>(staging_rows > 0 ? used_sets : 0) * staging_rows) * shape_.stride_bytes));
  for (size_t i = 0; i < sets_.size(); ++i) {
    StagingSet& staging_set = sets_[i];
    if (i >= used_sets) {
      staging_set = {};
      continue;
    }
    if (staging_set.places.size() != num_nodes) HONE_RETURN_IF_ERROR(staging_set.places.Allocate(num_nodes));
    HONE_CUDA_RETURN_IF_ERROR(
        cudaMemset(staging_set.places.get(), 0xff, static_cast<size_t>(num_nodes) * sizeof(int32_t)));
    HONE_CUDA_RETURN_IF_ERROR(EnqueuePlaces(cached, count, staging_set.places.get(), nullptr));
    HONE_RETURN_IF_ERROR(staging_set.nodes.Allocate(staging_rows));
    HONE_RETURN_IF_ERROR(staging_set.count.Allocate(staging_rows > 0 ? 1 : 0));
  }
  SetView(shape_, num_nodes);
  HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyRows(cached, count, parts, rows_off_device(), features_.get(), nullptr));
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  for (size_t i = 0; i < views_.size() && staging_rows > 0; ++i) {
    views_[i].staging = {.rows = static_cast<int32_t>(staging_rows),
                         .first = static_cast<int32_t>(count + static_cast<int64_t>(i) * staging_rows),
                         .row_parts = parts,
                         .places = sets_[i].places.get(),
                         .nodes = sets_[i].nodes.get(),
                         .count = sets_[i].count.get(),
                         .cache = features_.get(),
                         .host = rows_off_device()};
  }
  return Status::Ok();
}

Status DeviceGraph::UploadCached(const Graph& graph, std::span<const NodeId> cached, int64_t staging_rows) {
  HONE_RETURN_IF_ERROR(UploadForCache(graph));
  DeviceArray<int32_t> ids;
  HONE_RETURN_IF_ERROR(ids.Upload(cached.data(), static_cast<int64_t>(cached.size())));
  return FillCache(ids.get(), ids.size(), staging_rows);
}

Result<std::shared_ptr<const Graph>> DeviceGraph::Download(const Graph& outline) const {
  GraphParts parts;
  const auto fetch = [&](const void* device, int64_t bytes, const std::string& what) -> Result<std::byte*> {
    HONE_ASSIGN_OR_RETURN(MemoryRegion memory, MemoryRegion::Anonymous(bytes, what));
    std::byte* const to = memory.data();
    // A copy into pinned memory is several times as fast; if pinning is refused, a plain copy follows. Pages are
    // touched before, by many threads, because pinning runs on one.
    ParallelPieces(ThreadCount(0), (bytes + kTouched - 1) / kTouched, [&](int64_t piece) {
      for (int64_t at = piece * kTouched; at < std::min(bytes, (piece + 1) * kTouched); at += 4096)
        to[at] = std::byte{0};
    });
    const bool pinned = cudaHostRegister(to, static_cast<size_t>(bytes), cudaHostRegisterDefault) == cudaSuccess;
    if (!pinned) cudaGetLastError();
    const cudaError_t copied = cudaMemcpy(to, device, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost);
    if (pinned) cudaHostUnregister(to);
    HONE_RETURN_IF_ERROR(CudaStatus(copied, "cudaMemcpy").WithContext("copying " + what));
    parts.memory.push_back(std::move(memory));
    return to;
  };
  const int64_t nodes = views_[0].num_nodes;
  HONE_ASSIGN_OR_RETURN(std::byte* const offsets, fetch(row_offsets_.get(), 8 * (nodes + 1), "the row offsets"));
  HONE_ASSIGN_OR_RETURN(std::byte* const columns, fetch(columns_.get(), 4 * num_edges(), "the columns"));
  parts.name = outline.name();
  parts.structure = {nodes,
                     {reinterpret_cast<const int64_t*>(offsets), static_cast<size_t>(nodes) + 1},
                     {reinterpret_cast<const NodeId*>(columns), static_cast<size_t>(num_edges())}};
  parts.features = shape_;
  parts.features.rows = host_rows_ != nullptr ? host_rows_->own() : nullptr;
  if (parts.features.rows == nullptr) {
    if (host_rows_ != nullptr)
      return Status::InvalidArgument("'" + outline.name() + "' is in the host's memory already");
    if (peer_rows_ != nullptr) {
      return Status::InvalidArgument("the features of '" + outline.name() + "' are in the memory of several GPUs");
    }
    HONE_ASSIGN_OR_RETURN(parts.features.rows, fetch(features_.get(), features_.size(), "the features"));
  }
  parts.labels = outline.labels();
  parts.num_classes = outline.num_classes();
  parts.flags = outline.flags();
  const std::span<const NodeId> splits[] = {outline.train_nodes(), outline.valid_nodes(), outline.test_nodes()};
  std::copy(std::begin(splits), std::end(splits), std::begin(parts.split));
  return std::shared_ptr<const Graph>(std::make_shared<ArrayGraph>(std::move(parts)));
}

GraphReader DeviceGraph::Reader() const {
  const auto copy = [](void* to, const void* from, size_t bytes) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return Status::Ok();
  };
  return {.num_edges = num_edges(),
          .row = [this, copy](int64_t v, int64_t& begin, int64_t& end) -> Status {
            int64_t pair[2] = {0, 0};
            HONE_RETURN_IF_ERROR(copy(pair, row_offsets_.get() + v, sizeof(pair)));
            begin = pair[0];
            end = pair[1];
            return Status::Ok();
          },
          .columns =
              [this, copy](int64_t first, std::span<NodeId> columns) {
                return copy(columns.data(), columns_.get() + first, columns.size_bytes());
              },
          .features =
              [this, copy](int64_t v, std::span<std::byte> values) {
                if (host_rows_ != nullptr && host_rows_->own() != nullptr) {
                  std::memcpy(values.data(), host_rows_->own() + v * shape_.stride_bytes, values.size());
                  return Status::Ok();
                }
                if (peer_rows_ != nullptr) return peer_rows_->Download(v * shape_.stride_bytes, values);
                return copy(values.data(), features_.get() + v * shape_.stride_bytes, values.size());
              }};
}

bool IsOutline(const Graph& graph) {
  return graph.features().num_rows > 0 && graph.features().rows == nullptr && IsSyntheticName(graph.name());
}

}  // namespace hone::gnn::cuda
