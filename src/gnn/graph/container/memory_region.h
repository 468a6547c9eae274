// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Owns one range of pages: anonymous memory on huge pages, memory shared by processes, or a file mapped for reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "hone/base/status.h"

namespace hone::gnn {

// Move-only. The bytes stay where they are when the owner moves.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  MemoryRegion(MemoryRegion&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
        base_(std::exchange(other.base_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;
  ~MemoryRegion();

  // Allocates zeroed memory, aligned to 2 MiB when it is at least that large, else to a page, and asks the kernel for
  // huge pages. kResourceExhausted says how many bytes `what` needs.
  static Result<MemoryRegion> Anonymous(int64_t bytes, const std::string& what);
  // Maps `bytes` of memory that other processes may map too, by its descriptor; aligned as above. New memory is zeroed.
  static Result<MemoryRegion> Shared(int fd, int64_t bytes, const std::string& what);
  // Maps the first `bytes` of an open file, read-only and shared.
  static Result<MemoryRegion> MapFile(int fd, int64_t bytes, const std::string& path);

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  template <typename T>
  T* as() const { return reinterpret_cast<T*>(data_); }

 private:
  // Maps `bytes` at an address that is aligned for huge pages: of the file `fd`, shared and writable, or of anonymous
  // memory if `fd` is negative.
  static Result<MemoryRegion> Reserve(int fd, int64_t bytes, const std::string& what);
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  void* base_ = nullptr;  // address for munmap
  size_t mapped_ = 0;
};

}  // namespace hone::gnn
