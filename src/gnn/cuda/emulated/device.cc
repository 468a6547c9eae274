// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements errors, properties and kernel launches of the emulated runtime.
#include "gnn/cuda/emulated/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "cuda_runtime.h"
#include "gnn/cuda/emulated/program_symbols.h"
#include "gnn/cuda/emulated/runtime.h"
#include "gnn/cuda/emulated/stream.h"

namespace hone::gnn::cuda::emulated {

Device& Device::Get() {
  static Device device;
  return device;
}

std::recursive_mutex& OneCaller::Mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

void Device::Fail(cudaError_t error, std::string text) {
  if (fault != cudaSuccess) return;
  fault = error;
  fault_text = std::move(text);
}

cudaError_t Return(cudaError_t error) {
  const OneCaller turn;
  Device& device = Device::Get();
  if (device.fault != cudaSuccess) return device.fault;
  if (error != cudaSuccess) device.last_error = error;
  return error;
}

void SetDeviceMemory(size_t bytes) { Device::Get().memory.total = bytes; }
size_t LiveAllocations() { return Device::Get().memory.device_allocations(); }
size_t AllocatedBytes() { return Device::Get().memory.used; }
std::string Fault() { return Device::Get().fault_text; }
void ClearFault() {
  Device& device = Device::Get();
  device.fault = device.last_error = cudaSuccess;
  device.fault_text.clear();
}
void SetOrder(uint64_t seed) {
  cudaDeviceSynchronize();
  Device& device = Device::Get();
  device.order = seed;
  device.launches = 0;
  device.draw = Draw(seed);
}

void* DynamicSharedMemory() { return running->dynamic_shared(); }

cudaError_t LaunchKernel(const void* kernel, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                         std::function<void()> thread, std::span<const ArgumentBytes> arguments) {
  const OneCaller turn;
  constexpr uint32_t kSharedBytes = 48 << 10;
  Device& device = Device::Get();
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (kernel == nullptr) return Return(cudaErrorInvalidValue);
  if (threads == 0 || threads > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 ||
      grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return Return(cudaErrorInvalidConfiguration);
  }
  const auto limit = device.dynamic_shared_limit.find(kernel);
  if (shared_bytes > (limit == device.dynamic_shared_limit.end() ? kSharedBytes : limit->second)) {
    return Return(cudaErrorInvalidValue);
  }
  GridSpec spec;
  spec.grid = {grid.x, grid.y, grid.z};
  spec.block = {block.x, block.y, block.z};
  spec.shared_bytes = static_cast<uint32_t>(shared_bytes);
  spec.kernel = kernel;
  CUstream_st* const queue = StreamOf(stream);
  if (queue == nullptr) return Return(cudaErrorInvalidResourceHandle);
  const auto describe = [&] {
    GraphNodeFacts facts{.kind = "kernel", .name = KernelName(kernel), .grid = spec.grid, .block = spec.block,
                         .shared_bytes = spec.shared_bytes};
    for (const ArgumentBytes& argument : arguments) {
      // The copy is aligned to suit any type.
      const auto copy = std::make_unique<std::max_align_t[]>(argument.bytes / sizeof(std::max_align_t) + 8);
      std::memcpy(copy.get(), argument.data, argument.bytes);
      argument.clear_padding(copy.get());
      const auto* first_byte = reinterpret_cast<const unsigned char*>(copy.get());
      facts.arguments.emplace_back(first_byte, first_byte + argument.bytes);
    }
    return facts;
  };
  auto run = [spec, kernel, thread = std::move(thread)]() mutable {
    Device& on = Device::Get();
    spec.thread = &thread;
    spec.order = on.order == 0 ? 0 : on.order + 0x9e3779b97f4a7c15u * ++on.launches;
    const std::string fault = on.runner.Run(spec);
    if (!fault.empty()) {
      on.Fail(cudaErrorLaunchFailure, KernelName(kernel) + ": " + fault);
      return;
    }
    if (const std::string complaint = on.memory.CheckGuards(); !complaint.empty()) {
      on.Fail(cudaErrorIllegalAddress, KernelName(kernel) + ": " + complaint);
    }
  };
  return Submit(*queue, std::move(run), describe);
}

}  // namespace hone::gnn::cuda::emulated

using hone::gnn::cuda::emulated::Device;
using hone::gnn::cuda::emulated::OneCaller;
using hone::gnn::cuda::emulated::Return;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidMemcpyDirection: return "cudaErrorInvalidMemcpyDirection";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnmatched: return "cudaErrorStreamCaptureUnmatched";
    case cudaErrorStreamCaptureUnjoined: return "cudaErrorStreamCaptureUnjoined";
    case cudaErrorStreamCaptureIsolation: return "cudaErrorStreamCaptureIsolation";
    case cudaErrorStreamCaptureImplicit: return "cudaErrorStreamCaptureImplicit";
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const OneCaller turn;
  const Device& device = Device::Get();
  if (error != cudaSuccess && error == device.fault) return device.fault_text.c_str();
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    default: return cudaGetErrorName(error);
  }
}

cudaError_t cudaPeekAtLastError() {
  const OneCaller turn;
  const Device& device = Device::Get();
  return device.fault != cudaSuccess ? device.fault : device.last_error;
}
cudaError_t cudaGetLastError() {
  const OneCaller turn;
  Device& device = Device::Get();
  if (device.fault != cudaSuccess) return device.fault;
  return std::exchange(device.last_error, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count) {
  const OneCaller turn;
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  const OneCaller turn;
  *device = 0;
  return Return(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) { return Return(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const OneCaller turn;
  if (device != 0) return Return(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "emulated");
  properties->totalGlobalMem = Device::Get().memory.total;
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->sharedMemPerMultiprocessor = 228 << 10;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->multiProcessorCount = 4;  // few, so that grids of one block per multiprocessor stay small
  properties->major = 9;
  properties->l2CacheSize = 50 << 20;
  return Return(cudaSuccess);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const OneCaller turn;
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; break;
    case cudaDevAttrWarpSize: *value = properties.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
    case cudaDevAttrL2CacheSize: *value = properties.l2CacheSize; break;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
    case cudaDevAttrConcurrentManagedAccess: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(properties.sharedMemPerBlockOptin); break;
    default: return Return(cudaErrorInvalidValue);
  }
  return Return(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  const OneCaller turn;
  *version = 13000;
  return Return(cudaSuccess);
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const OneCaller turn;
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > 227 << 10) return Return(cudaErrorInvalidValue);
    Device::Get().dynamic_shared_limit[kernel] = static_cast<uint32_t>(value);
  }
  return Return(cudaSuccess);
}
