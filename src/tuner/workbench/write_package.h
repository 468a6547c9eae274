// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes a kernel in forms that other programs can use: a C++/CUDA header with a dispatch function, a PyTorch
// extension, or a benchmark's submission.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/interop/write/kernel_package.h"
#include "tuner/interop/write/torch_extension.h"

namespace hone {

// The form in which a kernel is written.
enum class PackageForm {
  kExtension,     // the header and a PyTorch extension
  kTorch,         // the header, the extension, and an operator of torch.library
  kKernelBench,   // one Python file with a ModelNew
  kFlashInfer,    // one JSON file, a Solution
  kSolExecBench,  // one JSON file, a Solution with SOL-ExecBench's fields
  kGpuMode,       // one Python file, a submission to a problem in GPU MODE's format
  kSglKernel,     // the extension, and an operator with the schema of sgl-kernel's own
};

// Writes the files of `package` to the folder `out`, which is made if it is missing. Returns the written files; the
// header, or the only file, comes first.
Result<std::vector<GeneratedFile>> WritePackage(const KernelPackage& package, const std::string& out,
                                                PackageForm form = PackageForm::kExtension);
// Returns the fields of `hone apply --json` (docs/apply.md).
nlohmann::json PackageJson(const KernelPackage& package, const std::vector<GeneratedFile>& files,
                           const std::string& out);

}  // namespace hone
