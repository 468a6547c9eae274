// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/python_process.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/process/gpu_access.h"
#include "base/text/json_fields.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// Bytes of address space that PyTorch takes for itself: libraries with device code, memory arenas and stacks of
// threads.
constexpr int64_t kOwnAddressSpace = int64_t{48} << 30;
constexpr double kAskSeconds = 20;  // limit for asking Python where its packages are

constexpr std::string_view kAsk =
    "import json, os, sys, sysconfig\n"
    "paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable)] + sys.path\n"
    "paths += list(sysconfig.get_paths().values())\n"
    "print('hone: ' + json.dumps({'executable': sys.executable, 'paths': [os.path.abspath(p) for p in paths if p]}))\n";

constexpr std::string_view kAskTorch =
    "import importlib.metadata\n"
    "try:\n"
    "    print('hone: ' + importlib.metadata.version('torch'))\n"
    "except importlib.metadata.PackageNotFoundError:\n"
    "    print('hone: ')\n";

// Returns the value of an environment variable; empty: it is not set.
std::string ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') return entry.substr(name.size() + 1);
  }
  return "";
}

// A shell script that replaces ninja for load_inline. Ninja puts each command into a process group of its own, which
// the sandbox refuses, because a child is ended by its group. The script lets the real ninja list the commands, runs
// all but the last at the same time, and then the last, which links.
constexpr std::string_view kNinja = R"(#!/bin/sh
case " $* " in *" --version "*|*" -t "*) exec {0} "$@";; esac
{0} -t commands > hone_commands || exit 1
count=$(wc -l < hone_commands)
number=0
running=
while IFS= read -r command; do
  number=$((number + 1))
  if [ "$number" -lt "$count" ]; then
    sh -c "$command" & running="$running $!"
  else
    for one in $running; do wait "$one" || exit 1; done
    sh -c "$command" || exit 1
  fi
done < hone_commands
)";

}  // namespace

int64_t MachineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<int64_t>(pages) * size : int64_t{8} << 30;
}

Result<UniqueFd> MakeMemoryFile(const char* name) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid()) return Status::Io(ErrnoMessage("memfd_create", name, errno));
  return fd;
}

Result<Python> FindPython(const std::vector<std::string>& environment) {
  const std::string named = ValueOf(environment, "HONE_PYTHON");
  const Result<std::string> found =
      FindExecutable(named.empty() ? "python3" : named, SplitSearchPath(ValueOf(environment, "PATH")));
  if (!found.ok()) {
    return Status::Unavailable(named.empty() ? "python3 is not on the PATH: install it with PyTorch, or name an interpreter in HONE_PYTHON"
                                             : fmt::format("HONE_PYTHON={}: there is no such program; name a Python with PyTorch", named));
  }
  SubprocessOptions ask;
  ask.argv = {*found, "-c", std::string(kAsk)};
  ask.environment = environment;
  ask.limit_seconds = kAskSeconds;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult answer, RunSubprocess(ask));
  const size_t begin = answer.out.find("hone: ");
  const auto useless = [&](const std::string& why) {
    return Status::Unavailable(fmt::format("{} is no Python that works ({}): name another in HONE_PYTHON", *found, why));
  };
  if (begin == std::string::npos)
    return useless(answer.timed_out ? "it did not answer in time" : answer.exit.Describe());
  const Result<nlohmann::json> json = ParseJson(std::string_view(answer.out).substr(begin + 6), "Python's answer");
  if (!json.ok()) return useless(json.status().message());
  JsonFields fields(*json, "Python's answer");
  Python python;
  fields.Require("executable", python.executable);
  fields.Require("paths", python.read_paths);
  if (!fields.ok() || python.executable.empty()) return useless(fields.ok() ? "it does not know its own name" : fields.status().message());
  // Started with "-c", Python has the current folder as its first path. That is the user's own folder and must not be
  // readable. For a path that is a symbolic link, the link's target must be readable too.
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  std::erase_if(python.read_paths, [&](const std::string& path) { return path == "/" || fs::path(path) == here; });
  for (const std::string& path : std::vector<std::string>(python.read_paths)) {
    const fs::path real = fs::canonical(path, ignored);
    if (!ignored && real != "/") python.read_paths.push_back(real.string());
  }
  std::sort(python.read_paths.begin(), python.read_paths.end());
  python.read_paths.erase(std::unique(python.read_paths.begin(), python.read_paths.end()), python.read_paths.end());
  return python;
}

Result<std::string> TorchVersion(const Python& python, const std::vector<std::string>& environment) {
  SubprocessOptions ask;
  ask.argv = {python.executable, "-c", std::string(kAskTorch)};
  ask.environment = environment;
  ask.limit_seconds = kAskSeconds;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult answer, RunSubprocess(ask));
  const size_t begin = answer.out.find("hone: "), end = answer.out.find('\n', begin);
  if (begin == std::string::npos || end == std::string::npos) {
    return Status::Unavailable(fmt::format("{} did not say whether it has PyTorch ({})", python.executable,
                                           answer.timed_out ? "no answer in time" : answer.exit.Describe()));
  }
  return answer.out.substr(begin + 6, end - begin - 6);
}

Result<PythonStart> StartOf(const Python& python, const std::string& script, const std::string& scratch,
                            const PythonOptions& options, const std::vector<std::string>& more_read_paths) {
  // The script is passed as a file, because Linux limits an argument of a command line to 128 KiB.
  HONE_RETURN_IF_ERROR(WriteFileAtomically(scratch + "/hone_script.py", script));
  PythonStart start;
  start.argv = {python.executable, "-c",
                "exec(compile(open('hone_script.py', encoding='utf-8').read(), '<hone>', 'exec'))"};
  for (const std::string& entry : options.environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name == "PATH" || name == "LD_LIBRARY_PATH" || name == "PYTHONPATH" || name == "PYTHONUSERBASE" ||
        (options.gpu >= 0 && name.starts_with("CUDA_"))) {
      start.environment.push_back(entry);
    }
  }
  for (const char* entry : {"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "PYTHONUNBUFFERED=1", "USER=hone", "LANG=C.UTF-8"}) {
    start.environment.emplace_back(entry);
  }
  for (const char* name : {"HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "XDG_CACHE_HOME"}) {
    start.environment.push_back(fmt::format("{}={}", name, scratch));
  }
  if (options.gpu < 0) start.environment.emplace_back("CUDA_VISIBLE_DEVICES=");

  SandboxPolicy& policy = start.sandbox;
  policy.read_paths = SystemReadPaths();
  for (const char* path : {"/usr", "/opt", "/etc/localtime", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/proc/cpuinfo",
                           "/proc/meminfo", "/proc/stat", "/sys/devices/system", "/sys/fs/cgroup"}) {
    policy.read_paths.emplace_back(path);
  }
  for (const std::vector<std::string>* paths : {&python.read_paths, &more_read_paths}) {
    policy.read_paths.insert(policy.read_paths.end(), paths->begin(), paths->end());
  }
  for (const std::string& folder : SplitSearchPath(ValueOf(options.environment, "LD_LIBRARY_PATH"))) {
    if (folder.starts_with("/") && folder != "/") policy.read_paths.push_back(folder);
  }
  policy.exec_paths = SystemExecPaths();
  policy.exec_paths.push_back(python.executable);
  std::error_code ignored;
  if (const fs::path real = fs::canonical(python.executable, ignored); !ignored) policy.exec_paths.push_back(real.string());
  policy.write_paths = {scratch, "/dev/null", "/dev/shm"};
  policy.own_process_files = true;
  policy.processes = 0;
  policy.file_bytes = int64_t{4} << 30;
  const int64_t memory = options.memory_bytes > 0 ? options.memory_bytes : MachineMemory() / 4 * 3;
  policy.memory_bytes = memory + kOwnAddressSpace;
  if (options.gpu >= 0) {
    AllowGpu(&policy);
    policy.memory_bytes = 0;
    // Without this, cuBLAS may sum in another order each time.
    start.environment.emplace_back("CUBLAS_WORKSPACE_CONFIG=:4096:8");
  }
  return start;
}

Status AllowCompilers(const std::string& cuda_home, const Python& python, const std::string& scratch, PythonStart* start) {
  SandboxPolicy& policy = start->sandbox;
  for (std::string& entry : start->environment) {
    if (!entry.starts_with("PATH=")) continue;
    const Result<std::string> ninja = FindExecutable("ninja", SplitSearchPath(entry.substr(5)));
    if (!ninja.ok()) break;  // load_inline reports that ninja is missing
    const std::string folder = scratch + "/bin";
    HONE_RETURN_IF_ERROR(WriteFileAtomically(folder + "/ninja", fmt::format(fmt::runtime(kNinja), *ninja)));
    if (chmod((folder + "/ninja").c_str(), 0755) != 0)
      return Status::Io(ErrnoMessage("chmod", folder + "/ninja", errno));
    policy.exec_paths.push_back(folder);
    entry = fmt::format("PATH={}:{}", folder, entry.substr(5));
    break;
  }
  const std::string cuda = cuda_home.empty() ? "/usr/local/cuda" : cuda_home;
  for (const char* path : {"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/lib", "/usr/libexec"}) {
    policy.exec_paths.emplace_back(path);
  }
  policy.exec_paths.push_back(cuda);
  policy.exec_paths.insert(policy.exec_paths.end(), python.read_paths.begin(), python.read_paths.end());
  policy.processes = -1;
  // With one thread, Inductor compiles in its own process. Each worker of its pool would load PyTorch again.
  start->environment.emplace_back("TORCHINDUCTOR_COMPILE_THREADS=1");
  start->environment.push_back("TORCH_EXTENSIONS_DIR=" + scratch);
  start->environment.push_back("CUDA_HOME=" + cuda);
  return Status::Ok();
}

}  // namespace hone
