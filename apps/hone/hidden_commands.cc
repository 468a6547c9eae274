// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These commands are the program's own child processes. They are not for people: their arguments may change with any
// version.
#include "hone/hidden_commands.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tuner/device/sim/sim_child.h"
#include "tuner/evaluate/worker/worker_main.h"
#ifdef HONE_WITH_CUDA
#include "base/files/file.h"
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"
#include "tuner/evaluate/host_mode/cuda_host_stream.h"
#include "tuner/evaluate/host_mode/host_library.h"
#include "tuner/evaluate/profiling/profile_process.h"
#include "tuner/evaluate/sanitizing/sanitizer_process.h"
#endif

namespace hone {
namespace {

// Returns the value after `flag`, or `fallback`.
std::string FlagValue(int argc, char** argv, const char* flag, const char* fallback) {
  for (int i = 2; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], flag) == 0) return argv[i + 1];
  }
  return fallback;
}

[[maybe_unused]] bool HasFlag(int argc, char** argv, const char* flag) {
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], flag) == 0) return true;
  }
  return false;
}

}  // namespace

std::optional<int> RunHiddenCommand(int argc, char** argv) {
  if (argc < 2 || std::strncmp(argv[1], "__", 2) != 0) return std::nullopt;
  const std::string name = argv[1];
  const int fd = std::atoi(FlagValue(argc, argv, "--fd", "3").c_str());
  if (name == "__sim-child") return SimChildMain(fd);
#ifdef HONE_WITH_CUDA
  if (name == "__nvrtc-zygote") return NvrtcZygoteMain(fd);
  if (name == "__worker") {
    const std::string device = FlagValue(argc, argv, "--device", "cuda:0");
    CudaSessionOptions options;
    options.ordinal = std::atoi(device.c_str() + std::min<size_t>(device.size(), 5));
    return WorkerMain(fd, HasFlag(argc, argv, "--host-mode") ? MakeHostModeCudaSession(options) : MakeCudaSession(options));
  }
  if (name == "__profile") {
    CudaSessionOptions options;
    const std::string device = FlagValue(argc, argv, "--device", "cuda:0");
    options.ordinal = std::atoi(device.c_str() + std::min<size_t>(device.size(), 5));
    options.counted_by_ncu = HasFlag(argc, argv, "--by-ncu");
    return ProfileMain(FlagValue(argc, argv, "--job", ""), FlagValue(argc, argv, "--out", ""), MakeCudaSession(options));
  }
  if (name == "__sanitize") {
    CudaSessionOptions options;
    const std::string device = FlagValue(argc, argv, "--device", "cuda:0");
    options.ordinal = std::atoi(device.c_str() + std::min<size_t>(device.size(), 5));
    options.watched = true;
    const std::string out = FlagValue(argc, argv, "--out", "");
    SandboxPolicy policy = HostModeWorkerPolicy(argv[0], FlagValue(argc, argv, "--cuda-home", ""), out.substr(0, out.rfind('/')));
    const char* const searched = std::getenv("LD_LIBRARY_PATH");
    for (const std::string& folder : SplitSearchPath(searched == nullptr ? "" : searched)) {
      if (folder.starts_with("/") && folder != "/") policy.read_paths.push_back(folder);
    }
    return SanitizeMain(FlagValue(argc, argv, "--job", ""), out, [&options] { return MakeCudaSession(options); }, policy);
  }
#endif
  return std::nullopt;
}

}  // namespace hone
