// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the winner of a run as one C++/CUDA header with one function.
//
//   cudaError_t hone::silu_and_mul(const __half* x, __half* out, int64_t tokens, int64_t d, cudaStream_t stream);
//
// The function executes a launch plan as the evaluator does: in each step it takes the first entry whose `when` holds,
// evaluates grid, block, shared memory, workspaces and arguments, and enqueues the launch. The device code stands in
// the header once for each binding of tunables that the plan uses, each time in a namespace of its own. For shapes at
// which the run did not show the winner to be faster, the seed runs instead. docs/apply.md describes the header for
// users.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/write/kernel_package.h"

namespace hone {

// Returns the header's text (C++17, for nvcc). kInvalidArgument when a plan needs a value that host code cannot
// compute.
Result<std::string> CudaHeader(const KernelPackage& package);

// Returns the function's declaration in one line, without a semicolon: "cudaError_t hone::silu_and_mul(const __half* x,
// …)". A plan with workspaces has two more functions, which the header describes.
std::string FunctionDeclaration(const KernelPackage& package);

// Returns the header's file name, "hone_silu_and_mul.cuh".
std::string CudaHeaderName(const KernelPackage& package);

// A parameter of the generated function. The PyTorch binding uses the same names and types.
struct HeaderParameter {
  std::string name;  // its name in C++
  std::string plan;  // its name in the task and in launch plans
  std::string type;  // "const __half*", "int64_t", "float"
};
struct HeaderSignature {
  std::string function;                  // "silu_and_mul"
  std::vector<HeaderParameter> tensors;  // without tensors whose storage another tensor owns
  std::vector<HeaderParameter> scalars;
  std::vector<HeaderParameter> dims;
};
HeaderSignature SignatureOf(const Task& task);

// Returns "float", "__half", "int64_t": the C++ type of a tensor's elements.
std::string_view HostElementType(DType dtype);

// Returns the origin of the kernels: "node 3 of run 20260921-000000-0001", "rmsnorm.tuned.cu".
std::string PackageOrigin(const KernelPackage& package);

// Returns the compiler options of the winner's plan and of the seed's together, without repeats.
std::vector<std::string> PackageOptions(const KernelPackage& package);

}  // namespace hone
