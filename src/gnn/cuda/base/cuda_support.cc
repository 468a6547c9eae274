// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/base/cuda_support.h"

namespace hone::gnn::cuda {

thread_local AllocationCount* AllocationCount::active_ = nullptr;
alignas(512) unsigned char AllocationCount::nowhere_[512];

Status CudaStatus(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return Status::Ok();
  std::string call(what);
  if (const size_t bracket = call.find('('); bracket != std::string::npos) call.resize(bracket);
  const std::string message = call + ": " + cudaGetErrorString(error);
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
      return Status::Unavailable(message + "; the GPU engine needs an NVIDIA driver (580 or newer for CUDA 13) and a GPU");
    case cudaErrorMemoryAllocation:
      return Status::ResourceExhausted(message);
    default:
      return Status::Device(message);
  }
}

}  // namespace hone::gnn::cuda
