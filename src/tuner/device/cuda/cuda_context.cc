// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/cuda_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/numbers/rounding.h"
#include "hone/base/units.h"

namespace hone {
namespace {

// Freed memory is kept up to kLeastKeptBytes or one kKeptShare-th of the device's memory, whichever is more, and within
// the limits of kept_memory.h.
constexpr size_t kLeastKeptBytes = 512 * static_cast<size_t>(kMiB);
constexpr size_t kKeptShare = 8;
constexpr double kHarnessLimitSeconds = 60;
// The driver keeps some memory for local arrays, printf and the like; allocating the last byte fails.
constexpr int64_t kReservedBytes = 256 * kMiB;

}  // namespace

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  if (this != &other) {
    Release();
    context_ = std::move(other.context_);
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void DeviceBlock::Release() {
  if (address_ != 0) context_->Return(address_);
  address_ = 0;
  bytes_ = 0;
  context_.reset();
}

PinnedBlock& PinnedBlock::operator=(PinnedBlock&& other) noexcept {
  if (this != &other) {
    Release();
    context_ = std::move(other.context_);
    address_ = std::exchange(other.address_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void PinnedBlock::Release() {
  if (address_ != nullptr && !context_->lost()) context_->driver().MemFreeHost(address_);
  address_ = nullptr;
  bytes_ = 0;
  context_.reset();
}

Result<std::shared_ptr<CudaContext>> CudaContext::Make(const CudaDriver& driver, int ordinal, uint64_t address_seed) {
  int count = 0;
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.DeviceGetCount(&count), "counting CUDA devices");
  if (ordinal < 0 || ordinal >= count) {
    return Status::Unavailable(fmt::format("there is no device cuda:{}: this machine shows {} ({})", ordinal, count,
                                           count == 0 ? "is CUDA_VISIBLE_DEVICES set?" : "they count from 0"));
  }
  CUdevice device = 0;
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.DeviceGet(&device, ordinal), "opening a CUDA device");
  std::shared_ptr<CudaContext> context(new CudaContext(driver, device));
  const std::string where = fmt::format("making a context on cuda:{}", ordinal);
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.DevicePrimaryCtxRetain(&context->context_, device), where);
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.CtxSetCurrent(context->context_), where);
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.StreamCreate(&context->stream_, CU_STREAM_NON_BLOCKING), where);
  HONE_CUDA_RETURN_IF_ERROR(driver, driver.EventCreate(&context->done_, CU_EVENT_DISABLE_TIMING), where);
  size_t free_bytes = 0, total_bytes = 0;
  if (driver.MemGetInfo(&free_bytes, &total_bytes) != CUDA_SUCCESS) total_bytes = 0;
  context->kept_ = std::make_unique<KeptMemory>(std::max(kLeastKeptBytes, total_bytes / kKeptShare));
  if (address_seed != 0) context->virtual_ = VirtualMemory::Make(driver, device, address_seed);
  return context;
}

CudaContext::~CudaContext() {
  if (lost_) return;
  if (kept_ != nullptr) GiveBack(kept_->ForgetKept());
  if (done_ != nullptr) driver_.EventDestroy(done_);
  if (stream_ != nullptr) driver_.StreamDestroy(stream_);
  if (context_ != nullptr) driver_.DevicePrimaryCtxRelease(device_);
}

Result<DeviceBlock> CudaContext::Allocate(int64_t bytes) {
  HONE_CHECK(bytes >= 0, "a negative size was asked for");
  if (bytes > (int64_t{1} << 50)) {
    return Status::Unavailable(fmt::format("{} bytes of device memory were asked for; no device has that", bytes));
  }
  const size_t unit = virtual_ != nullptr ? virtual_->granule() : static_cast<size_t>(bytes > kMiB ? 2 * kMiB : 64 * kKiB);
  const size_t rounded_bytes = RoundUp(std::max<size_t>(static_cast<size_t>(bytes), 1), unit);
  return KeptOrNew(rounded_bytes, rounded_bytes + rounded_bytes / 4);
}

Result<DeviceBlock> CudaContext::AllocateGranules(int64_t bytes) {
  HONE_CHECK(virtual_ != nullptr && bytes > 0, "whole granules are a matter of virtual memory");
  return KeptOrNew(static_cast<size_t>(bytes), static_cast<size_t>(bytes));
}

Result<DeviceBlock> CudaContext::KeptOrNew(size_t least, size_t most) {
  if (lost_) return Status::Device("the device was lost");
  if (const std::optional<KeptMemory::Block> block = kept_->Take(least, most)) {
    return DeviceBlock(shared_from_this(), block->address, block->bytes);
  }
  GiveBack(kept_->MakeRoom(least));
  CUdeviceptr address = 0;
  CUresult result = Obtain(least, &address);
  if (result == CUDA_ERROR_OUT_OF_MEMORY && kept_->kept_bytes() > 0) {
    GiveBack(kept_->ForgetKept());
    result = Obtain(least, &address);
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return Status::Unavailable(
        fmt::format("{} bytes of device memory were asked for and about {} are free", least, FreeBytes()));
  }
  HONE_CUDA_RETURN_IF_ERROR(driver_, result, fmt::format("allocating {} bytes of device memory", least));
  kept_->NoteAllocation(address, least);
  return DeviceBlock(shared_from_this(), address, least);
}

Result<CUdeviceptr> CudaContext::AllocateShared(int64_t* bytes, UniqueFd* descriptor) {
  if (lost_) return Status::Device("the device was lost");
  if (virtual_ == nullptr) return Status::Unavailable("this device's memory is not shared between processes");
  const size_t size = RoundUp(static_cast<size_t>(std::max<int64_t>(*bytes, 1)), virtual_->granule());
  CUdeviceptr address = 0;
  CUresult result = virtual_->CreateShared(size, &address, descriptor);
  if (result == CUDA_ERROR_OUT_OF_MEMORY && kept_->kept_bytes() > 0) {
    GiveBack(kept_->ForgetKept());
    result = virtual_->CreateShared(size, &address, descriptor);
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    return Status::ResourceExhausted(fmt::format("{} bytes of device memory were asked for and about {} are free", size, FreeBytes()));
  }
  if (result != CUDA_SUCCESS) return Status::Unavailable("memory cannot be shared with another process: " + driver_.Describe(result));
  *bytes = static_cast<int64_t>(size);
  return address;
}

CUresult CudaContext::Obtain(size_t bytes, CUdeviceptr* address) {
  return virtual_ != nullptr ? virtual_->Create(bytes, address) : driver_.MemAlloc(address, bytes);
}

void CudaContext::Show(CUdeviceptr address, size_t bytes, CUdeviceptr address_seen) {
  shown_[address] = {bytes, address_seen};
}

const std::pair<const CUdeviceptr, CudaContext::Shown>* CudaContext::ShownWith(CUdeviceptr address) const {
  const auto after = shown_.upper_bound(address);
  if (after == shown_.begin()) return nullptr;
  const auto& entry = *std::prev(after);
  return address - entry.first < entry.second.bytes ? &entry : nullptr;
}

CUdeviceptr CudaContext::Seen(CUdeviceptr address) const {
  const auto* shown = ShownWith(address);
  return shown == nullptr ? address : shown->second.seen + (address - shown->first);
}

Status CudaContext::RunDeferred() {
  const std::shared_ptr<std::function<Status()>> work = deferred_.lock();
  deferred_.reset();
  return work == nullptr ? Status::Ok() : (*work)();
}

Result<PinnedBlock> CudaContext::AllocatePinned(size_t bytes) {
  void* address = nullptr;
  HONE_CUDA_RETURN_IF_ERROR(driver_, driver_.MemHostAlloc(&address, std::max<size_t>(bytes, 1), CU_MEMHOSTALLOC_DEVICEMAP),
                            fmt::format("allocating {} bytes of pinned host memory", bytes));
  return PinnedBlock(shared_from_this(), address, bytes);
}

void CudaContext::Return(CUdeviceptr address) {
  if (!lost_) GiveBack(kept_->Keep(address));
}

void CudaContext::GiveBack(const std::vector<uint64_t>& addresses) {
  if (addresses.empty() || lost_) return;
  // MemFree waits for work that uses the memory; unmapping does not.
  if (virtual_ != nullptr && !WaitForHarness("work before memory is given back").ok()) return;
  for (const uint64_t address : addresses) {
    if (virtual_ != nullptr) {
      virtual_->Free(address);
    } else {
      driver_.MemFree(address);
    }
  }
}

int64_t CudaContext::FreeBytes() {
  size_t free_bytes = 0, total = 0;
  if (lost_ || driver_.MemGetInfo(&free_bytes, &total) != CUDA_SUCCESS) return 0;
  return std::max<int64_t>(static_cast<int64_t>(free_bytes + kept_->kept_bytes()) - kReservedBytes, 0);
}

double CudaContext::idle_seconds() const { return last_wait_ended_ == 0 ? 0 : SteadySeconds() - last_wait_ended_; }

WaitResult CudaContext::Wait(double limit_seconds, CUresult* error) {
  *error = CUDA_SUCCESS;
  if (lost_) {
    *error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return WaitResult::kFailed;
  }
  CUresult result = driver_.EventRecord(done_, stream_);
  if (result == CUDA_SUCCESS) {
    const double start = SteadySeconds();
    // The wait spins while the work may end any moment, and sleeps a little once it takes long.
    while ((result = driver_.EventQuery(done_)) == CUDA_ERROR_NOT_READY) {
      const double waited = SteadySeconds() - start;
      if (waited > limit_seconds) {
        lost_ = true;
        return WaitResult::kTimedOut;
      }
      if (waited > 5e-3) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } else if (waited > 2e-4) {
        std::this_thread::yield();
      }
    }
  }
  last_wait_ended_ = SteadySeconds();
  if (result == CUDA_SUCCESS) return WaitResult::kDone;
  *error = result;
  lost_ = true;
  return WaitResult::kFailed;
}

Status CudaContext::WaitForHarness(std::string_view what) {
  CUresult error;
  switch (Wait(kHarnessLimitSeconds, &error)) {
    case WaitResult::kDone: return Status::Ok();
    case WaitResult::kTimedOut:
      return Status::Device(fmt::format("{}: the device did not finish within {} s", what, kHarnessLimitSeconds));
    case WaitResult::kFailed: break;
  }
  return CudaStatus(driver_, error, what);
}

}  // namespace hone
