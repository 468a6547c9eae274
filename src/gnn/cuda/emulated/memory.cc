// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the memory of the fake device. It is host memory, each allocation between guard bytes.
//
// Under address sanitizer the guards are poisoned instead, so that the faulty access itself is reported, with its line.
#include <fmt/format.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/numbers/rounding.h"
#include "gnn/cuda/emulated/device.h"
#include "gnn/cuda/emulated/runtime.h"

namespace hone::gnn::cuda::emulated {
namespace {

constexpr unsigned char kGuardByte = 0xab;  // around each allocation; another value shows a write outside
constexpr size_t kGranularity = 512;  // bytes; as cudaMalloc rounds sizes up

size_t BytesCharged(size_t bytes) { return RoundUp(bytes, kGranularity); }
// Returns the number of guard bytes behind an allocation of `bytes`.
size_t TailBytes(size_t bytes) { return DeviceMemory::kGuard + BytesCharged(bytes) - bytes; }

// Returns the index of the first overwritten guard byte, or `bytes` if there is none. Guards are compared in blocks,
// because all allocations are checked after each kernel. `bytes` is at most the longest tail's.
[[maybe_unused]] size_t FirstWritten(const unsigned char* guard, size_t bytes) {
  static const auto kExpected = [] {
    std::array<unsigned char, DeviceMemory::kGuard + kGranularity> expected;
    expected.fill(kGuardByte);
    return expected;
  }();
  if (std::memcmp(guard, kExpected.data(), bytes) == 0) return bytes;
  return static_cast<size_t>(std::find_if(guard, guard + bytes, [](unsigned char byte) { return byte != kGuardByte; }) -
                             guard);
}

bool HasNoGuards(MemoryKind kind) { return kind == MemoryKind::kRegistered || kind == MemoryKind::kMapped; }

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, allocation] : allocations_) Release(allocation);
}

void DeviceMemory::Release(const Allocation& allocation) {
  if (HasNoGuards(allocation.kind)) return;
  unsigned char* const raw = allocation.data - kGuard;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(raw, kGuard + allocation.bytes + TailBytes(allocation.bytes));
#endif
  std::free(raw);
}

void* DeviceMemory::Allocate(size_t bytes, MemoryKind kind) {
  if (kind == MemoryKind::kDevice && BytesCharged(bytes) > total - std::min(total, used)) return nullptr;
  void* raw = std::aligned_alloc(kGuard, kGuard + bytes + TailBytes(bytes));
  if (raw == nullptr) return nullptr;
  Allocation allocation{static_cast<unsigned char*>(raw) + kGuard, bytes, kind};
  std::memset(allocation.data, 0xff, bytes);
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(raw, kGuard);
  __asan_poison_memory_region(allocation.data + bytes, TailBytes(bytes));
#else
  std::memset(raw, kGuardByte, kGuard);
  std::memset(allocation.data + bytes, kGuardByte, TailBytes(bytes));
#endif
  if (kind == MemoryKind::kDevice) used += BytesCharged(bytes);
  allocations_[reinterpret_cast<uintptr_t>(allocation.data)] = allocation;
  return allocation.data;
}

bool DeviceMemory::Free(void* pointer, MemoryKind kind, std::string* complaint) {
  const auto found = allocations_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == allocations_.end() || found->second.kind != kind) return false;
  *complaint = CheckGuards(found->second);
  if (kind == MemoryKind::kDevice) used -= BytesCharged(found->second.bytes);
  if (!HasNoGuards(kind)) std::memset(found->second.data, 0xff, found->second.bytes);
  Release(found->second);
  allocations_.erase(found);
  return true;
}

void DeviceMemory::Register(void* pointer, size_t bytes) {
  allocations_[reinterpret_cast<uintptr_t>(pointer)] = {static_cast<unsigned char*>(pointer), bytes,
                                                        MemoryKind::kRegistered};
}

void DeviceMemory::Note(void* pointer, size_t bytes) {
  allocations_[reinterpret_cast<uintptr_t>(pointer)] = {static_cast<unsigned char*>(pointer), bytes,
                                                        MemoryKind::kMapped};
}
void DeviceMemory::Forget(const void* pointer) { allocations_.erase(reinterpret_cast<uintptr_t>(pointer)); }

const Allocation* DeviceMemory::Find(const void* pointer, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto next_allocation = allocations_.upper_bound(address);
  if (next_allocation == allocations_.begin()) return nullptr;
  const Allocation& allocation = std::prev(next_allocation)->second;
  const size_t offset = address - reinterpret_cast<uintptr_t>(allocation.data);
  return offset <= allocation.bytes && bytes <= allocation.bytes - offset ? &allocation : nullptr;
}

std::string DeviceMemory::CheckGuards([[maybe_unused]] const Allocation& allocation) {
#if !defined(__SANITIZE_ADDRESS__)
  if (HasNoGuards(allocation.kind)) return "";
  if (const size_t i = FirstWritten(allocation.data - kGuard, kGuard); i < kGuard) {
    return fmt::format("byte {} before an allocation of {} bytes was written", kGuard - i, allocation.bytes);
  }
  const size_t tail = TailBytes(allocation.bytes);
  if (const size_t i = FirstWritten(allocation.data + allocation.bytes, tail); i < tail) {
    return fmt::format("byte {} of an allocation of {} bytes was written", allocation.bytes + i, allocation.bytes);
  }
#endif
  return "";
}

std::string DeviceMemory::CheckGuards() const {
  for (const auto& [address, allocation] : allocations_) {
    if (std::string complaint = CheckGuards(allocation); !complaint.empty()) return complaint;
  }
  return "";
}

size_t DeviceMemory::device_allocations() const {
  return static_cast<size_t>(std::count_if(allocations_.begin(), allocations_.end(),
                                           [](const auto& entry) { return entry.second.kind == MemoryKind::kDevice; }));
}

}  // namespace hone::gnn::cuda::emulated
