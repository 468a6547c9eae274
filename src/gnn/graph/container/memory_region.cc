// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See memory_region.h.
#include "gnn/graph/container/memory_region.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/files/file.h"

namespace hone::gnn {
namespace {
constexpr size_t kHugePage = size_t{2} << 20;
}

MemoryRegion& MemoryRegion::operator=(MemoryRegion&& other) noexcept {
  if (this != &other) {
    if (base_ != nullptr) munmap(base_, mapped_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    base_ = std::exchange(other.base_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
  }
  return *this;
}

MemoryRegion::~MemoryRegion() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

// Maps `bytes` at an address that is aligned for huge pages: of the file `fd`, shared and writable, or of anonymous
// memory if `fd` is negative.
Result<MemoryRegion> MemoryRegion::Reserve(int fd, int64_t bytes, const std::string& what) {
  MemoryRegion region;
  region.size_ = bytes;
  if (bytes <= 0) return region;
  const bool huge = static_cast<size_t>(bytes) >= kHugePage;
  const auto refused = [&] {
    return Status::ResourceExhausted(fmt::format("{} needs {} MiB of memory: {}", what, (bytes >> 20) + 1,
                                                 std::strerror(errno)));
  };
  // mmap aligns to 4 KiB only; a huge page needs its own alignment, so one page more is mapped and the region starts
  // inside.
  region.mapped_ = static_cast<size_t>(bytes) + (huge ? kHugePage : 0);
  void* base = mmap(nullptr, region.mapped_, fd < 0 ? PROT_READ | PROT_WRITE : PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    region.mapped_ = 0;
    return refused();
  }
  region.base_ = base;
  uintptr_t address = reinterpret_cast<uintptr_t>(base);
  if (huge) address = (address + kHugePage - 1) & ~(kHugePage - 1);
  if (fd >= 0 && mmap(reinterpret_cast<void*>(address), static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    return refused();
  }
  // This is only advice: everything works without huge pages, but more slowly.
  if (huge) (void)madvise(reinterpret_cast<void*>(address), static_cast<size_t>(bytes), MADV_HUGEPAGE);
  region.data_ = reinterpret_cast<std::byte*>(address);
  return region;
}

Result<MemoryRegion> MemoryRegion::Anonymous(int64_t bytes, const std::string& what) { return Reserve(-1, bytes, what); }

Result<MemoryRegion> MemoryRegion::Shared(int fd, int64_t bytes, const std::string& what) {
  return Reserve(fd, bytes, what);
}

Result<MemoryRegion> MemoryRegion::MapFile(int fd, int64_t bytes, const std::string& path) {
  MemoryRegion region;
  if (bytes <= 0) return region;
  void* base = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return Status::Io(ErrnoMessage("map", path, errno));
  region.base_ = base;
  region.mapped_ = static_cast<size_t>(bytes);
  region.size_ = bytes;
  region.data_ = static_cast<std::byte*>(base);
  return region;
}

}  // namespace hone::gnn
