// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Owns one GPU's resources for a session: the primary context, the stream on which everything runs, and device memory.
//
// The session and everything made from it (arenas, programs) share the context, so they may be destroyed in any order.
// After a crash or a hang the context is `lost`: no destructor calls the driver any more (a call would block on the
// hung kernel or fail), and the process is expected to end soon.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/cuda/cuda_driver.h"
#include "tuner/device/cuda/memory/kept_memory.h"
#include "tuner/device/cuda/memory/virtual_memory.h"

namespace hone {

class CudaContext;

// A block of device memory. The destructor returns it to the context's cache.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(std::shared_ptr<CudaContext> context, CUdeviceptr address, size_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {}
  DeviceBlock(DeviceBlock&& other) noexcept { *this = std::move(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock() { Release(); }

  CUdeviceptr address() const { return address_; }
  size_t bytes() const { return bytes_; }
  template <typename T> T* as() const { return reinterpret_cast<T*>(address_); }
  void Release();

 private:
  std::shared_ptr<CudaContext> context_;
  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
};

// Host memory that the device reads and writes directly.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  PinnedBlock(std::shared_ptr<CudaContext> context, void* address, size_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {}
  PinnedBlock(PinnedBlock&& other) noexcept { *this = std::move(other); }
  PinnedBlock& operator=(PinnedBlock&& other) noexcept;
  ~PinnedBlock() { Release(); }

  void* address() const { return address_; }
  size_t bytes() const { return bytes_; }
  void Release();

 private:
  std::shared_ptr<CudaContext> context_;
  void* address_ = nullptr;
  size_t bytes_ = 0;
};

enum class WaitResult { kDone, kTimedOut, kFailed };

class CudaContext : public std::enable_shared_from_this<CudaContext> {
 public:
  // Retains the primary context of device `ordinal` and makes it current on the calling thread. `address_seed`: secret;
  // all device memory gets addresses drawn from it (virtual_memory.h), if the device supports that. 0: the driver
  // chooses addresses.
  static Result<std::shared_ptr<CudaContext>> Make(const CudaDriver& driver, int ordinal, uint64_t address_seed);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDriver& driver() const { return driver_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }
  CUstream stream() const { return stream_; }
  bool lost() const { return lost_; }
  void MarkLost() { lost_ = true; }

  // Allocates at least `bytes` (at least one), aligned to 256 bytes or better, with unspecified contents. Freed memory
  // is kept for the next request of about the same size (kept_memory.h). kUnavailable when the device does not have
  // enough memory.
  Result<DeviceBlock> Allocate(int64_t bytes);
  // Allocates exactly `bytes`, a multiple of virtual_memory()->granule(), which must exist.
  Result<DeviceBlock> AllocateGranules(int64_t bytes);
  // Allocates at least `bytes` that another process can map by `descriptor` too (VirtualMemory::CreateShared). `bytes`
  // becomes the size. FreeShared frees this memory. kResourceExhausted when the device does not have enough memory;
  // kUnavailable when the driver does not share memory.
  Result<CUdeviceptr> AllocateShared(int64_t* bytes, UniqueFd* descriptor);
  void FreeShared(CUdeviceptr address) { GiveBack({address}); }
  // Returns null if the driver chooses addresses.
  VirtualMemory* virtual_memory() { return virtual_.get(); }
  // Makes candidates see [address, address + bytes) at `address_seen`, until Hide(address).
  void Show(CUdeviceptr address, size_t bytes, CUdeviceptr address_seen);
  void Hide(CUdeviceptr address) { shown_.erase(address); }
  // Returns the address at which candidates see `address`; `address` itself if none was set.
  CUdeviceptr Seen(CUdeviceptr address) const;
  struct Shown {
    size_t bytes = 0;
    CUdeviceptr seen = 0;
  };
  // Returns the range given to Show that contains `address`, with its first address as the key; null when there is
  // none.
  const std::pair<const CUdeviceptr, Shown>* ShownWith(CUdeviceptr address) const;
  // Registers host work for the next RunDeferred, which runs it before a candidate's next launch, while the device is
  // busy with the judge's own work. Dropped if its owner no longer exists.
  void Defer(std::weak_ptr<std::function<Status()>> work) { deferred_ = std::move(work); }
  Status RunDeferred();
  Result<PinnedBlock> AllocatePinned(size_t bytes);
  // Returns the memory that Allocate can still provide: free on the device plus kept.
  int64_t FreeBytes();

  // Returns seconds since the last wait ended: an upper bound on the device's idle time. 0 before the first wait.
  double idle_seconds() const;

  // Waits until all enqueued work is done. kFailed: `*error` says why, and the context is lost. kTimedOut: the context
  // is lost too.
  WaitResult Wait(double limit_seconds, CUresult* error);
  // Waits like Wait, for work of the harness: any failure of such work is the device's.
  Status WaitForHarness(std::string_view what);

 private:
  friend class DeviceBlock;
  friend class PinnedBlock;
  CudaContext(const CudaDriver& driver, CUdevice device) : driver_(driver), device_(device) {}
  // Returns a kept block of `least` to `most` bytes, or a new one of `least`.
  Result<DeviceBlock> KeptOrNew(size_t least, size_t most);
  CUresult Obtain(size_t bytes, CUdeviceptr* address);
  void Return(CUdeviceptr address);
  // Gives memory back to the driver, after all work that may use it.
  void GiveBack(const std::vector<uint64_t>& addresses);

  const CudaDriver& driver_;
  CUdevice device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent done_ = nullptr;  // event that a wait for the stream polls
  bool lost_ = false;  // the device failed: no call can succeed any more
  double last_wait_ended_ = 0;
  std::unique_ptr<VirtualMemory> virtual_;
  std::map<CUdeviceptr, Shown> shown_;
  std::weak_ptr<std::function<Status()>> deferred_;
  std::unique_ptr<KeptMemory> kept_;
};

}  // namespace hone
