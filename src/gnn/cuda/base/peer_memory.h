// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's virtual memory management: memory of a GPU as a handle that another process can be given, and ranges of
// addresses into which such memory is mapped, whichever GPU it is on.
//
// The functions are asked of the driver at run time, through the runtime, so the program links with neither. Sizes are
// multiples of Granularity(). What is under way on the device must be done before a range goes. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// Of the GPU that this thread has chosen. kUnavailable where it cannot do this, saying which part of it.
Result<int64_t> PeerMemoryGranularity();

// Physical memory of one GPU, not mapped anywhere. It lives while any process has a handle of it or has it mapped, also
// after the process that made it is gone.
class PeerMemory {
 public:
  // On the GPU that this thread has chosen. kResourceExhausted where it has not so much.
  static Result<PeerMemory> Make(int64_t bytes);
  // What another process (or this one) has exported; `descriptor` stays the caller's.
  static Result<PeerMemory> Import(int descriptor, int64_t bytes);
  PeerMemory(PeerMemory&& other) noexcept
      : handle_(std::exchange(other.handle_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  PeerMemory& operator=(PeerMemory&& other) noexcept;
  ~PeerMemory() { Close(); }

  // For another process of this host.
  Result<UniqueFd> Export() const;
  int64_t bytes() const { return bytes_; }

 private:
  friend class PeerRange;
  PeerMemory(unsigned long long handle, int64_t bytes) : handle_(handle), bytes_(bytes) {}
  void Close();
  unsigned long long handle_ = 0;
  int64_t bytes_ = 0;
};

// One range of addresses, filled piece by piece from its beginning. The mapped memory stays as long as the range.
class PeerRange {
 public:
  PeerRange() = default;
  PeerRange(const PeerRange&) = delete;
  PeerRange& operator=(const PeerRange&) = delete;
  ~PeerRange() { Close(); }

  Status Reserve(int64_t bytes);
  // At `at` of the range, which must be free.
  Status Map(int64_t at, const PeerMemory& memory);
  // The GPU that this thread has chosen may read and write all that is mapped, which must be the whole range.
  Status Open();
  unsigned char* get() const { return address_; }
  int64_t bytes() const { return bytes_; }

 private:
  void Close();
  unsigned char* address_ = nullptr;
  int64_t bytes_ = 0;
  std::vector<std::pair<int64_t, int64_t>> mapped_;  // at, bytes
};

}  // namespace hone::gnn::cuda
