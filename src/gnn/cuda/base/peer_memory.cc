// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/base/peer_memory.h"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "gnn/cuda/base/cuda_support.h"

namespace hone::gnn::cuda {
namespace {

constexpr unsigned kDriverVersion = 12000;  // CUDA 12.0: the version of the driver's API that this file is written for

struct Driver {
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&cuMemImportFromShareableHandle) import_handle = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free_address = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  std::string missing;

  Driver() {
    Load("cuMemGetAllocationGranularity", granularity);
    Load("cuMemCreate", create);
    Load("cuMemRelease", release);
    Load("cuMemExportToShareableHandle", export_handle);
    Load("cuMemImportFromShareableHandle", import_handle);
    Load("cuMemAddressReserve", reserve);
    Load("cuMemAddressFree", free_address);
    Load("cuMemMap", map);
    Load("cuMemUnmap", unmap);
    Load("cuMemSetAccess", set_access);
    Load("cuGetErrorString", error_string);
  }

 private:
  template <typename Function>
  void Load(const char* name, Function& function) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &address, kDriverVersion, cudaEnableDefault, &found);
    if (error == cudaSuccess && found == cudaDriverEntryPointSuccess) {
      function = reinterpret_cast<Function>(address);
    } else if (missing.empty()) {
      missing = name;
    }
  }
};

const Driver& TheDriver() {
  static const Driver driver;
  return driver;
}

Status CheckDriver() {
  HONE_CUDA_RETURN_IF_ERROR(cudaFree(nullptr));  // the functions below need the device's context
  if (TheDriver().missing.empty()) return Status::Ok();
  return Status::Unavailable(fmt::format("the GPU's driver lacks {}: one of CUDA 12 or newer shares memory between "
                                         "processes",
                                         TheDriver().missing));
}

Status DriverStatus(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return Status::Ok();
  const char* text = nullptr;
  if (TheDriver().error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  const std::string message = fmt::format("{}: {}", what, text);
  return result == CUDA_ERROR_OUT_OF_MEMORY ? Status::ResourceExhausted(message) : Status::Device(message);
}

// Returns the properties of allocations on this thread's current GPU whose handles can be sent as file descriptors.
Result<CUmemAllocationProp> ShareableProperties() {
  HONE_RETURN_IF_ERROR(CheckDriver());
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  int device = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  properties.location.id = device;
  return properties;
}

CUdeviceptr DeviceAddress(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

Result<int64_t> PeerMemoryGranularity() {
  HONE_ASSIGN_OR_RETURN(const CUmemAllocationProp properties, ShareableProperties());
  size_t bytes = 0;
  HONE_RETURN_IF_ERROR(DriverStatus(
      TheDriver().granularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "cuMemGetAllocationGranularity"));
  return static_cast<int64_t>(bytes);
}

Result<PeerMemory> PeerMemory::Make(int64_t bytes) {
  HONE_ASSIGN_OR_RETURN(const CUmemAllocationProp properties, ShareableProperties());
  CUmemGenericAllocationHandle handle = 0;
  HONE_RETURN_IF_ERROR(DriverStatus(TheDriver().create(&handle, static_cast<size_t>(bytes), &properties, 0),
                                    fmt::format("cuMemCreate of {} bytes", bytes)));
  return PeerMemory(handle, bytes);
}

Result<PeerMemory> PeerMemory::Import(int descriptor, int64_t bytes) {
  HONE_RETURN_IF_ERROR(CheckDriver());
  CUmemGenericAllocationHandle handle = 0;
  void* const as_pointer = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
  HONE_RETURN_IF_ERROR(
      DriverStatus(TheDriver().import_handle(&handle, as_pointer, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                   "cuMemImportFromShareableHandle"));
  return PeerMemory(handle, bytes);
}

PeerMemory& PeerMemory::operator=(PeerMemory&& other) noexcept {
  if (this != &other) {
    Close();
    handle_ = std::exchange(other.handle_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void PeerMemory::Close() {
  if (handle_ != 0) TheDriver().release(std::exchange(handle_, 0));
}

Result<UniqueFd> PeerMemory::Export() const {
  int descriptor = -1;
  HONE_RETURN_IF_ERROR(
      DriverStatus(TheDriver().export_handle(&descriptor, handle_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                   "cuMemExportToShareableHandle"));
  return UniqueFd(descriptor);
}

Status PeerRange::Reserve(int64_t bytes) {
  Close();
  HONE_RETURN_IF_ERROR(CheckDriver());
  CUdeviceptr address = 0;
  HONE_RETURN_IF_ERROR(DriverStatus(TheDriver().reserve(&address, static_cast<size_t>(bytes), 0, 0, 0),
                                    fmt::format("cuMemAddressReserve of {} bytes", bytes)));
  address_ = reinterpret_cast<unsigned char*>(address);
  bytes_ = bytes;
  return Status::Ok();
}

Status PeerRange::Map(int64_t at, const PeerMemory& memory) {
  HONE_RETURN_IF_ERROR(DriverStatus(
      TheDriver().map(DeviceAddress(address_ + at), static_cast<size_t>(memory.bytes()), 0, memory.handle_, 0),
      "cuMemMap"));
  mapped_.emplace_back(at, memory.bytes());
  return Status::Ok();
}

Status PeerRange::Open() {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  int device = 0;
  HONE_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  access.location.id = device;
  return DriverStatus(TheDriver().set_access(DeviceAddress(address_), static_cast<size_t>(bytes_), &access, 1),
                      "cuMemSetAccess");
}

void PeerRange::Close() {
  if (address_ == nullptr) return;
  for (const auto& [at, bytes] : mapped_) TheDriver().unmap(DeviceAddress(address_ + at), static_cast<size_t>(bytes));
  mapped_.clear();
  TheDriver().free_address(DeviceAddress(address_), static_cast<size_t>(bytes_));
  address_ = nullptr;
  bytes_ = 0;
}

}  // namespace hone::gnn::cuda
