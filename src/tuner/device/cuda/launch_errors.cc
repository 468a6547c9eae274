// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/launch_errors.h"

namespace hone {
namespace {

constexpr auto kTensorMemoryLeak = static_cast<CUresult>(721);  // CUDA_ERROR_TENSOR_MEMORY_LEAK: not in every toolkit

}  // namespace

std::optional<LaunchStatus> LaunchStatusOf(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS: return LaunchStatus::kOk;

    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:  // __trap() is reported as this or the next
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case kTensorMemoryLeak:
      return LaunchStatus::kCrashed;

    case CUDA_ERROR_LAUNCH_TIMEOUT: return LaunchStatus::kTimedOut;

    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_OUT_OF_MEMORY:
      return LaunchStatus::kResourceLimit;

    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
    case CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_FUNCTION_NOT_LOADED:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      return LaunchStatus::kLaunchError;

    default: return std::nullopt;
  }
}

bool IsSticky(CUresult result) {
  const std::optional<LaunchStatus> status = LaunchStatusOf(result);
  return !status || *status == LaunchStatus::kCrashed || *status == LaunchStatus::kTimedOut;
}

}  // namespace hone
