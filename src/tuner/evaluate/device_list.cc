// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/device_list.h"

#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/device/sim/sim_session.h"
#include "tuner/evaluate/gpu_tools.h"
#ifdef HONE_WITH_CUDA
#include "tuner/device/cuda/cuda_session.h"
#endif

namespace hone {

DeviceList ListDevices(const std::string& cuda_home, const std::string& cutlass_home, const std::string& search_path) {
  DeviceList list;
#ifdef HONE_WITH_CUDA
  Result<std::vector<DeviceFacts>> gpus = ListCudaDevices();
  if (gpus.ok()) {
    list.devices = *gpus;
    for (const Check& check : GpuToolChecks({cuda_home, cutlass_home, search_path})) {
      if (check.standing == Standing::kHere) continue;
      list.missing.push_back(check.title + ", which " + check.brings + ": " + check.found + (check.remedy.empty() ? "" : "; " + check.remedy));
    }
  } else {
    list.missing.push_back("a GPU: " + gpus.status().message());
  }
#else
  (void)cuda_home, (void)cutlass_home, (void)search_path;
  list.missing.push_back("the CUDA device: this build was made without it (`make build CMAKE_FLAGS=-DHONE_CUDA=ON` builds it)");
#endif
  // The default simulated GPU is listed first, under its short name; the others follow under their own names.
  const Result<DeviceFacts> usual = SimulatedGpuFacts("");
  if (usual.ok()) list.devices.push_back(*usual);
  for (const std::string& name : sim::GpuModelNames()) {
    Result<DeviceFacts> facts = SimulatedGpuFacts(name);
    if (facts.ok() && (!usual.ok() || facts->name != usual->name)) list.devices.push_back(*facts);
  }
  return list;
}

std::vector<DeviceFacts> ListGpus() {
#ifdef HONE_WITH_CUDA
  Result<std::vector<DeviceFacts>> gpus = ListCudaDevices();
  if (gpus.ok()) return *std::move(gpus);
#endif
  return {};
}

}  // namespace hone
