// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts a test program's allocations, if it links counting_allocator.cc, so that "allocates nothing in the steady
// state" can be tested.
#pragma once

#include <cstdint>

namespace hone::gnn {

int64_t AllocationsOfThisThread();
int64_t AllocationsOfAllThreads();

}  // namespace hone::gnn
