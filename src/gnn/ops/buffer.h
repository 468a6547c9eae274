// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds memory that grows to the largest batch seen and is then kept, so that the steady state allocates nothing.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/numbers/rounding.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

// Uninitialised elements of a trivial type, aligned to a cache line. A large buffer is on huge pages if the system has
// them: aggregation reads rows at random, and with 4 KiB pages every row would cost a TLB miss.
template <typename T>
class Buffer {
 public:
  // Returns at least `count` elements; the content is lost when the buffer has to grow.
  T* Resize(int64_t count) {
    if (count > capacity_) {
      memory_.reset();
      // Batch sizes vary by a few per cent: with an eighth more, the buffer grows once and not with every batch.
      const int64_t count_with_room = count + count / 8;
      size_t bytes = static_cast<size_t>(count_with_room) * sizeof(T);
      const size_t alignment = bytes >= kHuge ? kHuge / 2 : 64;
      bytes = RoundUp(bytes, alignment);
      void* memory = std::aligned_alloc(alignment, bytes);
      if (memory == nullptr) throw std::bad_alloc();
      if (alignment > 64) madvise(memory, bytes, MADV_HUGEPAGE);
      memory_.reset(static_cast<T*>(memory));
      capacity_ = static_cast<int64_t>(bytes / sizeof(T));
    }
    return memory_.get();
  }
  Matrix<T> Resize(int64_t rows, int64_t cols) { return {Resize(rows * cols), rows, cols, cols}; }
  T* data() const { return memory_.get(); }
  int64_t capacity() const { return capacity_; }

 private:
  static constexpr size_t kHuge = size_t{4} << 20;
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
  int64_t capacity_ = 0;
};

}  // namespace hone::gnn
