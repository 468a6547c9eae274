// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines owners of the CUDA runtime's handles and of memory that host and device share.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "gnn/cuda/base/cuda_support.h"

namespace hone::gnn::cuda {

struct Stream {
  cudaStream_t handle = nullptr;
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (handle != nullptr) cudaStreamDestroy(handle);
  }
  Status Make() {
    HONE_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
    return Status::Ok();
  }
};

struct Event {
  cudaEvent_t handle = nullptr;
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (handle != nullptr) cudaEventDestroy(handle);
  }
  Status Make() {
    HONE_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming));
    return Status::Ok();
  }
};

struct GraphExec {
  cudaGraphExec_t handle = nullptr;
  GraphExec() = default;
  GraphExec(GraphExec&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~GraphExec() {
    if (handle != nullptr) cudaGraphExecDestroy(handle);
  }
};

// Pinned host memory, to which the device copies asynchronously.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  ~PinnedBytes() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  Status Make(size_t bytes) {
    void* data = nullptr;
    HONE_CUDA_RETURN_IF_ERROR(cudaHostAlloc(&data, bytes, cudaHostAllocDefault));
    data_ = static_cast<unsigned char*>(data);
    return Status::Ok();
  }
  unsigned char* get() const { return data_; }

 private:
  unsigned char* data_ = nullptr;
};

// Owns one T in host memory that kernels read and write in place; zero-initialized.
template <typename T>
class MappedValue {
 public:
  MappedValue() = default;
  MappedValue(const MappedValue&) = delete;
  MappedValue& operator=(const MappedValue&) = delete;
  ~MappedValue() {
    if (host_ != nullptr) cudaFreeHost(host_);
  }
  Status Make() {
    void* host = nullptr;
    HONE_CUDA_RETURN_IF_ERROR(cudaHostAlloc(&host, sizeof(T), cudaHostAllocMapped));
    host_ = static_cast<T*>(host);
    *host_ = T{};
    void* device = nullptr;
    HONE_CUDA_RETURN_IF_ERROR(cudaHostGetDevicePointer(&device, host, 0));
    device_ = static_cast<T*>(device);
    return Status::Ok();
  }
  volatile T* host() const { return host_; }
  volatile T* device() const { return device_; }

 private:
  T* host_ = nullptr;
  T* device_ = nullptr;
};

}  // namespace hone::gnn::cuda
