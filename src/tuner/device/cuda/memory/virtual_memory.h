// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps device memory at secret addresses; one piece may have several mappings with different rights.
//
// A candidate that gets the address of one tensor must not find other memory from it. So each piece of memory is mapped
// in a reservation of its own, drawn from some 2^25 places, with a page on either side that nothing is ever mapped to:
// an access past the end faults, and so does a guess. The judge's own mapping may be written; a candidate sees a second
// mapping of the same memory, which can be removed, moved or made read-only without changing the first.
//
// Writes through one mapping are visible through another from the next kernel on (CUDA's rule for aliased memory),
// which is enough here. Unmapping does not wait for work that uses the mapping: callers do.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/files/file.h"
#include "tuner/device/cuda/cuda_driver.h"
#include "tuner/values/keyed_hash.h"

namespace hone {

enum class Rights { kRead, kReadWrite };

class VirtualMemory {
 public:
  // `seed`: secret; addresses are drawn from it. Returns null if the device or its driver does not support this: one
  // piece is mapped twice as a test.
  static std::unique_ptr<VirtualMemory> Make(const CudaDriver& driver, CUdevice device, uint64_t seed);

  size_t granule() const { return granule_; }  // in bytes; sizes and starts of mappings are multiples of it

  // Creates memory of `bytes`, a multiple of granule(), mapped for reading and writing.
  CUresult Create(size_t bytes, CUdeviceptr* address);
  // Creates memory as Create does, and a file descriptor by which another process maps the same memory
  // (cuMemImportFromShareableHandle). The caller owns the descriptor, which is closed on exec.
  CUresult CreateShared(size_t bytes, CUdeviceptr* address, UniqueFd* descriptor);
  // Frees memory, whose other mappings must be removed first. Memory that another process has mapped stays there.
  void Free(CUdeviceptr address);

  // Maps the memory of Create(`address`) at one more address.
  CUresult MapAgain(CUdeviceptr address, Rights rights, CUdeviceptr* second_address);
  void Unmap(CUdeviceptr second_address);

 private:
  struct Mapping {
    CUmemGenericAllocationHandle handle = 0;
    size_t bytes = 0;
    CUdeviceptr reservation = 0;
    size_t reserved = 0;
  };
  VirtualMemory(const CudaDriver& driver, CUdevice device, uint64_t seed) : driver_(driver), device_(device), secrets_(seed) {}

  // Creates and maps memory with these properties, and returns its handle too.
  CUresult CreateWith(const CUmemAllocationProp& properties, size_t bytes, CUdeviceptr* address, CUmemGenericAllocationHandle* handle);
  CUresult Map(CUmemGenericAllocationHandle handle, size_t bytes, Rights rights, CUdeviceptr* address);
  void Drop(CUdeviceptr address, const Mapping& mapping);

  const CudaDriver& driver_;
  CUdevice device_;
  SecretNumbers secrets_;
  size_t granule_ = 0;
  std::map<CUdeviceptr, Mapping> mappings_;
};

}  // namespace hone
