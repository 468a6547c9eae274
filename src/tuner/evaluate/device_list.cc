// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/device_list.h"

#include "tuner/device/sim/sim_session.h"
#ifdef HONE_WITH_CUDA
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#endif

namespace hone {

DeviceList ListDevices(const std::string& cuda_home) {
  DeviceList list;
#ifdef HONE_WITH_CUDA
  Result<std::vector<DeviceFacts>> gpus = ListCudaDevices();
  if (gpus.ok()) {
    list.devices = *gpus;
    NvrtcCompilerOptions nvrtc;
    nvrtc.cuda_home = cuda_home;
    nvrtc.architecture = "sm_80";
    if (Result<std::unique_ptr<NvrtcCompiler>> compiler = MakeNvrtcCompiler(nvrtc); !compiler.ok()) {
      list.missing.push_back("NVRTC, to compile for a GPU: " + compiler.status().message());
    }
  } else {
    list.missing.push_back("a GPU: " + gpus.status().message());
  }
#else
  (void)cuda_home;
  list.missing.push_back("the CUDA device: this build was made without the CUDA toolkit");
#endif
  if (Result<DeviceFacts> simulated = SimulatedGpuFacts("h200"); simulated.ok()) list.devices.push_back(*simulated);
  return list;
}

}  // namespace hone
