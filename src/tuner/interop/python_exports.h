// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a kernel to Python: as a ModelNew in one file for KernelBench's harness, and as an operator of torch.library
// that works with torch.compile and torch.export. Both build the generated header on first use.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/kernel_package.h"
#include "tuner/interop/torch_extension.h"

namespace hone {

// Returns "TASK_model_new.py": the module of the task's reference.py, word for word, and a class ModelNew derived from
// it, whose forward launches the kernel on the module's own parameters and buffers. `__init__` is the original's, so
// the same seed gives the same weights. kInvalidArgument: the task's answer is not a PyTorch module.
Result<GeneratedFile> KernelBenchFile(const KernelPackage& package);

// Returns "submission.py", as GPU MODE's leaderboards take it: custom_kernel takes the inputs apart as the problem gives them, and returns
// results as its reference does. kInvalidArgument: the task was not made of a problem in that format, or its kernel needs what a
// submission lacks.
Result<GeneratedFile> GpuModeSubmission(const KernelPackage& package);

// Returns "hone_TASK_op.py", to be placed beside the files of TorchExtension and CudaHeader: torch.ops.hone.TASK with a
// fake kernel, on the current stream and device. It has no backward pass: using one raises an error.
Result<GeneratedFile> TorchOperator(const KernelPackage& package);

// The extension's source with the header's text in the place of its #include: one file that builds alone.
Result<std::string> StandAloneBinding(const KernelPackage& package);

}  // namespace hone
