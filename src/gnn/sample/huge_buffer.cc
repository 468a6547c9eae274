// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/sample/huge_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/numbers/rounding.h"

namespace hone::gnn {
namespace {
constexpr size_t kHugePage = size_t{2} << 20;
std::atomic<int64_t> allocation_count{0};
}  // namespace

HugeBuffer& HugeBuffer::operator=(HugeBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HugeBuffer::~HugeBuffer() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Result<HugeBuffer> HugeBuffer::Allocate(size_t bytes, PageKind pages) {
  const size_t rounded = RoundUp(bytes, kHugePage);
  HugeBuffer buffer;
  if (rounded == 0) return buffer;
  // mmap aligns to 4 KiB only, so one huge page more is mapped and the ends are unmapped.
  void* const mapped =
      mmap(nullptr, rounded + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return Status::ResourceExhausted(
        fmt::format("cannot allocate {} bytes of memory: {}; use a smaller batch or fewer threads", rounded, std::strerror(errno)));
  }
  auto* const begin = static_cast<std::byte*>(mapped);
  const size_t skip = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (skip > 0) munmap(begin, skip);
  if (skip < kHugePage) munmap(begin + skip + rounded, kHugePage - skip);
  buffer.data_ = begin + skip;
  buffer.bytes_ = rounded;
  // This is only advice: a kernel without huge pages refuses it, and the buffer works as well, but more slowly.
  (void)madvise(buffer.data_, rounded, pages == PageKind::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

int64_t HugeBuffer::allocations() { return allocation_count.load(std::memory_order_relaxed); }

}  // namespace hone::gnn
