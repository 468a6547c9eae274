// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps feature rows in host memory that kernels read in place.
//
// The kind of host memory decides how fast single rows come over the bus. Pinned memory (cudaHostAlloc, or
// cudaHostRegister, on huge pages or not) is translated for the device in small pieces: random rows of 256 bytes out of
// 28 GB come at 7.6 GB/s, however many are in flight, where the same kernel gets 50 GB/s out of 0.5 GB. Managed memory
// that is advised to stay on the host and to be mapped on the device comes at 50 GB/s whatever its size (H200, PCIe 5;
// the figures: docs/design/0013). So rows live in managed memory where the device can read it in place and the host has
// room for it.
//
// Managed memory belongs to one process. Where the ranks of a host have no room for a copy each, they share one segment
// that all register with their devices, and each fills a part of it: slower, but stored once. (Nothing that processes
// can share is faster: neither plain pages, nor huge ones, nor exported driver memory.)
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
  int threads = 0;                // threads that copy; 0: all the process may use
  Communicator* ranks = nullptr;  // ranks that all open the same rows; borrowed during each call
  int64_t most_bytes = 0;         // host memory that all ranks of this host may take; 0: what is available
};

// Host memory for rows of `bytes`, for all `ranks` of this host.
struct HostRowsPlan {
  bool managed = false;  // one copy per rank, which is faster
  int64_t needed = 0;    // bytes
  int64_t available = 0;
  bool fits = false;
};
// Plans so that an eighth of the room stays free, for batches and other programs.
HostRowsPlan PlanHostRows(int64_t bytes, int ranks, int64_t available);

// Feature rows in host memory. Every operation that takes options with ranks is collective, and so is the Ready after
// it.
class HostRows {
 public:
  // This process's place, number `index`, among those that fill one array.
  struct Share {
    int index = 0, count = 1;
    int64_t Begin(int64_t items) const { return items * index / count; }
    int64_t End(int64_t items) const { return items * (index + 1) / count; }
  };

  HostRows() = default;
  HostRows(const HostRows&) = delete;
  HostRows& operator=(const HostRows&) = delete;
  ~HostRows() { Close(); }

  // Copies the rows into managed memory. Without room for that, several ranks copy into a shared segment; a single rank
  // registers the rows where they lie, so they must outlive this object; and where the system refuses (already
  // registered, or pages of a file), makes a pinned copy. kResourceExhausted with the size when memory does not suffice
  // for that either.
  Status Open(const FeatureView& features, const HostRowsOptions& options = {});
  // Allocates memory instead, managed or shared: call Fill for this process's share of it next, and then Ready.
  // kResourceExhausted with the size.
  Status Allocate(int64_t bytes, const HostRowsOptions& options = {});
  Share share() const { return share_; }
  // Creates the pages of allocated memory with host threads before a device writes it; kernels would wait for pages one
  // by one.
  void Touch();
  // Copies bytes from the device to offset `at`; waits for the device's earlier work. Host threads write the bytes,
  // through pinned pieces, because a page is placed on the host when a thread first touches it.
  Status FillFromDevice(int64_t at, const unsigned char* device, int64_t bytes);
  // Lets kernels read from now on. `filled`: the status of filling here; all ranks that share the memory receive it.
  Status Ready(const Status& filled = Status::Ok());
  // Null where another object owns the rows.
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
  MemoryRegion own_;  // this process's memory, or the shared segment
  int64_t bytes_ = 0;
  int threads_ = 0;
  Share share_;
  Communicator* ranks_ = nullptr;  // set from Allocate to Ready
  std::array<std::unique_ptr<PinnedBytes>, 2> bounce_;
  const void* device_ = nullptr;
};

}  // namespace hone::gnn::cuda
