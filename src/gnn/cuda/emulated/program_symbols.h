// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the running program's own symbol table, to find the names of kernels and the addresses of their shared
// variables.
//
// A block runs on one OS thread, so `__shared__` is thread_local here. The shared variables of all kernels are
// function-local variables of the program's thread-local segment, nearly a megabyte. Because their addresses are known,
// a block can begin with undefined contents, and several blocks can be in progress at once. A kernel's name ends in
// "Kernel", and no other function with shared variables has such a name; variables of other kernels do not belong to a
// block. A stripped program has no such table: then names are missing and shared memory is not filled, and nothing else
// changes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::gnn::cuda::emulated {

struct SharedVariable {
  unsigned char* begin = nullptr;  // address on the calling OS thread
  size_t bytes = 0;
};
// Returns the shared variables that a block of `kernel` may use, at their addresses on the calling OS thread, sorted by
// address. They are function-local thread-local variables of namespace hone::gnn::cuda, without those of other kernels.
std::vector<SharedVariable> SharedVariablesOf(const void* kernel);

// Returns a kernel's name without namespaces and parameters, such as "GatherMeanKernel<float>"; "a kernel" if it is not
// known.
std::string KernelName(const void* function);

}  // namespace hone::gnn::cuda::emulated
