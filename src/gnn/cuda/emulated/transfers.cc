// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements allocation, copies and fills of the emulated runtime.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gnn/cuda/emulated/device.h"
#include "gnn/cuda/emulated/runtime.h"
#include "gnn/cuda/emulated/stream.h"

using namespace hone::gnn::cuda::emulated;

namespace {

// Returns an error, and invalidates the captures, while any stream records, as a GPU does in the capture modes that the
// engine uses.
cudaError_t RefuseWhileCapturing() {
  if (!AnyCapture()) return cudaSuccess;
  InvalidateCaptures();
  return Return(cudaErrorStreamCaptureUnsupported);
}

cudaError_t AllocateHere(void** pointer, size_t bytes, MemoryKind kind) {
  const OneCaller turn;
  *pointer = nullptr;
  if (const cudaError_t refused = RefuseWhileCapturing(); refused != cudaSuccess) return refused;
  if (bytes == 0) return Return(cudaSuccess);
  *pointer = Device::Get().memory.Allocate(bytes, kind);
  return Return(*pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t FreeHere(void* pointer, MemoryKind kind) {
  const OneCaller turn;
  if (pointer == nullptr) return Return(cudaSuccess);
  DrainAll();  // cudaFree waits for the device
  Device& device = Device::Get();
  std::string complaint;
  if (!device.memory.Free(pointer, kind, &complaint)) return Return(cudaErrorInvalidValue);
  if (!complaint.empty()) device.Fail(cudaErrorIllegalAddress, "found when it was freed: " + complaint);
  return Return(cudaSuccess);
}

bool OnDevice(const void* pointer, size_t bytes) { return Device::Get().memory.Find(pointer, bytes) != nullptr; }

bool RangesExist(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return (!to_device || OnDevice(to, bytes)) && (!from_device || OnDevice(from, bytes));
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return AllocateHere(pointer, bytes, MemoryKind::kDevice); }
cudaError_t cudaFree(void* pointer) {
  const OneCaller turn;
  const Allocation* const found = pointer == nullptr ? nullptr : Device::Get().memory.Find(pointer, 1);
  return FreeHere(pointer, found != nullptr && found->kind == MemoryKind::kManaged ? found->kind : MemoryKind::kDevice);
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  const OneCaller turn;
  return AllocateHere(pointer, bytes, MemoryKind::kManaged);
}
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  const OneCaller turn;
  const Allocation* const found = Device::Get().memory.Find(pointer, bytes);
  return Return(found != nullptr && found->kind == MemoryKind::kManaged ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const OneCaller turn;
  const DeviceMemory& memory = Device::Get().memory;
  *free_bytes = memory.total - std::min(memory.total, memory.used);
  *total_bytes = memory.total;
  return Return(cudaSuccess);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) { return AllocateHere(pointer, bytes, MemoryKind::kPinned); }
cudaError_t cudaMallocHost(void** pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault); }
cudaError_t cudaFreeHost(void* pointer) { return FreeHere(pointer, MemoryKind::kPinned); }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  const OneCaller turn;
  if (!OnDevice(host, 1)) return Return(cudaErrorInvalidValue);
  *device = host;
  return Return(cudaSuccess);
}
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  const OneCaller turn;
  if (pointer == nullptr || bytes == 0) return Return(cudaErrorInvalidValue);
  Device::Get().memory.Register(pointer, bytes);
  return Return(cudaSuccess);
}
cudaError_t cudaHostUnregister(void* pointer) { return FreeHere(pointer, MemoryKind::kRegistered); }

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) { return cudaMemsetAsync(pointer, value, bytes, nullptr); }
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  const OneCaller turn;
  if (bytes == 0) return Return(cudaSuccess);
  if (!OnDevice(pointer, bytes)) return Return(cudaErrorInvalidValue);
  const uint64_t arguments[] = {reinterpret_cast<uint64_t>(pointer), static_cast<uint64_t>(value), bytes};
  return Enqueue(stream, "cudaMemset", [pointer, value, bytes] { std::memset(pointer, value, bytes); }, arguments);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const OneCaller turn;
  if (bytes == 0) return Return(cudaSuccess);
  if (const cudaError_t refused = RefuseWhileCapturing(); refused != cudaSuccess) return refused;
  if (!RangesExist(to, from, bytes, kind)) return Return(cudaErrorInvalidValue);
  return Enqueue(nullptr, "cudaMemcpy", [to, from, bytes] { std::memmove(to, from, bytes); });
}

// Copies in the stream's order. Pageable host memory is read when the call is made and written before it returns;
// pinned memory is read and written when the stream reaches the copy.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t handle) {
  const OneCaller turn;
  if (bytes == 0) return Return(cudaSuccess);
  if (!RangesExist(to, from, bytes, kind)) return Return(cudaErrorInvalidValue);
  CUstream_st* const stream = StreamOf(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  const bool pageable_source = !OnDevice(from, bytes), pageable_target = !OnDevice(to, bytes);
  if (stream->capture != nullptr || !(pageable_source || pageable_target)) {
    const uint64_t arguments[] = {reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes};
    return Enqueue(handle, "cudaMemcpyAsync", [to, from, bytes] { std::memmove(to, from, bytes); }, arguments);
  }
  if (pageable_source) {
    const auto* first_byte = static_cast<const unsigned char*>(from);
    return Enqueue(handle, "cudaMemcpyAsync", [to, copy = std::vector<unsigned char>(first_byte, first_byte + bytes)] {
      std::memcpy(to, copy.data(), copy.size());
    });
  }
  const cudaError_t error = Enqueue(handle, "cudaMemcpyAsync", [to, from, bytes] { std::memmove(to, from, bytes); });
  Drain(*stream);
  return error != cudaSuccess ? error : Return(cudaSuccess);
}
