// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocates zeroed anonymous memory with huge pages, for tables that are read at random, where a TLB miss costs as much
// as a cache miss.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/status.h"

namespace hone::gnn {

enum class PageKind : uint8_t {
  kHuge,   // MADV_HUGEPAGE, aligned to 2 MiB
  kSmall,  // MADV_NOHUGEPAGE: for measuring the gain of huge pages
};

// Owns the memory. Move-only. Not thread-safe.
class HugeBuffer {
 public:
  HugeBuffer() = default;
  HugeBuffer(HugeBuffer&& other) noexcept { *this = static_cast<HugeBuffer&&>(other); }
  HugeBuffer& operator=(HugeBuffer&& other) noexcept;
  ~HugeBuffer();

  // Allocates zeroed memory, aligned to 2 MiB. kResourceExhausted with the size and the system's text.
  static Result<HugeBuffer> Allocate(size_t bytes, PageKind pages = PageKind::kHuge);
  // Returns the number of allocations in this process so far, so that a test can show that the steady state makes none.
  static int64_t allocations();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace hone::gnn
