// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See host_mode_compiler.h.
#include "tuner/evaluate/host_mode/host_mode_compiler.h"

#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/process/subprocess.h"
#include "tuner/evaluate/compile/compile_digest.h"
#include "tuner/evaluate/host_mode/host_entry.h"

namespace hone {
namespace {

constexpr int kMaxProcesses = 64;  // limit on the tool chain's processes
constexpr int64_t kMaxWrittenBytes = int64_t{1} << 30;
constexpr int64_t kMaxLogBytes = 4 << 20;  // limit on the compiler's text

// Adds `path` to `paths` and, if it is a link, also its target, because nvcc finds its folders from either.
void AddWithTarget(const std::string& path, std::vector<std::string>& paths) {
  paths.push_back(path);
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error);
  if (!error && target != path) paths.push_back(target);
}

class HostModeCompiler final : public Compiler {
 public:
  explicit HostModeCompiler(HostModeCompilerOptions options) : options_(std::move(options)) {}

  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    HONE_CHECK(unit.kernels.size() == 1, "a host-mode unit names one function");
    const Stopwatch watch;
    HONE_ASSIGN_OR_RETURN(const TemporaryDirectory directory, MakeTemporaryDirectory(options_.scratch_directory, "hone-host-"));
    const std::string source = directory / "candidate.cu", output = directory / "candidate.so";
    HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(
        source, options_.prelude + unit.body + "\n" + HostEntrySource(unit.kernels.front())));

    SubprocessOptions run;
    run.argv = options_.command;
    run.argv.insert(run.argv.end(), unit.options.begin(), unit.options.end());
    run.argv.insert(run.argv.end(), {"-o", output, source});
    run.environment = {"PATH=" + options_.search_path, "TMPDIR=" + directory.path(), "LC_ALL=C"};
    run.working_directory = directory.path();
    run.limit_seconds = options_.limit_seconds;
    run.max_stdout_bytes = run.max_stderr_bytes = kMaxLogBytes;
    SandboxPolicy policy;
    policy.read_paths = SystemReadPaths();
    policy.read_paths.insert(policy.read_paths.end(), {"/usr/include", "/usr/local/include", "/usr/share"});
    policy.read_paths.insert(policy.read_paths.end(), options_.read_paths.begin(), options_.read_paths.end());
    policy.exec_paths = SystemExecPaths();
    policy.exec_paths.insert(policy.exec_paths.end(), options_.tool_paths.begin(), options_.tool_paths.end());
    policy.write_paths = {directory.path(), "/dev/null"};
    policy.cpu_seconds = static_cast<int64_t>(std::ceil(options_.limit_seconds)) + 1;
    policy.memory_bytes = options_.memory_bytes;
    policy.file_bytes = kMaxWrittenBytes;
    policy.processes = kMaxProcesses;
    run.sandbox = policy;
    HONE_ASSIGN_OR_RETURN(const SubprocessResult result, RunSubprocess(run));

    CompiledModule module;
    module.seconds = watch.Seconds();
    module.log = result.err + result.out;
    DigestOptions digest;
    digest.strip_prefixes = options_.tool_paths;
    digest.strip_prefixes.push_back(directory.path());
    if (result.timed_out || result.exit.signal != 0 || result.exit.exit_status != 0) {
      module.verdict = Verdict::kCompileError;
      if (result.timed_out) {
        module.digest = fmt::format("compilation timed out: it was stopped after {:g} s\n", options_.limit_seconds);
        module.log.clear();  // without a log, the outcome is not cached: a later try may succeed
      } else {
        module.digest = DigestCompilerLog(module.log, digest);
        if (module.digest.empty()) module.digest = fmt::format("the compiler ended with {}\n", result.exit.Describe());
      }
      return module;
    }
    HONE_ASSIGN_OR_RETURN(module.image, ReadFile(output));
    module.lowered[unit.kernels.front()] = kHostCallSymbol;
    module.resources.push_back({.kernel = unit.kernels.front()});
    return module;
  }

  std::string Fingerprint() const override {
    std::string source = options_.prelude + HostEntrySource("f");
    for (const std::string& word : options_.command) source += "\n" + word;
    return options_.name + " " + Sha256Hex(source).substr(0, 16);
  }

 private:
  HostModeCompilerOptions options_;
};

}  // namespace

Result<HostModeCompilerOptions> NvccHostMode(const std::string& cuda_home, const std::string& architecture,
                                             const std::string& search_path) {
  std::vector<std::string> directories;
  if (!cuda_home.empty()) directories.push_back(cuda_home + "/bin");
  directories.emplace_back("/usr/local/cuda/bin");
  for (std::string& directory : SplitSearchPath(search_path)) directories.push_back(std::move(directory));
  const Result<std::string> nvcc = FindExecutable("nvcc", directories);
  if (!nvcc.ok()) {
    return Status::Unavailable("a host-mode candidate needs nvcc: " + nvcc.status().message() +
                               ": install the CUDA toolkit or name its folder with CUDA_HOME");
  }
  HostModeCompilerOptions options;
  // The CUDA run-time library is linked statically, so that the candidate has its own copy, which is unloaded with it.
  options.command = {*nvcc, "-shared", "-Xcompiler", "-fPIC", "-std=c++17", "-O3", "-arch=" + architecture,
                     "-cudart", "static", "-x", "cu"};
  options.prelude = "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
  const std::string home = nvcc->substr(0, nvcc->rfind("/bin/"));
  AddWithTarget(home, options.tool_paths);
  for (const char* path : {"/usr/bin", "/bin", "/usr/local/bin", "/usr/lib/gcc", "/usr/libexec/gcc"}) {
    AddWithTarget(path, options.tool_paths);
  }
  options.search_path = search_path;
  options.name = "nvcc " + architecture;
  return options;
}

std::unique_ptr<Compiler> MakeHostModeCompiler(HostModeCompilerOptions options) {
  HONE_CHECK(!options.command.empty(), "the host-mode compiler has no command");
  return std::make_unique<HostModeCompiler>(std::move(options));
}

}  // namespace hone
