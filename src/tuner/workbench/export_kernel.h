// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes a candidate from a Triton kernel that is named as `kernel.py::function`. The user's own Python
// compiles it in a process that is confined like a PyTorch module's, except that it may run the assembler in Triton's
// package (docs/any-compiler.md).
#pragma once

#include <optional>
#include <string>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/torch/python_process.h"

namespace hone {

struct KernelName {
  std::string file, function;
};
// Splits "kernel.py::function"; nullopt if the candidate's name has another form.
std::optional<KernelName> AsKernelName(const std::string& candidate);

// Compiles the kernel for the device of `facts` and returns the candidate's text, as ReadCandidate does for a .honek
// file. Returns kInvalidArgument, with the remedy, if the file is at fault, and kUnavailable if there is no Python with
// Triton.
Result<std::string> ExportKernel(const Task& task, const KernelName& name, const DeviceFacts& facts,
                                 const PythonOptions& python);

}  // namespace hone
