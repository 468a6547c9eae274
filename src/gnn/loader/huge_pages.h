// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests huge pages for memory that other code allocates. A batch's block then needs hundreds of page faults in place
// of tens of thousands, and random reads of a graph's arrays miss the TLB less often.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::gnn {

inline constexpr size_t kHugePage = size_t{2} << 20;

// Requests huge pages for every whole huge page within the memory, which must not have been written yet. The system may
// ignore the request; no error is reported.
inline void AskForHugePages(void* memory, size_t bytes) {
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = (reinterpret_cast<uintptr_t>(memory) + bytes) / kHugePage * kHugePage;
  if (memory != nullptr && end > begin) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// Moves memory that another part of the process has filled to huge pages, in place; readers notice nothing. Only
// private memory that no other process shares is moved, because a shared page would be copied. Less than kLeastToMove
// bytes stay where they are, and so does what is not done after kMostSecondsToMove. Nothing happens where the system's
// setting is "never", or where Linux is older than 6.1. Returns the bytes of the huge pages that the system provided.
inline constexpr int64_t kLeastToMove = int64_t{16} << 20;
inline constexpr double kMostSecondsToMove = 3;
int64_t MoveToHugePages(const void* memory, int64_t bytes, int threads);

// Makes an empty vector `count` elements long, on huge pages if it is large.
template <typename T>
void ResizeOnHugePages(std::vector<T>& values, size_t count) {
  values.reserve(count);
  AskForHugePages(values.data(), count * sizeof(T));
  values.resize(count);
}

}  // namespace hone::gnn
