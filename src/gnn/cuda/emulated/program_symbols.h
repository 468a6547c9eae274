// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the running program's own symbol table: names of kernels, and where their shared variables are.
//
// `__shared__` is thread_local here (a block runs on one OS thread), so the shared variables of all kernels are
// function-local variables of the program's thread-local segment, nearly a megabyte. Knowing them lets a block begin
// with undefined contents and several blocks be in progress at once. A kernel's name ends in "Kernel", and no other
// function with shared variables has such a name: variables of other kernels do not belong to a block. A stripped
// program has no such table: then names are missing and shared memory is not filled, and nothing else changes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::gnn::cuda::emulated {

struct SharedVariable {
  unsigned char* begin = nullptr;  // on the calling OS thread
  size_t bytes = 0;
};
// Returns the shared variables that a block of `kernel` may use on the calling OS thread: function-local thread-local
// variables of namespace hone::gnn::cuda, without those of other kernels; sorted by address.
std::vector<SharedVariable> SharedVariablesOf(const void* kernel);

// Returns "GatherMeanKernel<float>", without namespaces and parameters; "a kernel" when the name is not known.
std::string KernelName(const void* function);

}  // namespace hone::gnn::cuda::emulated
