// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Zeroed anonymous memory that asks for huge pages: for tables that are read at random, where a miss of the
// translation buffer costs as much as a miss of the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/status.h"

namespace hone::gnn {

enum class PageKind : uint8_t {
  kHuge,   // MADV_HUGEPAGE, aligned to 2 MiB
  kSmall,  // MADV_NOHUGEPAGE: for measuring what the huge ones bring
};

// Move-only owner. Not thread-safe.
class HugeBuffer {
 public:
  HugeBuffer() = default;
  HugeBuffer(HugeBuffer&& other) noexcept { *this = static_cast<HugeBuffer&&>(other); }
  HugeBuffer& operator=(HugeBuffer&& other) noexcept;
  ~HugeBuffer();

  // All zero, aligned to 2 MiB. kResourceExhausted with the size and the system's text.
  static Result<HugeBuffer> Allocate(size_t bytes, PageKind pages = PageKind::kHuge);
  // How many were allocated in this process so far: lets a test show that a steady state allocates nothing.
  static int64_t allocations();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace hone::gnn
