// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/gpu_tools.h"

#ifdef HONE_WITH_CUDA
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/files/file.h"
#include "tuner/device/cuda/counters/counter_source.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/host_mode/host_mode_compiler.h"
#endif

namespace hone {
#ifdef HONE_WITH_CUDA
namespace {

std::vector<std::string> ToolFolders(const GpuToolPlaces& places) {
  std::vector<std::string> folders = SplitSearchPath(places.search_path);
  if (!places.cuda_home.empty()) folders.push_back(places.cuda_home + "/bin");
  folders.insert(folders.end(), {"/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer"});
  if (!places.cuda_home.empty()) folders.push_back(places.cuda_home + "/compute-sanitizer");
  return folders;
}

// Checks a program of the CUDA toolkit. `brings`: what the program is needed for; `package`: the package that has it.
Check CheckTool(const GpuToolPlaces& places, const char* name, const char* brings, const char* package) {
  Check check{.name = name, .title = name, .brings = brings};
  const Result<std::string> tool_path = FindExecutable(name, ToolFolders(places));
  check.found = tool_path.ok() ? *tool_path : "not on the PATH, nor in the CUDA toolkit's usual folder";
  if (tool_path.ok()) return check;
  check.standing = Standing::kMissing;
  check.remedy = fmt::format("install the toolkit's {} package or put its folder on the PATH", package);
  return check;
}

}  // namespace

std::vector<Check> GpuToolChecks(const GpuToolPlaces& places) {
  std::vector<Check> checks;
  // If the tool is missing, the status's message names the remedy.
  const auto add = [&](const char* name, const char* title, const char* brings, const Status& status, std::string found) {
    checks.push_back({name, title, status.ok() ? Standing::kHere : Standing::kMissing, status.ok() ? std::move(found) : status.message(),
                      brings, ""});
  };
  NvrtcCompilerOptions nvrtc;
  nvrtc.cuda_home = places.cuda_home;
  nvrtc.architecture = "sm_80";  // any architecture: nothing is compiled
  const Result<std::unique_ptr<NvrtcCompiler>> compiler = MakeNvrtcCompiler(nvrtc);
  add("nvrtc", "NVRTC", "compiles candidates for a GPU", compiler.status(), compiler.ok() ? (*compiler)->Fingerprint() : "");
  const Result<CutlassHeaders> cutlass = FindCutlassHeaders(places.cutlass_home);
  add("cutlass", "CUTLASS", "serves candidates that use CuTe", cutlass.status(),
      cutlass.ok() ? fmt::format("{}.{}.{} in {}", cutlass->major, cutlass->minor, cutlass->patch, cutlass->include) : "");
  const Result<HostModeCompilerOptions> nvcc = NvccHostMode(places.cuda_home, nvrtc.architecture, places.search_path);
  add("nvcc", "nvcc", "compiles host-mode candidates, and what times cuBLASLt", nvcc.status(), nvcc.ok() ? nvcc->command.front() : "");
  checks.push_back(CheckTool(places, "nvdisasm", "shows machine code beside the source (--sass)", "cuda-nvdisasm"));
  Check sanitizer = CheckTool(places, "compute-sanitizer", "watches the memory of machine code's small cases", "cuda-sanitizer");
  sanitizer.name = "compute_sanitizer";
  checks.push_back(std::move(sanitizer));
  return checks;
}

std::vector<Check> CounterChecks(const GpuToolPlaces& places, const std::string& driver_parameters) {
  Check cupti{.name = "cupti", .title = "CUPTI", .brings = "reads a GPU's counters for --profile"};
  cupti.standing = Standing::kMissing;
  for (const std::string& library : CuptiLibraries()) {
    void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    dlclose(handle);
    cupti.standing = Standing::kHere;
    cupti.found = library;
    break;
  }
  if (cupti.standing == Standing::kMissing) {
    cupti.found = "not where the loader looks, nor in the CUDA toolkit's usual folders";
    cupti.remedy = "install the toolkit's cuda-cupti package or put its folder on LD_LIBRARY_PATH";
  }
  const Check ncu = CheckTool(places, "ncu", "reads a GPU's counters where CUPTI cannot", "nsight-compute");

  Check permission{.name = "counter_permission", .title = "counters", .brings = "lets --profile count on a GPU"};
  const Result<std::string> parameters = ReadFile(driver_parameters, 1 << 20);
  const bool for_root = parameters.ok() && parameters->find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (!parameters.ok()) {
    permission.found = "the driver does not say who may read them; a profile shows it";
  } else if (!for_root) {
    permission.found = "the driver lets every user read them";
  } else if (geteuid() == 0) {
    permission.found = "the driver lets root alone read them, and this is root (a container also needs CAP_SYS_ADMIN)";
  } else {
    permission.standing = Standing::kMissing;
    permission.found = "the driver lets root alone read them";
    permission.remedy = "load the module nvidia with the option NVreg_RestrictProfilingToAdminUsers=0, or run as root";
  }
  return {std::move(cupti), ncu, std::move(permission)};
}
#else
std::vector<Check> GpuToolChecks(const GpuToolPlaces&) { return {}; }
std::vector<Check> CounterChecks(const GpuToolPlaces&, const std::string&) { return {}; }
#endif

}  // namespace hone
