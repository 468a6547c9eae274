// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/virtual_memory.h"

#include <fcntl.h>

#include "base/numbers/rounding.h"
#include "hone/base/status.h"

namespace hone {
namespace {

// Range of requested reservations: within the 47 bits of a process's addresses, away from the usual places of programs,
// libraries and the driver itself.
constexpr uint64_t kLowest = uint64_t{1} << 42, kHighest = uint64_t{1} << 46;
constexpr uint64_t kDriverBlock = uint64_t{32} << 20;  // bytes; reservations are placed at multiples of it: observed on
                                                       // an H200 with driver 580
constexpr int kTries = 8;  // an address may be in use

CUmemAllocationProp PropertiesOn(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

}  // namespace

std::unique_ptr<VirtualMemory> VirtualMemory::Make(const CudaDriver& driver, CUdevice device, uint64_t seed) {
  int supported = 0;
  if (driver.DeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) != CUDA_SUCCESS ||
      supported == 0) {
    return nullptr;
  }
  std::unique_ptr<VirtualMemory> memory(new VirtualMemory(driver, device, seed));
  const CUmemAllocationProp properties = PropertiesOn(device);
  if (driver.MemGetAllocationGranularity(&memory->granule_, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS ||
      memory->granule_ == 0) {
    return nullptr;
  }
  CUdeviceptr once = 0, again = 0;
  if (memory->Create(memory->granule_, &once) != CUDA_SUCCESS) return nullptr;
  const bool twice = memory->MapAgain(once, Rights::kRead, &again) == CUDA_SUCCESS;
  if (twice) memory->Unmap(again);
  memory->Free(once);
  return twice ? std::move(memory) : nullptr;
}

CUresult VirtualMemory::Create(size_t bytes, CUdeviceptr* address) {
  CUmemGenericAllocationHandle handle = 0;
  return CreateWith(PropertiesOn(device_), bytes, address, &handle);
}

CUresult VirtualMemory::CreateShared(size_t bytes, CUdeviceptr* address, UniqueFd* descriptor) {
  CUmemAllocationProp properties = PropertiesOn(device_);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle handle = 0;
  if (const CUresult create_result = CreateWith(properties, bytes, address, &handle); create_result != CUDA_SUCCESS)
    return create_result;
  int exported = -1;
  const CUresult result = driver_.MemExportToShareableHandle(&exported, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  if (result != CUDA_SUCCESS) {
    Free(*address);
    return result;
  }
  fcntl(exported, F_SETFD, FD_CLOEXEC);
  *descriptor = UniqueFd(exported);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::CreateWith(const CUmemAllocationProp& properties, size_t bytes, CUdeviceptr* address, CUmemGenericAllocationHandle* handle) {
  HONE_CHECK(bytes > 0 && bytes % granule_ == 0, "memory is made of whole granules");
  if (const CUresult create_result = driver_.MemCreate(handle, bytes, &properties, 0); create_result != CUDA_SUCCESS)
    return create_result;
  const CUresult mapped = Map(*handle, bytes, Rights::kReadWrite, address);
  if (mapped != CUDA_SUCCESS) driver_.MemRelease(*handle);
  return mapped;
}

void VirtualMemory::Free(CUdeviceptr address) {
  const auto found = mappings_.find(address);
  HONE_CHECK(found != mappings_.end(), "an address that nothing is mapped at");
  Drop(address, found->second);
  driver_.MemRelease(found->second.handle);
  mappings_.erase(found);
}

CUresult VirtualMemory::MapAgain(CUdeviceptr address, Rights rights, CUdeviceptr* second_address) {
  const auto found = mappings_.find(address);
  HONE_CHECK(found != mappings_.end(), "an address that nothing is mapped at");
  return Map(found->second.handle, found->second.bytes, rights, second_address);
}

void VirtualMemory::Unmap(CUdeviceptr second_address) {
  const auto found = mappings_.find(second_address);
  HONE_CHECK(found != mappings_.end(), "an address that nothing is mapped at");
  Drop(second_address, found->second);
  mappings_.erase(found);
}

// Maps memory at an address drawn at random.
CUresult VirtualMemory::Map(CUmemGenericAllocationHandle handle, size_t bytes, Rights rights, CUdeviceptr* address) {
  // The driver grants a requested address that is a multiple of its own blocks, and otherwise picks one beside others.
  // The granule at which the memory begins in the reservation is random too.
  Mapping mapping{.handle = handle, .bytes = bytes, .reservation = 0, .reserved = RoundUp(bytes + 2 * granule_, kDriverBlock) + kDriverBlock};
  const uint64_t places = (kHighest - kLowest - mapping.reserved) / kDriverBlock;
  CUresult result = CUDA_SUCCESS;
  for (int i = 0; i <= kTries; ++i) {
    const bool last = i == kTries;  // any address of the driver's choice is better than no memory
    const uint64_t requested_address = last ? 0 : kLowest + secrets_.Next() % places * kDriverBlock;
    result = driver_.MemAddressReserve(&mapping.reservation, mapping.reserved, granule_, requested_address, 0);
    if (result != CUDA_SUCCESS) continue;
    if (mapping.reservation == requested_address || last) break;
    driver_.MemAddressFree(mapping.reservation, mapping.reserved);
  }
  if (result != CUDA_SUCCESS) return result;
  const uint64_t spare = (mapping.reserved - bytes) / granule_ - 2;
  const CUdeviceptr at = mapping.reservation + granule_ * (1 + secrets_.Next() % (spare + 1));
  result = driver_.MemMap(at, bytes, 0, handle, 0);
  if (result == CUDA_SUCCESS) {
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device_;
    access.flags = rights == Rights::kRead ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    result = driver_.MemSetAccess(at, bytes, &access, 1);
    if (result != CUDA_SUCCESS) driver_.MemUnmap(at, bytes);
  }
  if (result != CUDA_SUCCESS) {
    driver_.MemAddressFree(mapping.reservation, mapping.reserved);
    return result;
  }
  mappings_.emplace(at, mapping);
  *address = at;
  return CUDA_SUCCESS;
}

void VirtualMemory::Drop(CUdeviceptr address, const Mapping& mapping) {
  driver_.MemUnmap(address, mapping.bytes);
  driver_.MemAddressFree(mapping.reservation, mapping.reserved);
}

}  // namespace hone
