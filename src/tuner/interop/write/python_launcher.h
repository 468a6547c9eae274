// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes Python text that compiles a kernel's generated header and launches it through ctypes. A PyTorch extension
// compiles PyTorch's own headers with the kernel, which takes a minute or more; this takes seconds. Library calls of
// the plan (`[[call]]`) are made by Python, through PyTorch.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/write/kernel_package.h"

namespace hone {

// Returns Python text that defines _kernel(), which takes the task's inputs, in-place tensors, scalars and those sizes
// that no tensor has, in this order, and returns the outputs: a tensor, a tuple of them, or None if there are none.
// _kernel() raises ValueError for tensors of other dtypes, shapes, strides or devices than the task's. It runs on the
// current stream. The first call compiles the kernel; _load() does only that. `library` names the compiled library.
// kInvalidArgument: an output's shape cannot be written in Python.
Result<std::string> PythonLauncher(const KernelPackage& package, const std::string& library);

// Returns a Python string literal whose value is exactly `text`.
std::string PythonTripleQuoted(const std::string& text);

// Returns an expression over dimensions in Python. Sizes are whole and not negative, so division is `//`.
// kInvalidArgument: it has an operator that Python writes in another order (?: or !).
Result<std::string> PythonSizeExpression(const std::string& text);

// Returns Python code that computes a task's dimensions from tensors, indented by `indent`. `sizes`: values of
// dimensions that no tensor has; dimensions in neither are left out.
std::string PythonDimensions(const Task& task, const std::string& indent, const Dims& sizes);

}  // namespace hone
