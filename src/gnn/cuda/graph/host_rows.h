// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps feature rows in host memory that kernels read in place.
//
// The kind of host memory decides how fast single rows come over the bus. Pinned memory (cudaHostAlloc, or
// cudaHostRegister, on huge pages or not) is translated for the device in small pieces. Random rows of 256 bytes out of
// 28 GB then come at 7.6 GB/s, however many are in flight, where the same kernel gets 50 GB/s out of 0.5 GB. Managed
// memory that is advised to stay on the host and to be mapped on the device gives 50 GB/s whatever its size (H200, PCIe
// 5; the figures: docs/design/0013). So rows live in managed memory if the device can read it in place and the host has
// room for it.
//
// Managed memory belongs to one process. If the host has no room for a copy per rank, its ranks share one segment,
// which all register with their devices, and each fills a part of it. That is slower, but the rows are stored once.
// (Processes can share nothing faster: neither plain pages, nor huge ones, nor exported driver memory.)
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/graph/container/memory_region.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/graph.h"

namespace hone::gnn::cuda {

struct HostRowsOptions {
  int threads = 0;                // threads that copy; 0: all that the process may use
  Communicator* ranks = nullptr;  // ranks that all open the same rows; borrowed during each call
  int64_t most_bytes = 0;         // limit of the memory that all ranks of this host take; 0: what is available
};

// How host memory for rows of `bytes` bytes is allocated, for all `ranks` of this host.
struct HostRowsPlan {
  bool managed = false;  // true: managed memory, one copy per rank, which is faster; false: one shared segment
  int64_t needed = 0;    // bytes that the rows take on this host
  int64_t available = 0;  // bytes that the plan may use
  bool fits = false;
};
// Makes the plan. An eighth of `available` stays free, for batches and other programs.
HostRowsPlan PlanHostRows(int64_t bytes, int ranks, int64_t available);

// Feature rows in host memory. Every operation whose options have ranks is collective over them, and so is the Ready
// after it.
class HostRows {
 public:
  // The part of an array that this process fills: part `index` of `count` parts.
  struct Share {
    int index = 0, count = 1;
    // Return the first item of the part, and one past its last, of an array of `items` items.
    int64_t Begin(int64_t items) const { return items * index / count; }
    int64_t End(int64_t items) const { return items * (index + 1) / count; }
  };

  HostRows() = default;
  HostRows(const HostRows&) = delete;
  HostRows& operator=(const HostRows&) = delete;
  ~HostRows() { Close(); }

  // Copies the rows into managed memory. If there is no room for it, several ranks of one host copy into a shared
  // segment, if that fits. Otherwise the rows are registered where they lie, so they must outlive this object; if the
  // system refuses (already registered, or pages of a file), a pinned copy is made. kResourceExhausted, with the size,
  // if memory does not suffice for that either.
  Status Open(const FeatureView& features, const HostRowsOptions& options = {});
  // Allocates memory for rows that the caller makes, managed or shared. The caller must then fill this process's
  // share() of it and call Ready. kResourceExhausted with the size.
  Status Allocate(int64_t bytes, const HostRowsOptions& options = {});
  Share share() const { return share_; }
  // Creates the pages of allocated memory by host threads before a device writes them; a kernel would wait for pages
  // one by one.
  void CreatePages();
  // Copies `bytes` bytes from the device to offset `at`, after the device's earlier work. Host threads write the bytes,
  // through pinned pieces, because a page is placed on the host when a host thread is the first to touch it.
  Status FillFromDevice(int64_t at, const unsigned char* device, int64_t bytes);
  // Lets kernels read from now on. `filled` is the status of filling this process's share; if it is an error, all ranks
  // that share the memory return an error.
  Status Ready(const Status& filled = Status::Ok());
  // Returns the rows' host address; null if another object owns the rows.
  std::byte* own() const { return managed_ != nullptr ? managed_ : own_.data(); }
  const void* device() const { return device_; }
  bool managed() const { return managed_ != nullptr; }
  bool shared() const { return share_.count > 1; }

 private:
  void Close();
  // Makes the same plan on all ranks of a host. *one_host: whether all ranks are on this host.
  Result<HostRowsPlan> PlanOverRanks(int64_t bytes, const HostRowsOptions& options, bool* one_host) const;
  Status AllocateManaged(int64_t bytes);
  // Allocates managed memory on every rank, or on none. Returns whether it did.
  Result<bool> AllocateManagedOnAll(int64_t bytes, const HostRowsOptions& options);
  Status OpenShared(int64_t bytes, Communicator& ranks);
  // Sets device_ to the device address of host memory.
  Status SetDeviceAddress(std::byte* rows);
  std::byte* managed_ = nullptr;     // managed memory; null: the rows are elsewhere
  std::byte* registered_ = nullptr;  // memory that this object has registered; null: none
  std::byte* copy_ = nullptr;        // pinned copy; null: none
  MemoryRegion own_;  // this process's memory, or the shared segment
  int64_t bytes_ = 0;
  int threads_ = 0;
  Share share_;
  Communicator* ranks_ = nullptr;  // set from Allocate to Ready
  std::array<std::unique_ptr<PinnedBytes>, 2> bounce_;  // FillFromDevice's pinned pieces
  const void* device_ = nullptr;                        // the rows by their device address
};

}  // namespace hone::gnn::cuda
