// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/device_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hone::gnn::cuda {

void DeviceGraph::SetView(const FeatureView& features, int64_t num_nodes) {
  const int64_t element = FeatureDtypeBytes(features.dtype);
  feature_element_ = features.dtype == FeatureDtype::kFloat32   ? Element::kFloat32
                     : features.dtype == FeatureDtype::kFloat16 ? Element::kFloat16
                                                                : Element::kBFloat16;
  view_ = {row_offsets_.get(),
           columns_.get(),
           labels_.get(),
           features_.get(),
           num_nodes,
           features.stride_bytes / element,
           static_cast<int32_t>((features.width + 7) / 8),
           places_.get(),
           host_rows_ != nullptr ? host_rows_->device() : nullptr};
}

Status DeviceGraph::UploadStructure(const Graph& graph) {
  if (graph.features().num_rows < graph.structure().num_nodes || graph.labels().empty()) {
    return Status::InvalidArgument("'" + graph.name() + "' lacks features or labels");
  }
  const CsrView csr = graph.structure();
  HONE_RETURN_IF_ERROR(row_offsets_.Upload(csr.row_offsets.data(), csr.num_nodes + 1));
  HONE_RETURN_IF_ERROR(columns_.Upload(csr.columns.data(), csr.num_edges()));
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

Status DeviceGraph::UploadCached(const Graph& graph, std::span<const NodeId> cached, int64_t staging_rows) {
  HONE_RETURN_IF_ERROR(UploadStructure(graph));
  const FeatureView features = graph.features();
  const int64_t num_nodes = graph.structure().num_nodes;
  host_rows_ = std::make_unique<HostRows>();
  HONE_RETURN_IF_ERROR(host_rows_->Open(features));
  cached_rows_ = static_cast<int64_t>(cached.size());
  staging_rows_ = staging_rows;
  std::vector<int32_t> places(static_cast<size_t>(num_nodes), -1);
  HONE_RETURN_IF_ERROR(features_.Allocate((cached_rows_ + staging_rows_) * features.stride_bytes));
  // In pieces: the cache may be most of a large table.
  const auto piece = static_cast<size_t>(std::max<int64_t>((int64_t{64} << 20) / features.stride_bytes, 1));
  std::vector<std::byte> rows(std::min(piece, cached.size()) * static_cast<size_t>(features.stride_bytes));
  for (size_t first = 0; first < cached.size(); first += piece) {
    const std::span<const NodeId> here = cached.subspan(first, std::min(piece, cached.size() - first));
    for (size_t i = 0; i < here.size(); ++i) {
      std::memcpy(rows.data() + i * static_cast<size_t>(features.stride_bytes), features.Row(here[i]),
                  static_cast<size_t>(features.stride_bytes));
      places[static_cast<size_t>(here[i])] = static_cast<int32_t>(first + i);
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(features_.get() + static_cast<int64_t>(first) * features.stride_bytes, rows.data(),
                                         here.size() * static_cast<size_t>(features.stride_bytes), cudaMemcpyHostToDevice));
  }
  HONE_RETURN_IF_ERROR(places_.Upload(places.data(), num_nodes));
  SetView(features, num_nodes);
  if (staging_rows_ == 0) return Status::Ok();
  HONE_RETURN_IF_ERROR(staged_nodes_.Allocate(staging_rows_));
  HONE_RETURN_IF_ERROR(staged_count_.Allocate(1));
  view_.staging = {.rows = static_cast<int32_t>(staging_rows_),
                   .first = static_cast<int32_t>(cached_rows_),
                   .row_parts = static_cast<int32_t>(features.stride_bytes / 16),
                   .places = places_.get(),
                   .nodes = staged_nodes_.get(),
                   .count = staged_count_.get(),
                   .cache = features_.get(),
                   .host = host_rows_->device()};
  return Status::Ok();
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
          .columns = [this, copy](int64_t first, std::span<NodeId> columns) {
            return copy(columns.data(), columns_.get() + first, columns.size_bytes());
          },
          .features = [this, copy](int64_t v, std::span<std::byte> values) {
            const int64_t stride = view_.feature_stride * (feature_element_ == Element::kFloat32 ? 4 : 2);
            return copy(values.data(), features_.get() + v * stride, values.size());
          }};
}

}  // namespace hone::gnn::cuda
