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
//
// Managed memory is one process's. Where the ranks of a host have no room for a copy each, they share one segment that all of
// them register with their devices, and each has filled a part of: at the slower rate, but once in memory. (Nothing that
// processes can share comes faster: neither plain pages, nor huge ones, nor memory of the driver's that is exported.)
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/graph/memory_region.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct HostRowsOptions {
  int threads = 0;                // that copy; 0: all the process may use
  Communicator* ranks = nullptr;  // of a run of several, which all open the same rows; borrowed for the time of each call
  int64_t most_bytes = 0;         // of the host's memory that all ranks on it may take; 0: what is available
};

// What rows of `bytes` take of the host's memory, for all `ranks` that are on it.
struct HostRowsPlan {
  bool managed = false;  // a copy for each rank, which is faster
  int64_t needed = 0;    // bytes
  int64_t available = 0;
  bool fits = false;
};
// An eighth of the room stays free, for batches and for others.
HostRowsPlan PlanHostRows(int64_t bytes, int ranks, int64_t available);

// Every operation that takes options with ranks is collective, and so is Ready after it.
class HostRows {
 public:
  // Of several processes that fill one array this is number `index`.
  struct Share {
    int index = 0, count = 1;
    int64_t Begin(int64_t items) const { return items * index / count; }
    int64_t End(int64_t items) const { return items * (index + 1) / count; }
  };

  HostRows() = default;
  HostRows(const HostRows&) = delete;
  HostRows& operator=(const HostRows&) = delete;
  ~HostRows() { Close(); }

  // Copies the rows into managed memory; without room for that, of several ranks, into a segment that they share; else
  // registers them where they lie, so they must outlive this; and where the system refuses (they are registered already,
  // or in a file's pages), takes a pinned copy. kResourceExhausted with the size when there is no memory for that either.
  Status Open(const FeatureView& features, const HostRowsOptions& options = {});
  // Memory of its own instead, managed or shared: then Fill for this process's share of it, and Ready. kResourceExhausted
  // with the size.
  Status Allocate(int64_t bytes, const HostRowsOptions& options = {});
  Share share() const { return share_; }
  // Memory of Allocate that a device will write: the host's threads make its pages, for which kernels would wait one by one.
  void Touch();
  // Bytes from `at` on, from the device; waits for what it did before. The host's threads write them, by way of pinned
  // pieces, for a page comes to be on the host when a thread first touches it.
  Status FillFromDevice(int64_t at, const unsigned char* device, int64_t bytes);
  // Kernels may read from now on. `filled`: how that went here; all ranks that share the memory hear of it.
  Status Ready(const Status& filled = Status::Ok());
  // Null where rows are somebody else's.
  std::byte* own() const { return managed_ != nullptr ? managed_ : own_.data(); }
  const void* device() const { return device_; }
  bool managed() const { return managed_ != nullptr; }
  bool shared() const { return share_.count > 1; }

 private:
  void Close();
  Result<HostRowsPlan> Plan(int64_t bytes, const HostRowsOptions& options, bool* one_host) const;
  Status Manage(int64_t bytes);
  Result<bool> ManageOnAll(int64_t bytes, const HostRowsOptions& options);
  Status OpenShared(int64_t bytes, Communicator& ranks);
  Status Map(std::byte* rows);
  std::byte* managed_ = nullptr;
  std::byte* registered_ = nullptr;
  std::byte* copy_ = nullptr;
  MemoryRegion own_;  // this process's, or the shared segment
  int64_t bytes_ = 0;
  int threads_ = 0;
  Share share_;
  Communicator* ranks_ = nullptr;  // from Allocate to Ready
  std::array<std::unique_ptr<PinnedBytes>, 2> bounce_;
  const void* device_ = nullptr;
};

}  // namespace hone::gnn::cuda
