// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feature rows in the host's memory that kernels read in place.
#pragma once

#include <cstddef>

#include "gnn/cuda/cuda_support.h"
#include "gnn/graph/memory_region.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

class HostRows {
 public:
  HostRows() = default;
  HostRows(const HostRows&) = delete;
  HostRows& operator=(const HostRows&) = delete;
  ~HostRows() { Close(); }

  // Registers the rows where they lie, so they must outlive this; where the system refuses (they are registered
  // already, or in a file's pages), takes a pinned copy. kResourceExhausted with the size when there is no memory for
  // that.
  Status Open(const FeatureView& features);
  // Memory of its own instead, in huge pages, for whoever fills it; zeroed by `threads` threads (0: all the process may
  // use), because pinning memory that nobody has touched is one thread's work. kResourceExhausted with the size.
  Status Allocate(int64_t bytes, int threads = 0);
  std::byte* own() const { return own_.data(); }  // null where rows are somebody else's
  const void* device() const { return device_; }
  bool copied() const { return copy_ != nullptr; }

 private:
  Status Map(std::byte* rows);
  void Close();
  std::byte* registered_ = nullptr;
  std::byte* copy_ = nullptr;
  MemoryRegion own_;
  const void* device_ = nullptr;
};

}  // namespace hone::gnn::cuda
