// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/doctor/tuner_diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/file.h"
#include "doctor/machine_checks.h"
#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/model/gpu_table.h"
#include "tuner/model/curl_library.h"
#include "tuner/torch/python_process.h"
#ifdef HONE_WITH_CUDA
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/device/cuda/nvml.h"
#endif

namespace hone {

std::string CudaBuildRemedy(const GpuToolPlaces& places) {
  std::vector<std::string> folders = SplitSearchPath(places.search_path);
  folders.push_back((places.cuda_home.empty() ? "/usr/local/cuda" : places.cuda_home) + "/bin");
  const std::string build = "build with `make build CMAKE_FLAGS=-DHONE_CUDA=ON`";
  if (const Result<std::string> compiler = FindExecutable("nvcc", folders); compiler.ok())
    return fmt::format("the CUDA toolkit is here ({}), and this build left the device out: {}", *compiler, build);
  return "install the CUDA toolkit (12.8 or newer) and " + build;
}

namespace {

// Checks whether a GPU can be used, and whether its counters can be read.
CheckGroup GpuChecks([[maybe_unused]] const TunerSurroundings& surroundings) {
  CheckGroup group{"A GPU", {}};
  Check built{.name = "cuda_build", .title = "CUDA support", .brings = "judges candidates on a GPU"};
#ifdef HONE_WITH_CUDA
  built.found = surroundings.cuda_toolkit.empty() ? "built in" : "built with the CUDA toolkit " + surroundings.cuda_toolkit;
  group.checks.push_back(built);
  const Result<std::vector<DeviceFacts>> gpus = ListCudaDevices();
  Check driver{.name = "gpu", .title = "GPU and driver", .brings = "measures times, where the simulated GPU models them"};
  if (!gpus.ok()) {
    driver.standing = Standing::kMissing;
    driver.found = gpus.status().message();
    group.checks.push_back(driver);
  } else {
    for (const DeviceFacts& gpu : *gpus) {
      driver.found = fmt::format("{}: {}, compute capability {}.{}, {:.0f} GiB, driver {}", gpu.id, gpu.name, gpu.cc_major, gpu.cc_minor,
                                 static_cast<double>(gpu.memory_bytes) / (1 << 30), gpu.driver);
      if (gpu.cc_major < 8) {
        driver.standing = Standing::kMissing;
        driver.found += ", which is older than the 8.0 that candidates are compiled for";
      }
      group.checks.push_back(driver);
    }
    Check nvml{.name = "nvml", .title = "NVML", .brings = "watches clocks, temperature and other users of the GPU while it is timed"};
    if (!NvmlIsHere()) {
      nvml.standing = Standing::kMissing;
      nvml.found = "libnvidia-ml.so.1 could not be opened";
      nvml.remedy = "install the driver's library (libnvidia-ml1), or let the container see it (the capability `utility`)";
    } else {
      nvml.found = "libnvidia-ml.so.1";
    }
    group.checks.push_back(nvml);
    for (Check& check : CounterChecks(surroundings.tools)) group.checks.push_back(std::move(check));
  }
  for (Check& check : GpuToolChecks(surroundings.tools)) group.checks.push_back(std::move(check));
#else
  built.standing = Standing::kMissing;
  built.found = "this program was built without the CUDA device";
  built.remedy = CudaBuildRemedy(surroundings.tools);
  group.checks.push_back(built);
#endif
  return group;
}

// Checks the compiler of the simulated GPU.
CheckGroup SimulatorChecks(const TunerSurroundings& surroundings) {
  Check compiler{.name = "host_compiler", .title = "g++", .brings = "compiles candidates for the simulated GPU"};
  SimCompilerOptions options;
  options.cxx = surroundings.simulator_compiler;
  if (const auto made = MakeSimCompiler(options); made.ok()) {
    // Drops the first and the last word of "sim g++ (Debian 12.2.0-14) 12.2.0 0123456789abcdef", whose last word is a
    // key of the cache.
    std::string version = (*made)->Fingerprint();
    version = version.substr(version.find(' ') + 1);
    compiler.found = fmt::format("{}; GPUs it can pose as: {}", version.substr(0, version.rfind(' ')), fmt::join(sim::GpuModelNames(), ", "));
  } else {
    compiler.standing = Standing::kMissing;
    compiler.found = made.status().message();
  }
  return {"The simulated GPU", {compiler}};
}

// Checks Python and PyTorch.
CheckGroup PythonChecks(const TunerSurroundings& surroundings) {
  Check torch{.name = "pytorch", .title = "Python, PyTorch", .standing = Standing::kMissing,
              .brings = "makes tasks of PyTorch modules (hone new NAME --from FILE.py) and judges finished ones (hone eval TASK FILE.py)"};
  const bool python_is_set = std::find(surroundings.variables.begin(), surroundings.variables.end(), "HONE_PYTHON") !=
                             surroundings.variables.end();
  const Result<Python> python = FindPython(surroundings.environment);
  const Result<std::string> version = python.ok() ? TorchVersion(*python, surroundings.environment) : python.status();
  if (!version.ok()) {
    torch.found = version.status().message();
    torch.remedy = "install PyTorch for a Python 3 (pip install torch; a build for the CPU is enough), and name that Python in HONE_PYTHON";
  } else {
    const std::string whose =
        fmt::format("{} ({})", python->executable,
                    python_is_set ? "from HONE_PYTHON" : "python3 of the PATH; HONE_PYTHON names another");
    if (version->empty()) {
      torch.found = whose + " has no PyTorch";
      torch.remedy = fmt::format("{} -m pip install torch (a build for the CPU is enough), or name a Python that has it in HONE_PYTHON", python->executable);
    } else {
      torch.standing = Standing::kHere;
      torch.found = fmt::format("{} in {}", *version, whose);
    }
  }
  return {"PyTorch modules", {torch}};
}

// Checks what language models need: libcurl and keys.
CheckGroup ModelChecks(const TunerSurroundings& surroundings) {
  CheckGroup group{"Language models", {}};
  Check curl{.name = "libcurl", .title = "libcurl", .brings = "asks openai: and anthropic: models"};
  if (const Result<const CurlLibrary*> library = LoadCurl(); library.ok()) {
    curl.found = "here";
  } else {
    curl.standing = Standing::kMissing;
    curl.found = library.status().message();
  }
  group.checks.push_back(curl);
  const auto key = [&](const char* name, const char* title, const char* variable, const char* brings) {
    const bool is_set = std::find(surroundings.variables.begin(), surroundings.variables.end(), variable) !=
                        surroundings.variables.end();
    group.checks.push_back(
        {name, title, is_set ? Standing::kHere : Standing::kMissing,
         fmt::format("{} is {}", variable, is_set ? "set" : "not set"), brings,
         is_set ? "" : fmt::format("export {}=…, or name another variable with --key-env", variable)});
  };
  key("openai_key", "OpenAI key", "OPENAI_API_KEY", "lets --model openai:NAME answer");
  key("anthropic_key", "Anthropic key", "ANTHROPIC_API_KEY", "lets --model anthropic:NAME answer");
  std::vector<std::string> others;
  for (const std::string& variable : surroundings.variables) {
    if (variable.ends_with("_API_KEY") && variable != "OPENAI_API_KEY" && variable != "ANTHROPIC_API_KEY") others.push_back(variable);
  }
  if (!others.empty()) {
    std::sort(others.begin(), others.end());
    group.checks.push_back({"other_keys", "other keys", Standing::kHere, fmt::format("{} set; --key-env names one", fmt::join(others, ", ")),
                            "serves other endpoints (--base-url)", ""});
  }
  return group;
}

// Returns whether the group's check `name` found what it looks for.
bool HasTool(const CheckGroup& group, const std::string& name) {
  return std::any_of(group.checks.begin(), group.checks.end(),
                     [&](const Check& check) { return check.name == name && check.standing == Standing::kHere; });
}

}  // namespace

Diagnosis DiagnoseTuner(const TunerSurroundings& surroundings) {
  Diagnosis diagnosis;
  CheckGroup gpu = GpuChecks(surroundings), simulator = SimulatorChecks(surroundings);
  const bool on_gpu = HasTool(gpu, "gpu") && HasTool(gpu, "nvrtc"), on_simulator = HasTool(simulator, "host_compiler");
  // One of the two is enough to judge candidates. Without both, the simulated GPU's compiler is what is needed.
  if (!on_gpu && !on_simulator) {
    for (Check& check : simulator.checks) check.standing = Standing::kNeeded;
  }
  CheckGroup machine{"The machine", {ProcessorsCheck(), MemoryCheck()}};
  machine.checks.push_back(FolderCheck("cache", "cache", surroundings.cache_directory, "keeps compiled kernels",
                                       "set HONE_CACHE to another folder", /*needed=*/true));
  machine.checks.push_back(FolderCheck("state", "runs and reports", surroundings.state_directory,
                                       "keeps runs and reports", "set HONE_STATE to another folder", /*needed=*/false));
  diagnosis.groups = {std::move(gpu), std::move(simulator), PythonChecks(surroundings), ModelChecks(surroundings), std::move(machine), SandboxChecks()};
  Conclude(diagnosis);
  if (!on_gpu && !on_simulator) {
    diagnosis.summary = "Nothing can be judged here: there is neither a GPU with NVRTC nor g++ for the simulated GPU.";
  } else if (!diagnosis.able) {
    diagnosis.summary = "Nothing can be judged here until the cache can be written.";
  } else if (on_gpu) {
    diagnosis.summary = "Candidates can be judged on the GPU (--device auto) and on the simulated one (--device sim)";
    diagnosis.summary += on_simulator ? "." : " once g++ is here.";
  } else {
    diagnosis.summary = "Candidates can be judged on the simulated GPU, whose times are modelled; a GPU would measure them.";
  }
  return diagnosis;
}

}  // namespace hone
