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

constexpr int64_t kPiece = int64_t{16} << 20;
constexpr int64_t kPage = 4096;  // touched once each; a huge page by its first

// Work(first, end) for pieces of [0, bytes) on several threads.
template <typename Work>
void InPieces(int64_t bytes, int threads, const Work& work) {
  ParallelPieces(ThreadCount(threads), (bytes + kPiece - 1) / kPiece,
                 [&](int64_t piece) { work(piece * kPiece, std::min(bytes, (piece + 1) * kPiece)); });
}

// Whether kernels may read managed memory where it is while the host reads it too.
Result<bool> ReadsManagedInPlace(int* device) {
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(device));
  int concurrent = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, *device));
  return concurrent != 0;
}

cudaError_t Advise(void* memory, size_t bytes, cudaMemoryAdvise advice, bool host, int device) {
#if CUDART_VERSION >= 13000
  return cudaMemAdvise(memory, bytes, advice,
                       host ? cudaMemLocation{cudaMemLocationTypeHost, 0} : cudaMemLocation{cudaMemLocationTypeDevice, device});
#else
  return cudaMemAdvise(memory, bytes, advice, host ? cudaCpuDeviceId : device);
#endif
}

}  // namespace

void HostRows::Close() {
  if (std::byte* const rows = std::exchange(managed_, nullptr); rows != nullptr) cudaFree(rows);
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

// Pages come to be on the host as threads touch them, and are mapped on the device when all are there.
Status HostRows::Manage(int64_t bytes, int threads) {
  int device = 0;
  HONE_ASSIGN_OR_RETURN(const bool in_place, ReadsManagedInPlace(&device));
  if (!in_place) return Status::Unavailable("this device does not read managed memory in place");
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* memory = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaMallocManaged(&memory, size, cudaMemAttachGlobal));
  managed_ = static_cast<std::byte*>(memory);
  HONE_CUDA_RETURN_IF_ERROR(Advise(memory, size, cudaMemAdviseSetPreferredLocation, true, device));
  InPieces(bytes, threads, [&](int64_t first, int64_t end) {
    for (int64_t at = first; at < end; at += kPage) managed_[at] = std::byte{0};
  });
  HONE_CUDA_RETURN_IF_ERROR(Advise(memory, size, cudaMemAdviseSetAccessedBy, false, device));
  device_ = memory;
  return Status::Ok();
}

Status HostRows::Allocate(int64_t bytes, int threads) {
  Close();
  if (Manage(bytes, threads).ok()) return Status::Ok();
  cudaGetLastError();  // told here by doing it another way
  Close();
  HONE_ASSIGN_OR_RETURN(MemoryRegion region,
                        MemoryRegion::Anonymous(std::max<int64_t>(bytes, 1), "features in the host's memory"));
  // Pinning memory that nobody has touched is one thread's work.
  InPieces(bytes, threads, [&](int64_t first, int64_t end) {
    for (int64_t at = first; at < end; at += kPage) region.data()[at] = std::byte{0};
  });
  HONE_RETURN_IF_ERROR(
      CudaStatus(cudaHostRegister(region.data(), static_cast<size_t>(region.size()), cudaHostRegisterMapped),
                 "cudaHostRegister")
          .WithContext(fmt::format("pinning {} bytes of features", bytes)));
  own_ = std::move(region);
  registered_ = own_.data();
  return Map(registered_);
}

Status HostRows::Open(const FeatureView& features, int threads) {
  Close();
  const int64_t size = features.num_rows * features.stride_bytes;
  // An eighth of the room stays free, for batches and for others.
  if (size + size / 8 <= AvailableMemoryBytes()) {
    if (Manage(size, threads).ok()) {
      InPieces(size, threads, [&](int64_t first, int64_t end) {
        std::memcpy(managed_ + first, features.rows + first, static_cast<size_t>(end - first));
      });
      return Status::Ok();
    }
    cudaGetLastError();
    Close();
  }
  const auto bytes = static_cast<size_t>(size);
  auto* rows = const_cast<std::byte*>(features.rows);  // nobody writes: kernels have it as const
  if (cudaHostRegister(rows, bytes, cudaHostRegisterMapped) == cudaSuccess) {
    registered_ = rows;
  } else {
    cudaGetLastError();
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
