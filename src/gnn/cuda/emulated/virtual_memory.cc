// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the driver's virtual memory management on the fake device. Physical memory is a memfd, a range of
// addresses is reserved pages of this process, and mapping is mmap. A process that receives the descriptor sees the
// same bytes.
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "gnn/cuda/emulated/device.h"
#include "gnn/cuda/emulated/runtime.h"
#include "gnn/cuda/emulated/stream.h"

using namespace hone::gnn::cuda::emulated;

namespace {

constexpr size_t kPageGranularity = 4096;  // bytes; a GPU's is 2 MiB

// Physical memory: the memfd that stands for it.
struct Physical {
  int descriptor = -1;
  size_t bytes = 0;
  bool own = false;    // true: this device allocated it, and its memory counts it
  int references = 0;  // number of its handle and mappings that are left
};
// Physical memory that is mapped into a reserved range.
struct Mapping {
  CUmemGenericAllocationHandle handle = 0;
  size_t bytes = 0;
};

// The state of one device, used by one OS thread at a time.
struct VirtualMemory {
  std::map<CUmemGenericAllocationHandle, Physical> physical;
  std::map<CUdeviceptr, size_t> reserved;
  std::map<CUdeviceptr, Mapping> mapped;
  CUmemGenericAllocationHandle next = 1;
};
VirtualMemory& TheVirtualMemory() {
  static VirtualMemory memory;
  return memory;
}

bool IsWholePages(size_t bytes) { return bytes > 0 && bytes % kPageGranularity == 0; }

void ReleasePhysical(CUmemGenericAllocationHandle handle) {
  VirtualMemory& memory = TheVirtualMemory();
  const auto found = memory.physical.find(handle);
  if (--found->second.references > 0) return;
  close(found->second.descriptor);
  if (found->second.own) Device::Get().memory.used -= found->second.bytes;
  memory.physical.erase(found);
}

CUmemGenericAllocationHandle KeepPhysical(const Physical& physical) {
  VirtualMemory& memory = TheVirtualMemory();
  memory.physical[memory.next] = physical;
  return memory.next++;
}

// Returns whether a single reservation holds the whole range.
bool IsReserved(CUdeviceptr address, size_t bytes) {
  auto next_reservation = TheVirtualMemory().reserved.upper_bound(address);
  if (next_reservation == TheVirtualMemory().reserved.begin()) return false;
  --next_reservation;
  return address + bytes <= next_reservation->first + next_reservation->second;
}

void* HostPointer(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

bool g_sharing = true;
Peers g_peers = Peers::kReadable;

std::string OwnBusId() { return "0000:" + std::to_string(getpid()); }

}  // namespace

namespace hone::gnn::cuda::emulated {
void SetPeers(Peers peers) { g_peers = peers; }
void SetMemorySharing(bool possible) { g_sharing = possible; }
void GiveWay() { sched_yield(); }
}  // namespace hone::gnn::cuda::emulated

CUresult cuGetErrorString(CUresult error, const char** text) {
  const OneCaller turn;
  switch (error) {
    case CUDA_SUCCESS: *text = "no error"; break;
    case CUDA_ERROR_INVALID_VALUE: *text = "invalid argument"; break;
    case CUDA_ERROR_OUT_OF_MEMORY: *text = "out of memory"; break;
    case CUDA_ERROR_INVALID_DEVICE: *text = "invalid device ordinal"; break;
    case CUDA_ERROR_NOT_SUPPORTED: *text = "operation not supported"; break;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  const OneCaller turn;
  if (properties->location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
  *granularity = kPageGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long) {
  const OneCaller turn;
  if (properties->location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!IsWholePages(bytes)) return CUDA_ERROR_INVALID_VALUE;
  DeviceMemory& memory = Device::Get().memory;
  if (bytes > memory.total - std::min(memory.total, memory.used)) return CUDA_ERROR_OUT_OF_MEMORY;
  const int descriptor = memfd_create("emulated device memory", MFD_CLOEXEC);
  if (descriptor < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  void* bytes_of = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) {
    bytes_of = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (bytes_of == MAP_FAILED) {
    close(descriptor);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  std::memset(bytes_of, 0xff, bytes);  // undefined memory shows as NaN, like other allocations here
  munmap(bytes_of, bytes);
  memory.used += bytes;
  *handle = KeepPhysical({descriptor, bytes, /*own=*/true, /*references=*/1});
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const OneCaller turn;
  if (TheVirtualMemory().physical.count(handle) == 0) return CUDA_ERROR_INVALID_VALUE;
  ReleasePhysical(handle);
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long) {
  const OneCaller turn;
  const auto found = TheVirtualMemory().physical.find(handle);
  if (found == TheVirtualMemory().physical.end() || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  if (!g_sharing) return CUDA_ERROR_NOT_SUPPORTED;
  const int copy = dup(found->second.descriptor);
  if (copy < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *static_cast<int*>(shareable) = copy;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  const OneCaller turn;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  const int copy = dup(static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
  struct stat facts {};
  if (copy < 0 || fstat(copy, &facts) != 0) return CUDA_ERROR_INVALID_VALUE;
  *handle = KeepPhysical({copy, static_cast<size_t>(facts.st_size), /*own=*/false, /*references=*/1});
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  const OneCaller turn;
  if (!IsWholePages(bytes)) return CUDA_ERROR_INVALID_VALUE;
  void* const pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<uintptr_t>(pages);
  TheVirtualMemory().reserved[*address] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  const OneCaller turn;
  const auto found = TheVirtualMemory().reserved.find(address);
  if (found == TheVirtualMemory().reserved.end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto inside = TheVirtualMemory().mapped.lower_bound(address);
  if (inside != TheVirtualMemory().mapped.end() && inside->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
  munmap(HostPointer(address), bytes);
  TheVirtualMemory().reserved.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long) {
  const OneCaller turn;
  VirtualMemory& memory = TheVirtualMemory();
  const auto found = memory.physical.find(handle);
  if (found == memory.physical.end() || offset != 0 || bytes != found->second.bytes || address % kPageGranularity != 0 ||
      !IsReserved(address, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto next = memory.mapped.lower_bound(address);
  if (next != memory.mapped.end() && next->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
  if (next != memory.mapped.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (mmap(HostPointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second.descriptor, 0) == MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memory.mapped[address] = {handle, bytes};
  ++found->second.references;
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  const OneCaller turn;
  DrainAll();
  const auto found = TheVirtualMemory().mapped.find(address);
  if (found == TheVirtualMemory().mapped.end() || found->second.bytes != bytes) return CUDA_ERROR_INVALID_VALUE;
  Device::Get().memory.Forget(HostPointer(address));
  if (mmap(HostPointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) ==
      MAP_FAILED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUmemGenericAllocationHandle handle = found->second.handle;
  TheVirtualMemory().mapped.erase(found);
  ReleasePhysical(handle);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  const OneCaller turn;
  if (count != 1 || access->location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
  const CUdeviceptr end = address + bytes;
  const auto begin = TheVirtualMemory().mapped.find(address);
  CUdeviceptr at = address;
  for (auto mapping = begin; mapping != TheVirtualMemory().mapped.end() && mapping->first == at && at < end;
       ++mapping) {
    at += mapping->second.bytes;
  }
  if (at != end || at == address) return CUDA_ERROR_INVALID_VALUE;
  const int protection = access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE   ? PROT_NONE
                         : access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ
                                                                          : PROT_READ | PROT_WRITE;
  if (mprotect(HostPointer(address), bytes, protection) != 0) return CUDA_ERROR_INVALID_VALUE;
  for (auto mapping = begin; mapping != TheVirtualMemory().mapped.end() && mapping->first < end; ++mapping) {
    Device::Get().memory.Note(HostPointer(mapping->first), mapping->second.bytes);
  }
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const OneCaller turn;
  static const std::map<std::string, void*> functions = {
      {"cuGetErrorString", reinterpret_cast<void*>(&cuGetErrorString)},
      {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(&cuMemGetAllocationGranularity)},
      {"cuMemCreate", reinterpret_cast<void*>(&cuMemCreate)},
      {"cuMemRelease", reinterpret_cast<void*>(&cuMemRelease)},
      {"cuMemExportToShareableHandle", reinterpret_cast<void*>(&cuMemExportToShareableHandle)},
      {"cuMemImportFromShareableHandle", reinterpret_cast<void*>(&cuMemImportFromShareableHandle)},
      {"cuMemAddressReserve", reinterpret_cast<void*>(&cuMemAddressReserve)},
      {"cuMemAddressFree", reinterpret_cast<void*>(&cuMemAddressFree)},
      {"cuMemMap", reinterpret_cast<void*>(&cuMemMap)},
      {"cuMemUnmap", reinterpret_cast<void*>(&cuMemUnmap)},
      {"cuMemSetAccess", reinterpret_cast<void*>(&cuMemSetAccess)}};
  const auto entry = functions.find(name);
  *function = entry == functions.end() ? nullptr : entry->second;
  if (found != nullptr) *found = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return Return(cudaSuccess);
}

// Each process is a GPU here, and every other process is a peer. The bus id is the process's id.
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  const OneCaller turn;
  const std::string own_bus_id = OwnBusId();
  if (device != 0 || own_bus_id.size() >= static_cast<size_t>(bytes)) return Return(cudaErrorInvalidValue);
  std::strcpy(id, own_bus_id.c_str());
  return Return(cudaSuccess);
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  const OneCaller turn;
  *device = id == OwnBusId() ? 0 : 1;
  return Return(*device == 0 || g_peers != Peers::kInvisible ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const OneCaller turn;
  if (device != 0 || peer != 1) return Return(cudaErrorInvalidDevice);
  *can = g_peers == Peers::kReadable ? 1 : 0;
  return Return(cudaSuccess);
}
