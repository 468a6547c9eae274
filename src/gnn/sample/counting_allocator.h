// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: a program that links counting_allocator.cc counts its allocations, so that "allocates nothing in the
// steady state" is something that can fail.
#pragma once

#include <cstdint>

namespace hone::gnn {

int64_t AllocationsOfThisThread();
int64_t AllocationsOfAllThreads();

}  // namespace hone::gnn
