// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a kernel of one of the three serving tasks with the schema of a serving engine's own operator (sgl-kernel's),
// so that the engine can use it without a change.
#pragma once

#include "hone/base/status.h"
#include "tuner/interop/cuda_header.h"
#include "tuner/interop/kernel_package.h"
#include "tuner/interop/torch_extension.h"

namespace hone {

// Returns "hone_TASK_sgl.py", to be placed beside the files of TorchExtension and CudaHeader:
// torch.ops.hone_sgl_kernel.NAME with sgl-kernel's schema, a function with the signature of sgl-kernel's, and
// install(), which puts it in that one's place. kInvalidArgument: the task does what no such operator does.
Result<GeneratedFile> ServingOperator(const KernelPackage& package);

}  // namespace hone
