// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides what every file of the GPU engine needs from the CUDA runtime: errors as Status, and owners of memory.
//
// The runtime is linked statically and finds the driver when it is first called, so a program with this code starts
// on machines without a GPU; the first call then says what is missing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn::cuda {

// Converts an error of the CUDA runtime, with the runtime's text and `what`: kUnavailable without a driver or a device,
// kResourceExhausted for memory, else kDevice.
Status CudaStatus(cudaError_t error, const char* what);

#define HONE_CUDA_RETURN_IF_ERROR(call)                                                        \
  do {                                                                                         \
    const cudaError_t hone_cuda_error_ = (call);                                               \
    if (hone_cuda_error_ != cudaSuccess) return ::hone::gnn::cuda::CudaStatus(hone_cuda_error_, #call); \
  } while (false)

// While an AllocationCount lives, DeviceArrays made on its thread allocate nothing. Instead the object adds up the
// bytes that they would take, rounded to the runtime's 512-byte granularity. Such arrays have a size but an address
// that must not be used.
class AllocationCount {
 public:
  AllocationCount() : before_(std::exchange(active_, this)) {}
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  ~AllocationCount() { active_ = before_; }
  int64_t bytes() const { return bytes_; }

  static bool active() { return active_ != nullptr; }
  static void* Add(int64_t bytes) {
    active_->bytes_ += (bytes + 511) / 512 * 512;
    return nowhere_;
  }
  static bool IsNowhere(const void* pointer) { return pointer == nowhere_; }

 private:
  AllocationCount* before_;  // the count that was active when this one began, and is again at its end
  int64_t bytes_ = 0;
  static thread_local AllocationCount* active_;
  alignas(512) static unsigned char nowhere_[512];
};

// Owns `count` elements of device memory, zeroed when made, so that a row never written is not a NaN by accident.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    if (this != &other) {
      Free();
      data_ = std::exchange(other.data_, nullptr);
      count_ = std::exchange(other.count_, 0);
    }
    return *this;
  }
  ~DeviceArray() { Free(); }

  Status Allocate(int64_t count) {
    Free();
    if (count == 0) return Status::Ok();
    if (AllocationCount::active()) {
      data_ = static_cast<T*>(AllocationCount::Add(count * static_cast<int64_t>(sizeof(T))));
      count_ = count;
      return Status::Ok();
    }
    HONE_CUDA_RETURN_IF_ERROR(cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<size_t>(count) * sizeof(T)));
    count_ = count;
    HONE_CUDA_RETURN_IF_ERROR(cudaMemset(data_, 0, static_cast<size_t>(count) * sizeof(T)));
    return Status::Ok();
  }
  Status Upload(const T* host, int64_t count) {
    if (count_ < count) HONE_RETURN_IF_ERROR(Allocate(count));
    if (count > 0) {
      HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(data_, host, static_cast<size_t>(count) * sizeof(T), cudaMemcpyHostToDevice));
    }
    return Status::Ok();
  }
  Status Download(std::vector<T>& host) const {
    host.resize(static_cast<size_t>(count_));
    if (count_ > 0) {
      HONE_CUDA_RETURN_IF_ERROR(cudaMemcpy(host.data(), data_, static_cast<size_t>(count_) * sizeof(T), cudaMemcpyDeviceToHost));
    }
    return Status::Ok();
  }

  T* get() const { return data_; }
  int64_t size() const { return count_; }

 private:
  void Free() {
    if (data_ != nullptr && !AllocationCount::IsNowhere(data_)) cudaFree(data_);  // reported by an earlier call
    data_ = nullptr;
    count_ = 0;
  }
  T* data_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace hone::gnn::cuda
