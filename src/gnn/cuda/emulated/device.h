// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake device behind the emulated runtime: its memory, its faults, and which calls are still allowed.
//
// One per process; functions of the runtime take turns (OneCaller). Only the files of the emulation include this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"
#include "gnn/cuda/emulated/block_runner.h"

namespace hone::gnn::cuda::emulated {

enum class MemoryKind { kDevice, kPinned, kManaged, kRegistered, kMapped };  // last two: no guards, not freed here

struct Allocation {
  unsigned char* data = nullptr;  // after the leading guard
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
};

class DeviceMemory {
 public:
  static constexpr size_t kGuard = 256;  // bytes before and after
  ~DeviceMemory();

  // Returns null when the memory does not fit. Filled with 0xff.
  void* Allocate(size_t bytes, MemoryKind kind);
  // Returns false when `pointer` is no allocation of this kind. `complaint`: overwritten guard bytes.
  bool Free(void* pointer, MemoryKind kind, std::string* complaint);
  void Register(void* pointer, size_t bytes);
  // Registers mapped memory, from the time that it may be accessed until it is unmapped.
  void Note(void* pointer, size_t bytes);
  void Forget(const void* pointer);
  // Returns the allocation that holds the whole range; null when none does.
  const Allocation* Find(const void* pointer, size_t bytes) const;
  // Returns an empty string, or names the first allocation whose guards have been written.
  std::string CheckGuards() const;

  size_t total = size_t{16} << 30;
  size_t used = 0;
  size_t device_allocations() const;

 private:
  static std::string CheckGuards(const Allocation& allocation);
  static void Release(const Allocation& allocation);
  std::map<uintptr_t, Allocation> allocations_;
};

struct Device {
  static Device& Get();

  DeviceMemory memory;
  BlockRunner runner;
  uint64_t order = 0;     // order of blocks, as given to SetOrder
  uint64_t launches = 0;  // each launch draws its own order
  Draw draw{0};           // draws the order of streams and graphs
  std::map<const void*, uint32_t> dynamic_shared_limit;

  cudaError_t fault = cudaSuccess;
  std::string fault_text;
  cudaError_t last_error = cudaSuccess;

  // Records the first fault.
  void Fail(cudaError_t error, std::string text);
};

// Held by every function of the runtime while it runs, work of streams that it does included: threads take turns, as if
// each had called the runtime alone.
class OneCaller {
 public:
  OneCaller() { Mutex().lock(); }
  ~OneCaller() { Mutex().unlock(); }
  OneCaller(const OneCaller&) = delete;
  OneCaller& operator=(const OneCaller&) = delete;

 private:
  static std::recursive_mutex& Mutex();
};

// Every function of the runtime returns through this: a fault takes precedence, and errors stay for
// cudaPeekAtLastError.
cudaError_t Return(cudaError_t error);

// True while work is recorded instead of done; some calls are then refused.
bool AnyCapture();
void InvalidateCaptures();

}  // namespace hone::gnn::cuda::emulated
