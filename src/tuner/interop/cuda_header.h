// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The winner of a run as one C++/CUDA header with one function.
//
//   cudaError_t hone::silu_and_mul(const __half* x, __half* out, int64_t tokens, int64_t d, cudaStream_t stream);
//
// The function does what the evaluator does with a plan: takes the first entry of each step whose `when` holds,
// evaluates grid, block, shared memory, workspaces and arguments, and enqueues. Every binding of tunables that the
// plan can reach is compiled in a namespace of its own. Where the run did not show the winner to be faster, the seed
// runs instead. docs/interop.md tells users about it.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/kernel_package.h"

namespace hone {

// The header's text (C++17, to be compiled by nvcc). kInvalidArgument when a plan asks what host code cannot answer.
Result<std::string> CudaHeader(const KernelPackage& package);

// The function's declaration in one line, without a semicolon: "cudaError_t hone::silu_and_mul(const __half* x, …)". A
// plan with workspaces has two more functions, which the header describes.
std::string FunctionDeclaration(const KernelPackage& package);

// "hone_silu_and_mul.cuh"
std::string CudaHeaderName(const KernelPackage& package);

// How the generated function calls things; the PyTorch binding calls them the same way.
struct HeaderParameter {
  std::string name;  // C++ name
  std::string plan;  // the task's name for it
  std::string type;  // "const __half*", "int64_t", "float"
};
struct HeaderSignature {
  std::string function;                  // "silu_and_mul"
  std::vector<HeaderParameter> tensors;  // tensors that share another's storage are left out
  std::vector<HeaderParameter> scalars;
  std::vector<HeaderParameter> dims;
};
HeaderSignature SignatureOf(const Task& task);

// "float", "__half", "int64_t": what a tensor's elements are in C++.
std::string_view HostElementType(DType dtype);

// Where the kernels come from: "node 3 of run 20260921-000000-0001", "rmsnorm.tuned.cu".
std::string PackageOrigin(const KernelPackage& package);

// Compiler options of both plans together, without repeats.
std::vector<std::string> PackageOptions(const KernelPackage& package);

}  // namespace hone
