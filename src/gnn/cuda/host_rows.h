// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feature rows in the host's memory that kernels read in place.
//
// How that memory was made decides how fast single rows come over the bus. Memory that is pinned (cudaHostAlloc, or
// cudaHostRegister, on huge pages or not) is translated for the device in small pieces: random rows of 256 bytes out of
// 28 GB come at 7.6 GB/s, however many are under way, where the same kernel gets 50 GB/s out of 0.5 GB. Managed memory
// that is told to stay on the host and to be mapped on the device comes at 50 GB/s whatever its size (H200, PCIe 5; the
// figures: docs/design/0013). So rows live in managed memory where the device can read it in place and the host has
// room for it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "gnn/cuda/cuda_handles.h"
#include "gnn/graph/memory_region.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

class HostRows {
 public:
  HostRows() = default;
  HostRows(const HostRows&) = delete;
  HostRows& operator=(const HostRows&) = delete;
  ~HostRows() { Close(); }

  // Copies the rows into managed memory; without room for that registers them where they lie, so they must outlive this;
  // and where the system refuses (they are registered already, or in a file's pages), takes a pinned copy.
  // kResourceExhausted with the size when there is no memory for that either. `threads`: that copy; 0: all the process
  // may use. `processes`: of this host that do the same, each with rows of its own.
  Status Open(const FeatureView& features, int threads = 0, int processes = 1);
  // Memory of its own instead: then Fill for all of it, and Ready. kResourceExhausted with the size.
  Status Allocate(int64_t bytes, int threads = 0);
  // Bytes from `at` on, from the device; waits for what it did before. The host's threads write them, by way of pinned
  // pieces, for a page comes to be on the host when a thread first touches it.
  Status FillFromDevice(int64_t at, const unsigned char* device, int64_t bytes);
  // Kernels may read from now on.
  Status Ready();
  // Null where rows are somebody else's.
  std::byte* own() const { return managed_ != nullptr ? managed_ : own_.data(); }
  const void* device() const { return device_; }
  bool managed() const { return managed_ != nullptr; }

 private:
  void Close();
  Status Manage(int64_t bytes);
  Status Map(std::byte* rows);
  std::byte* managed_ = nullptr;
  std::byte* registered_ = nullptr;
  std::byte* copy_ = nullptr;
  MemoryRegion own_;
  int64_t bytes_ = 0;
  int threads_ = 0;
  std::array<std::unique_ptr<PinnedBytes>, 2> bounce_;
  const void* device_ = nullptr;
};

}  // namespace hone::gnn::cuda
