// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a kernel to Python: as a class ModelNew for KernelBench's harness, as a submission to GPU MODE's
// leaderboards, and as an operator of torch.library that works with torch.compile and torch.export.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/write/kernel_package.h"
#include "tuner/interop/write/torch_extension.h"

namespace hone {

// Returns the file "TASK_model_new.py", which builds the kernel on first use. It contains the module of the task's
// reference.py, unchanged, and a class ModelNew derived from it, whose forward() launches the kernel on the module's
// own parameters and buffers. `__init__` is the original's, so that the same random seed gives the same weights.
// kInvalidArgument: the task's reference is not a PyTorch module.
Result<GeneratedFile> KernelBenchFile(const KernelPackage& package);

// Returns the file "submission.py" for a GPU MODE leaderboard: its custom_kernel() takes the problem's inputs and
// returns results as the problem's reference does. kInvalidArgument: the task was not made from a problem in that
// format, or its kernel needs what a submission lacks.
Result<GeneratedFile> GpuModeSubmission(const KernelPackage& package);

// Returns the file "hone_TASK_op.py", which needs the files of TorchExtension and CudaHeader in the same folder and
// builds them on first use. It registers torch.ops.hone.TASK, which runs on the current stream and device, with a fake
// kernel for tracing. The operator has no backward pass; autograd raises an error.
Result<GeneratedFile> TorchOperator(const KernelPackage& package);

// Returns the extension's source with the generated header's text in place of its #include, as one file that can be
// built alone.
Result<std::string> StandAloneBinding(const KernelPackage& package);

}  // namespace hone
