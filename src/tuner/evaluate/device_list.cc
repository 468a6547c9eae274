// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/device_list.h"

#include "tuner/device/sim/sim_session.h"
#ifdef HONE_WITH_CUDA
#include "base/file.h"
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/host_mode/host_mode_compiler.h"
#endif

namespace hone {

DeviceList ListDevices(const std::string& cuda_home, const std::string& cutlass_home, const std::string& search_path) {
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
    if (const auto cutlass = FindCutlassHeaders(cutlass_home); !cutlass.ok()) {
      list.missing.push_back("CUTLASS, for candidates that use CuTe: " + cutlass.status().message());
    }
    if (const auto nvcc = NvccHostMode(cuda_home, nvrtc.architecture, search_path); !nvcc.ok()) {
      list.missing.push_back("nvcc, for host mode and to time cuBLASLt: " + nvcc.status().message());
    }
    std::vector<std::string> tools = SplitSearchPath(search_path);
    if (!cuda_home.empty()) tools.push_back(cuda_home + "/bin");
    tools.push_back("/usr/local/cuda/bin");
    if (!FindExecutable("nvdisasm", tools).ok()) {
      list.missing.push_back("nvdisasm, for --sass: install the toolkit's cuda-nvdisasm package or put its folder on the PATH");
    }
  } else {
    list.missing.push_back("a GPU: " + gpus.status().message());
  }
#else
  (void)cuda_home, (void)cutlass_home, (void)search_path;
  list.missing.push_back("the CUDA device: this build was made without the CUDA toolkit");
#endif
  if (Result<DeviceFacts> simulated = SimulatedGpuFacts("h200"); simulated.ok()) list.devices.push_back(*simulated);
  return list;
}

}  // namespace hone
