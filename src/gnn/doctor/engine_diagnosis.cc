// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/doctor/engine_diagnosis.h"

#include <fmt/format.h>

#include "doctor/machine_checks.h"
#include "gnn/dist/nccl_communicator.h"
#include "gnn/ops/linear.h"

namespace hone::gnn {

Diagnosis DiagnoseEngine(const EngineSurroundings& surroundings) {
  Diagnosis diagnosis;
  CheckGroup cpu{"The CPU", {ProcessorsCheck()}};
  cpu.checks.push_back({"blas", "matrix products", Standing::kHere, "OpenBLAS, with its kernels for " + ProductKernels(), "", ""});
  cpu.checks.push_back(MemoryCheck());
  cpu.checks.push_back(HugePagesCheck());
  cpu.checks.push_back(FolderCheck("folder", "this folder", surroundings.folder, "takes the graphs and checkpoints that are written to it",
                                   "go to another folder, or name one in the command", false));

  CheckGroup gpu{"A GPU", {}};
  const char* brings = "trains and predicts several times as fast as the CPU";
  if (!surroundings.gpus.ok()) {
    gpu.checks.push_back({"gpu", "GPU and driver", Standing::kMissing, surroundings.gpus.status().message(), brings, ""});
  } else {
    for (const std::string& line : *surroundings.gpus) gpu.checks.push_back({"gpu", "GPU and driver", Standing::kHere, line, brings, ""});
    const bool has_products = surroundings.products.ok();
    gpu.checks.push_back({"cublaslt", "cuBLASLt", has_products ? Standing::kHere : Standing::kMissing,
                          has_products ? "here" : surroundings.products.message(),
                          "computes the matrix products on a GPU, which does nothing without it", ""});
    const Result<std::string> nccl = NcclVersion(surroundings.nccl_library);
    gpu.checks.push_back({"nccl", "NCCL", nccl.ok() ? Standing::kHere : Standing::kMissing, nccl.ok() ? *nccl : nccl.status().message(),
                          "lets GPUs exchange gradients that cannot read one another's memory, as those of several hosts", ""});
  }
  diagnosis.groups = {std::move(cpu), std::move(gpu)};
  Conclude(diagnosis);
  const bool on_gpu = surroundings.gpus.ok() && surroundings.products.ok();
  diagnosis.summary = on_gpu ? "Training and inference run on the GPU (--device auto) and on the CPU."
                             : "Training and inference run on the CPU.";
  return diagnosis;
}

}  // namespace hone::gnn
