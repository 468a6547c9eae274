// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides large arrays that start as zeros and use memory only where accessed: shadow cells, stacks, bitmaps.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "hone/base/status.h"

namespace hone::sim {

// Requires that T is trivial and that its zero is all bits zero. Move-only. Running out of address space means that a
// limit was set wrongly, hence a check and not a Status.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t count) : size_(count) {
    if (count == 0) return;
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    HONE_CHECK(memory != MAP_FAILED, "cannot reserve " + std::to_string(count * sizeof(T)) + " bytes of addresses");
    data_ = static_cast<T*>(memory);
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    if (this != &other) {
      Free();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~ZeroedArray() { Free(); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  void Free() {
    if (data_ != nullptr) munmap(data_, size_ * sizeof(T));
  }
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hone::sim
