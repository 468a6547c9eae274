// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the fake device behind the emulated runtime: its memory, its faults, and which calls are still allowed.
//
// There is one device per process; functions of the runtime take turns (OneCaller). Only the files of the emulation
// include this.
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

// The last two kinds are the caller's memory: they have no guards, and are not freed here.
enum class MemoryKind { kDevice, kPinned, kManaged, kRegistered, kMapped };

struct Allocation {
  unsigned char* data = nullptr;  // after the leading guard
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
};

class DeviceMemory {
 public:
  static constexpr size_t kGuard = 256;  // bytes before and after an allocation that must stay as they are
  ~DeviceMemory();

  // Returns memory filled with 0xff; null if it does not fit.
  void* Allocate(size_t bytes, MemoryKind kind);
  // Returns false if `pointer` is no allocation of this kind. *complaint: which guard bytes have been overwritten;
  // empty if none.
  bool Free(void* pointer, MemoryKind kind, std::string* complaint);
  void Register(void* pointer, size_t bytes);
  // Notes mapped memory, which may be accessed from now until Forget.
  void Note(void* pointer, size_t bytes);
  void Forget(const void* pointer);
  // Returns the allocation that holds the whole range; null if none does.
  const Allocation* Find(const void* pointer, size_t bytes) const;
  // Returns an empty string, or names the first allocation whose guard bytes have been overwritten.
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
  uint64_t order = 0;     // SetOrder's seed
  uint64_t launches = 0;  // number of launches so far; each launch has its own random order
  Draw draw{0};           // draws the order of streams and graphs
  std::map<const void*, uint32_t> dynamic_shared_limit;

  cudaError_t fault = cudaSuccess;
  std::string fault_text;
  cudaError_t last_error = cudaSuccess;

  // Records the first fault.
  void Fail(cudaError_t error, std::string text);
};

// Every function of the runtime holds a OneCaller while it runs, including the streams' work that it does. So threads
// take turns, as if each had called the runtime alone.
class OneCaller {
 public:
  OneCaller() { Mutex().lock(); }
  ~OneCaller() { Mutex().unlock(); }
  OneCaller(const OneCaller&) = delete;
  OneCaller& operator=(const OneCaller&) = delete;

 private:
  static std::recursive_mutex& Mutex();
};

// Returns the fault if there was one, otherwise `error`, which it stores for cudaPeekAtLastError. Every function of the
// runtime returns through this.
cudaError_t Return(cudaError_t error);

// Returns whether a stream records its work instead of doing it. Some calls are then refused.
bool AnyCapture();
void InvalidateCaptures();

}  // namespace hone::gnn::cuda::emulated
