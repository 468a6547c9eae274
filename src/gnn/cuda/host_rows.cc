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

constexpr int64_t kPiece = int64_t{4} << 20;  // a few huge pages of one thread's
constexpr int64_t kBounce = int64_t{64} << 20;

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
  for (std::unique_ptr<PinnedBytes>& buffer : bounce_) buffer.reset();
  own_ = MemoryRegion();
  device_ = nullptr;
}

Status HostRows::Map(std::byte* rows) {
  void* device = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, rows, 0));
  device_ = device;
  return Status::Ok();
}

Status HostRows::Manage(int64_t bytes) {
  int device = 0;
  HONE_ASSIGN_OR_RETURN(const bool in_place, ReadsManagedInPlace(&device));
  if (!in_place) return Status::Unavailable("this device does not read managed memory in place");
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* memory = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(cudaMallocManaged(&memory, size, cudaMemAttachGlobal));
  managed_ = static_cast<std::byte*>(memory);
  bytes_ = static_cast<int64_t>(size);
  HONE_CUDA_RETURN_IF_ERROR(Advise(memory, size, cudaMemAdviseSetPreferredLocation, true, device));
  return Status::Ok();
}

Status HostRows::Allocate(int64_t bytes, int threads) {
  Close();
  threads_ = threads;
  if (Manage(bytes).ok()) return Status::Ok();
  cudaGetLastError();  // told here by doing it another way
  Close();
  HONE_ASSIGN_OR_RETURN(own_, MemoryRegion::Anonymous(std::max<int64_t>(bytes, 1), "features in the host's memory"));
  return Status::Ok();
}

Status HostRows::FillFromDevice(int64_t at, const unsigned char* device, int64_t bytes) {
  Stream stream;
  HONE_RETURN_IF_ERROR(stream.Make());
  HONE_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  for (std::unique_ptr<PinnedBytes>& buffer : bounce_) {
    if (buffer != nullptr) continue;
    buffer = std::make_unique<PinnedBytes>();
    HONE_RETURN_IF_ERROR(buffer->Make(static_cast<size_t>(kBounce)));
  }
  // One piece is on its way while threads take the one before it to its place.
  const auto begin = [&](int64_t first) -> Status {
    HONE_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(bounce_[static_cast<size_t>(first / kBounce % 2)]->get(), device + first,
                                              static_cast<size_t>(std::min(kBounce, bytes - first)),
                                              cudaMemcpyDeviceToHost, stream.handle));
    return Status::Ok();
  };
  if (bytes > 0) HONE_RETURN_IF_ERROR(begin(0));
  for (int64_t first = 0; first < bytes; first += kBounce) {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.handle));
    if (first + kBounce < bytes) HONE_RETURN_IF_ERROR(begin(first + kBounce));
    const unsigned char* const from = bounce_[static_cast<size_t>(first / kBounce % 2)]->get();
    InPieces(std::min(kBounce, bytes - first), threads_, [&](int64_t piece, int64_t end) {
      std::memcpy(own() + at + first + piece, from + piece, static_cast<size_t>(end - piece));
    });
  }
  return Status::Ok();
}

Status HostRows::Ready() {
  for (std::unique_ptr<PinnedBytes>& buffer : bounce_) buffer.reset();
  if (managed_ != nullptr) {
    int device = 0;
    HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
    HONE_CUDA_RETURN_IF_ERROR(
        Advise(managed_, static_cast<size_t>(bytes_), cudaMemAdviseSetAccessedBy, false, device));
    device_ = managed_;
    return Status::Ok();
  }
  HONE_RETURN_IF_ERROR(
      CudaStatus(cudaHostRegister(own_.data(), static_cast<size_t>(own_.size()), cudaHostRegisterMapped),
                 "cudaHostRegister")
          .WithContext(fmt::format("pinning {} bytes of features", own_.size())));
  registered_ = own_.data();
  return Map(registered_);
}

Status HostRows::Open(const FeatureView& features, int threads, int processes) {
  Close();
  const int64_t size = features.num_rows * features.stride_bytes;
  // An eighth of the room stays free, for batches and for others.
  if (processes * (size + size / 8) <= AvailableMemoryBytes()) {
    if (Manage(size).ok()) {
      InPieces(size, threads, [&](int64_t first, int64_t end) {
        std::memcpy(managed_ + first, features.rows + first, static_cast<size_t>(end - first));
      });
      return Ready();
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
