// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/graph/generate_features.h"

#include <algorithm>

#include "gnn/cuda/graph/generate_kernels.h"
#include "gnn/graph/feature_dtype.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kPieceBytes = int64_t{256} << 20;

Element ElementOf(FeatureDtype dtype) {
  return dtype == FeatureDtype::kFloat32   ? Element::kFloat32
         : dtype == FeatureDtype::kFloat16 ? Element::kFloat16
                                           : Element::kBFloat16;
}

}  // namespace

FeatureView FeaturesOf(const SyntheticRequest& request) {
  return {.rows = nullptr,
          .dtype = request.dtype,
          .num_rows = request.spec.num_nodes,
          .width = request.spec.width,
          .stride_bytes = FeatureStrideBytes(request.spec.width, request.dtype)};
}

Status FeatureGenerator::Enqueue(int64_t first, int64_t end, unsigned char* to) {
  if (first >= end) return Status::Ok();
  const SyntheticSpec& spec = request_.spec;
  if (centroids_.size() == 0) {
    HONE_RETURN_IF_ERROR(centroids_.Allocate(int64_t{spec.num_classes} * ((spec.width + 3) / 4) * 4));
  }
  HONE_CUDA_RETURN_IF_ERROR(EnqueueFeatures(spec, ElementOf(request_.dtype), FeatureStrideBytes(spec.width, request_.dtype),
                                            centroids_.get(), first, end - first, to, nullptr));
  return Status::Ok();
}

// Generates the rows through up to 256 MiB of device memory, because the device may not write unregistered memory.
Status FeatureGenerator::FillShare(int64_t first, int64_t end, HostRows& host) {
  if (first >= end) return Status::Ok();
  const int64_t stride = FeaturesOf(request_).stride_bytes;
  const int64_t rows = std::clamp<int64_t>(kPieceBytes / stride, 1, end - first);
  DeviceArray<unsigned char> piece;
  HONE_RETURN_IF_ERROR(piece.Allocate(rows * stride));
  for (int64_t at = first; at < end; at += rows) {
    const int64_t count = std::min(rows, end - at);
    HONE_RETURN_IF_ERROR(Enqueue(at, at + count, piece.get()));
    HONE_RETURN_IF_ERROR(host.FillFromDevice(at * stride, piece.get(), count * stride));
  }
  return Status::Ok();
}

Status FeatureGenerator::FillHost(HostRows& host) {
  const int64_t rows = request_.spec.num_nodes;
  if (host.shared()) {
    const HostRows::Share share = host.share();
    return host.Ready(FillShare(share.Begin(rows), share.End(rows), host));
  }
  // The pages are created first, because kernels write existing pages as fast as the bus takes them.
  host.CreatePages();
  HONE_RETURN_IF_ERROR(host.Ready());
  HONE_RETURN_IF_ERROR(Enqueue(0, rows, static_cast<unsigned char*>(const_cast<void*>(host.device()))));
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
