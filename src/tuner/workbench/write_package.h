// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel leaves for somebody's program: as a C++/CUDA header with a dispatch function, and as a PyTorch extension.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/interop/kernel_package.h"
#include "tuner/interop/torch_extension.h"

namespace hone {

// What a kernel leaves as.
enum class PackageForm {
  kExtension,    // the header and a PyTorch extension
  kTorch,        // these, and an operator of torch.library
  kKernelBench,  // one Python file with a ModelNew
  kFlashInfer,   // one JSON file, a Solution
  kGpuMode,      // one Python file, a submission to a problem in GPU MODE's format
  kSglKernel,    // the extension, and an operator with the schema of sgl-kernel's own
};

// Writes the files of `package` to the folder `out`, made where it is missing; gives what was written, the header or the one
// file first.
Result<std::vector<GeneratedFile>> WritePackage(const KernelPackage& package, const std::string& out,
                                                PackageForm form = PackageForm::kExtension);
// The fields of `hone apply --json` (docs/interop.md).
nlohmann::json PackageJson(const KernelPackage& package, const std::vector<GeneratedFile>& files,
                           const std::string& out);

}  // namespace hone
