// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Wraps the driver's virtual memory management: GPU memory as a handle that another process can receive, and address
// ranges into which such memory is mapped, whichever GPU it is on.
//
// The driver's functions are looked up at run time, through the runtime, so the program does not link with the driver.
// Sizes are multiples of PeerMemoryGranularity(). Work on the device must be finished before a range is destroyed. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// Returns the granularity in bytes on this thread's current GPU. kUnavailable names the feature that the GPU or its
// driver lacks.
Result<int64_t> PeerMemoryGranularity();

// Owns physical memory of one GPU, not mapped to an address. The memory lives while any process has a handle of it or
// has it mapped, even after the process that allocated it has ended.
class PeerMemory {
 public:
  // Allocates on this thread's current GPU. kResourceExhausted if too little memory is free.
  static Result<PeerMemory> Make(int64_t bytes);
  // Imports memory that another process (or this one) has exported. `descriptor` stays the caller's.
  static Result<PeerMemory> Import(int descriptor, int64_t bytes);
  PeerMemory(PeerMemory&& other) noexcept
      : handle_(std::exchange(other.handle_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  PeerMemory& operator=(PeerMemory&& other) noexcept;
  ~PeerMemory() { Close(); }

  // Returns a file descriptor that another process of this host can import.
  Result<UniqueFd> Export() const;
  int64_t bytes() const { return bytes_; }

 private:
  friend class PeerRange;
  PeerMemory(unsigned long long handle, int64_t bytes) : handle_(handle), bytes_(bytes) {}
  void Close();
  unsigned long long handle_ = 0;
  int64_t bytes_ = 0;
};

// A range of addresses into which memory is mapped piece by piece, from the beginning. Mapped memory lives as long as
// the range.
class PeerRange {
 public:
  PeerRange() = default;
  PeerRange(const PeerRange&) = delete;
  PeerRange& operator=(const PeerRange&) = delete;
  ~PeerRange() { Close(); }

  Status Reserve(int64_t bytes);
  // Maps `memory` at byte offset `at` of the range, where nothing may be mapped yet.
  Status Map(int64_t at, const PeerMemory& memory);
  // Lets this thread's current GPU read and write the range, which must be mapped completely.
  Status Open();
  unsigned char* get() const { return address_; }
  int64_t bytes() const { return bytes_; }

 private:
  void Close();
  unsigned char* address_ = nullptr;
  int64_t bytes_ = 0;
  std::vector<std::pair<int64_t, int64_t>> mapped_;  // offset, bytes
};

}  // namespace hone::gnn::cuda
