// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel as FlashInfer-Bench takes it: one Solution in JSON, with all its source.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/kernel_package.h"
#include "tuner/interop/torch_extension.h"

namespace hone {

// Returns the text of "TASK_solution.json". The source is one CUDA file with a binding for PyTorch; its entry point
// takes the definition's inputs in their order, then the outputs, which it fills. A task that was not made of a
// definition is called by its own name. kInvalidArgument where a Solution cannot carry what the kernel needs: compiler
// options, sizes that no tensor tells, in-place tensors.
Result<GeneratedFile> FlashInferSolution(const KernelPackage& package);

// Returns the name of the Solution of a candidate's file, here and in traces of its verdicts.
std::string SolutionName(const Task& task, const std::string& file);

}  // namespace hone
