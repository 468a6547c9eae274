// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/device_graph.h"

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
           static_cast<int32_t>((features.width + 7) / 8)};
}

Status DeviceGraph::Upload(const Graph& graph) {
  if (graph.features().num_rows < graph.structure().num_nodes || graph.labels().empty()) {
    return Status::InvalidArgument("'" + graph.name() + "' lacks features or labels");
  }
  const CsrView csr = graph.structure();
  const FeatureView features = graph.features();
  HONE_RETURN_IF_ERROR(row_offsets_.Upload(csr.row_offsets.data(), csr.num_nodes + 1));
  HONE_RETURN_IF_ERROR(columns_.Upload(csr.columns.data(), csr.num_edges()));
  HONE_RETURN_IF_ERROR(labels_.Upload(graph.labels().data(), csr.num_nodes));
  HONE_RETURN_IF_ERROR(features_.Upload(reinterpret_cast<const unsigned char*>(features.rows),
                                        features.num_rows * features.stride_bytes));
  SetView(features, csr.num_nodes);
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
