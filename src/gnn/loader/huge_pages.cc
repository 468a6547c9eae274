// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/huge_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "gnn/graph/parallel.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // headers older than Linux 6.1 lack it
#endif

namespace hone::gnn {
namespace {

constexpr int64_t kPiece = int64_t{32} << 20;  // bytes that one thread moves at a time
constexpr int64_t kSmallPage = 4096;

// Returns whether the system's setting forbids huge pages for memory that asks for them.
bool HugePagesForbidden() {
  const int file = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char text[64] = {};
  const ssize_t got = read(file, text, sizeof(text) - 1);
  close(file);
  return got <= 0 || std::strstr(text, "[never]") != nullptr;
}

// Returns whether some pages of the memory, one in each huge page, are private to this process. `pagemap` is
// /proc/self/pagemap, which has 64 bits a page: bit 63 says that it is present, bit 61 that it belongs to a file or to
// shared memory, and bit 56 that only this process maps it.
bool HasPrivatePages(int pagemap, uintptr_t begin, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(kHugePage)) {
    uint64_t page = 0;
    const auto place = static_cast<off_t>((begin + static_cast<uintptr_t>(at)) / kSmallPage * sizeof(page));
    if (pread(pagemap, &page, sizeof(page), place) != sizeof(page)) return false;
    const bool present = (page >> 63 & 1) != 0, shared = (page >> 61 & 1) != 0, exclusive = (page >> 56 & 1) != 0;
    if (!present || shared || !exclusive) return false;
  }
  return true;
}

}  // namespace

int64_t MoveToHugePages(const void* memory, int64_t bytes, int threads) {
  if (bytes < kLeastToMove || HugePagesForbidden()) return 0;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + static_cast<uintptr_t>(bytes)) / kHugePage * kHugePage;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return 0;
  const auto began = std::chrono::steady_clock::now();
  std::atomic<bool> refused{false};
  std::atomic<int64_t> moved{0};
  const auto whole_bytes = static_cast<int64_t>(end - begin);
  ParallelPieces(threads, (whole_bytes + kPiece - 1) / kPiece, [&](int64_t piece) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    if (refused.load() || passed.count() > kMostSecondsToMove) return;
    const uintptr_t from = begin + static_cast<uintptr_t>(piece * kPiece);
    const int64_t size = std::min(kPiece, static_cast<int64_t>(end - from));
    if (!HasPrivatePages(pagemap, from, size)) return;
    if (madvise(reinterpret_cast<void*>(from), static_cast<size_t>(size), MADV_COLLAPSE) == 0) {
      moved.fetch_add(size);
    } else {
      refused.store(true);  // no huge pages are left, or the system knows no such request
    }
  });
  close(pagemap);
  return moved.load();
}

}  // namespace hone::gnn
