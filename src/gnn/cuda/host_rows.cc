// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/host_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "gnn/graph/parallel.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kPiece = int64_t{64} << 20;
constexpr int64_t kPage = 4096;  // touched once each; a huge page by its first

}  // namespace

void HostRows::Close() {
  if (std::byte* const rows = std::exchange(registered_, nullptr); rows != nullptr) cudaHostUnregister(rows);
  if (std::byte* const rows = std::exchange(copy_, nullptr); rows != nullptr) cudaFreeHost(rows);
  own_ = MemoryRegion();
  device_ = nullptr;
}

Status HostRows::Map(std::byte* rows) {
  void* device = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, rows, 0));
  device_ = device;
  return Status::Ok();
}

Status HostRows::Allocate(int64_t bytes, int threads) {
  Close();
  HONE_ASSIGN_OR_RETURN(MemoryRegion region, MemoryRegion::Anonymous(std::max<int64_t>(bytes, 1), "features in the host's memory"));
  const int64_t pieces = (bytes + kPiece - 1) / kPiece;
  ParallelPieces(ThreadCount(threads), pieces, [&](int64_t piece) {
    const int64_t end = std::min(bytes, (piece + 1) * kPiece);
    for (int64_t at = piece * kPiece; at < end; at += kPage) region.data()[at] = std::byte{0};
  });
  HONE_RETURN_IF_ERROR(CudaStatus(cudaHostRegister(region.data(), static_cast<size_t>(region.size()), cudaHostRegisterMapped),
                                  "cudaHostRegister")
                           .WithContext(fmt::format("pinning {} bytes of features", bytes)));
  own_ = std::move(region);
  registered_ = own_.data();
  return Map(registered_);
}

Status HostRows::Open(const FeatureView& features) {
  Close();
  const auto bytes = static_cast<size_t>(features.num_rows * features.stride_bytes);
  auto* rows = const_cast<std::byte*>(features.rows);  // nobody writes: kernels have it as const
  if (cudaHostRegister(rows, bytes, cudaHostRegisterMapped) == cudaSuccess) {
    registered_ = rows;
  } else {
    cudaGetLastError();  // told here by doing it another way
    void* copy = nullptr;
    HONE_RETURN_IF_ERROR(
        CudaStatus(cudaHostAlloc(&copy, bytes, cudaHostAllocMapped), "cudaHostAlloc")
            .WithContext(fmt::format("a pinned copy of {} bytes of features, which could not be registered", bytes)));
    copy_ = static_cast<std::byte*>(copy);
    std::memcpy(copy_, rows, bytes);
    rows = copy_;
  }
  return Map(rows);
}

}  // namespace hone::gnn::cuda
