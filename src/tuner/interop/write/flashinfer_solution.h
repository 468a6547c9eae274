// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a kernel in the formats of FlashInfer-Bench and SOL-ExecBench: one Solution in JSON, which contains the whole
// source.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/interop/write/kernel_package.h"
#include "tuner/interop/write/torch_extension.h"

namespace hone {

// Returns the file "TASK_solution.json". The source is one CUDA file with a binding for PyTorch. Its entry point takes
// the inputs of FlashInfer-Bench's definition in their order, then the outputs, which it fills. If the task was not
// made from a definition, the Solution names the task in its place. kInvalidArgument where the kernel needs what a
// Solution cannot express: compiler options, sizes that no tensor has, in-place tensors.
Result<GeneratedFile> FlashInferSolution(const KernelPackage& package);

// Returns the same file with the fields of SOL-ExecBench, which names compiler options and knows CUTLASS's folder.
// kInvalidArgument: the kernel needs sizes that no tensor has, or in-place tensors.
Result<GeneratedFile> SolExecBenchSolution(const KernelPackage& package);

// Returns the name of the Solution made from a candidate's file, which traces of its verdicts use too.
std::string SolutionName(const Task& task, const std::string& file);

}  // namespace hone
