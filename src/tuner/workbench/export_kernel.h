// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `kernel.py::function`: a Triton kernel becomes a candidate by the user's own Python, confined as a PyTorch module is,
// but that it may run the assembler which lies beside Triton (docs/any-compiler.md).
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
// Splits "kernel.py::function"; nullopt if the candidate is of another kind.
std::optional<KernelName> AsKernelName(const std::string& candidate);

// The candidate's text, as ReadCandidate gives it of a .honek file, compiled for the device of `facts`.
// kInvalidArgument: the file is at fault, in one sentence with the remedy. kUnavailable: no Python, or none with
// Triton.
Result<std::string> ExportKernel(const Task& task, const KernelName& name, const DeviceFacts& facts,
                                 const PythonOptions& python);

}  // namespace hone
