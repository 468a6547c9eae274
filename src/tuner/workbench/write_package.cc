// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/write_package.h"

#include "base/files/file.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/flashinfer_solution.h"
#include "tuner/interop/write/launcher_note.h"
#include "tuner/interop/write/python_exports.h"
#include "tuner/interop/write/served_shapes.h"
#include "tuner/interop/write/serving_operator.h"

namespace hone {

Result<std::vector<GeneratedFile>> WritePackage(const KernelPackage& package, const std::string& out,
                                                PackageForm form) {
  std::vector<GeneratedFile> files;
  if (form == PackageForm::kKernelBench) {
    HONE_ASSIGN_OR_RETURN(GeneratedFile file, KernelBenchFile(package));
    files.push_back(std::move(file));
  } else if (form == PackageForm::kGpuMode) {
    HONE_ASSIGN_OR_RETURN(GeneratedFile file, GpuModeSubmission(package));
    files.push_back(std::move(file));
  } else if (form == PackageForm::kFlashInfer) {
    HONE_ASSIGN_OR_RETURN(GeneratedFile file, FlashInferSolution(package));
    files.push_back(std::move(file));
  } else if (form == PackageForm::kSolExecBench) {
    HONE_ASSIGN_OR_RETURN(GeneratedFile file, SolExecBenchSolution(package));
    files.push_back(std::move(file));
  } else {
    HONE_ASSIGN_OR_RETURN(std::string header, CudaHeader(package));
    HONE_ASSIGN_OR_RETURN(files, TorchExtension(package));
    files.insert(files.begin(), {CudaHeaderName(package), std::move(header), "the function: include this one"});
  }
  if (form == PackageForm::kTorch) {
    HONE_ASSIGN_OR_RETURN(GeneratedFile file, TorchOperator(package));
    files.push_back(std::move(file));
  }
  if (form == PackageForm::kSglKernel) {
    HONE_ASSIGN_OR_RETURN(GeneratedFile file, ServingOperator(package));
    files.push_back(std::move(file));
  }
  for (const GeneratedFile& file : files) HONE_RETURN_IF_ERROR(WriteFileAtomically(out + "/" + file.name, file.text));
  return files;
}

nlohmann::json PackageJson(const KernelPackage& package, const std::vector<GeneratedFile>& files,
                           const std::string& out) {
  nlohmann::json shapes = nlohmann::json::array(), names = nlohmann::json::array();
  for (const PackagedShape& s : package.shapes) {
    shapes.push_back({{"dims", s.dims},
                      {"winner_us", s.winner_us},
                      {"seed_us", s.seed_us},
                      {"speedup", {{"median", s.speedup.median}, {"ci95", {s.speedup.low, s.speedup.high}}}},
                      {"runs", s.wins ? "winner" : "seed"}});
  }
  for (const GeneratedFile& file : files) names.push_back(out + "/" + file.name);
  nlohmann::json node;  // number of the run's node; null: the kernel comes from a file
  if (!package.run.empty()) node = package.node;
  return {{"run", package.run},
          {"node", node},
          {"file", package.file},
          {"task", package.task.name},
          {"modelled", package.modelled},
          {"paired", package.paired},
          {"seed_when", package.seed_shapes},
          {"served_when", ServedWhen(package.winner.plan)},
          {"refused_unless", RefusedUnless(package)},
          {"function", FunctionDeclaration(package)},
          {"launcher", LauncherNoted(package.task.seed_source)},
          {"shapes", shapes},
          {"files", names}};
}

}  // namespace hone
