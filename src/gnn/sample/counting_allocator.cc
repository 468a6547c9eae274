// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the global operator new of a test program that links this file. The aligned forms are the library's own.
#include "gnn/sample/counting_allocator.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
thread_local int64_t of_this_thread = 0;
std::atomic<int64_t> of_all_threads{0};
}  // namespace

void* operator new(size_t bytes) {
  ++of_this_thread;
  of_all_threads.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace hone::gnn {
int64_t AllocationsOfThisThread() { return of_this_thread; }
int64_t AllocationsOfAllThreads() { return of_all_threads.load(std::memory_order_relaxed); }
}  // namespace hone::gnn
