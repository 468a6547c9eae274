// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a kernel with the schema of the corresponding operator of sgl-kernel, a serving engine's library, so that the
// engine can use it unchanged. There are such operators for three tasks.
#pragma once

#include "hone/base/status.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/kernel_package.h"
#include "tuner/interop/write/torch_extension.h"

namespace hone {

// Returns the file "hone_TASK_sgl.py", which needs the files of TorchExtension and CudaHeader in the same folder. It
// has torch.ops.hone_sgl_kernel.NAME with sgl-kernel's schema, a Python function with the signature of sgl_kernel.NAME,
// and install(), which replaces sgl_kernel.NAME by that function. kInvalidArgument: sgl-kernel has no operator for the
// task.
Result<GeneratedFile> ServingOperator(const KernelPackage& package);

}  // namespace hone
