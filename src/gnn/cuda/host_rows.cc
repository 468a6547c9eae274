// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/host_rows.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace hone::gnn::cuda {

void HostRows::Close() {
  if (std::byte* const rows = std::exchange(registered_, nullptr); rows != nullptr) cudaHostUnregister(rows);
  if (std::byte* const rows = std::exchange(copy_, nullptr); rows != nullptr) cudaFreeHost(rows);
  device_ = nullptr;
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
  void* device = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, rows, 0));
  device_ = device;
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
