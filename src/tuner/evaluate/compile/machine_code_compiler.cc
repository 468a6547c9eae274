// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/compile/machine_code_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/sandbox.h"
#include "base/process/subprocess.h"
#include "tuner/core/program/machine_code.h"
#include "tuner/evaluate/compile/compile_digest.h"
#include "tuner/evaluate/compile/machine_code_gates.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"

namespace hone {
namespace {

constexpr int64_t kMaxAssemblerLogBytes = int64_t{1} << 20;  // limit on the text that ptxas writes
constexpr int64_t kMaxCubinBytes = int64_t{256} << 20;  // limit on an image that ptxas makes

std::string Architecture(int number) { return fmt::format("sm_{}", number); }

// Returns the names of the first kernels in the cubin, for a message.
std::string NamesOfKernels(const CubinInfo& cubin) {
  constexpr size_t kMostNamed = 8;
  std::string names;
  for (size_t i = 0; i < cubin.kernels.size() && i < kMostNamed; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", cubin.kernels[i].kernel);
  }
  if (names.empty()) return "no kernel";
  return cubin.kernels.size() > kMostNamed ? names + ", …" : names;
}

class MachineCodeCompiler final : public Compiler {
 public:
  explicit MachineCodeCompiler(MachineCodeOptions options) : options_(std::move(options)) {}

  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    HONE_CHECK(!unit.image.empty(), "a unit of machine code names its image");
    const Stopwatch watch;
    CompiledModule module;
    Result<std::string> image = ImageIn(unit.body, unit.image);
    if (!image.ok()) {
      RejectModule(module, Verdict::kCompileError, fmt::format("{}: {}\n", unit.file, image.status().message()));
      return module;
    }
    if (unit.image.ends_with(".ptx")) {
      HONE_ASSIGN_OR_RETURN(image, Assemble(*image, unit, module));
      if (module.verdict != Verdict::kOk) return module;
    }
    Take(std::move(*image), unit, module);
    module.seconds = watch.Seconds();
    return module;
  }

  std::string Fingerprint() const override {
    return fmt::format("machine code {}.{}", options_.cc_major, options_.cc_minor);
  }

 private:
  // Checks the image against this device and the plan, and completes `module`. A mismatch becomes the module's verdict.
  void Take(std::string bytes, const TranslationUnit& unit, CompiledModule& module) const {
    const auto refuse = [&](Verdict verdict, const std::string& sentence) {
      RejectModule(module, verdict, fmt::format("{}: {}: {}\n", unit.file, unit.image, sentence));
    };
    Result<CubinInfo> cubin = ReadCubin(bytes);
    if (!cubin.ok()) {
      return refuse(Verdict::kCompileError, cubin.status().message() + "; export it again");
    }
    // Machine code runs on later devices of its own generation, and on no other.
    const int architecture = options_.cc_major * 10 + options_.cc_minor;
    if (cubin->architecture / 10 != options_.cc_major || cubin->architecture > architecture) {
      return refuse(
          Verdict::kUnsupported,
          fmt::format(
              "it was compiled for {}, and {} is {}: export the kernel for {}, or judge it on the GPU that it was "
              "compiled for",
              Architecture(cubin->architecture), options_.device_name, Architecture(architecture),
              NvrtcArchitecture(options_.cc_major, options_.cc_minor)));
    }
    for (const PlanSignature& wants : unit.signatures) {
      const std::string& kernel = unit.kernels[wants.kernel];
      const auto has = cubin->signatures.find(kernel);
      const auto at_launch = [&](const std::string& sentence) {
        RejectModule(module, Verdict::kCompileError,
                     fmt::format("{}:{}: {}: {}\n", unit.file, wants.line, unit.image, sentence));
      };
      if (has == cubin->signatures.end()) {
        return at_launch(
            fmt::format("it has no kernel '{}'; it has {}: name one of these", kernel, NamesOfKernels(*cubin)));
      }
      const CubinSignature& signature = has->second;
      if (signature.parameter_bytes.size() != wants.argument_bytes.size()) {
        return at_launch(
            fmt::format("kernel '{}' takes {} parameters, and the launch plan passes {} arguments: give one for each, "
                        "\"0:u64\" for a pointer that may be null",
                        kernel, signature.parameter_bytes.size(), wants.argument_bytes.size()));
      }
      for (size_t i = 0; i < wants.argument_bytes.size(); ++i) {
        if (signature.parameter_bytes[i] == wants.argument_bytes[i]) continue;
        return at_launch(
            fmt::format("kernel '{}', argument {}: the parameter has {} bytes and the launch plan passes {}", kernel,
                        i + 1, signature.parameter_bytes[i], wants.argument_bytes[i]));
      }
      if (signature.block && wants.block && *signature.block != *wants.block) {
        const auto& block = *signature.block;
        return at_launch(fmt::format(
            "kernel '{}' was compiled for blocks of {}x{}x{} threads: write block = [\"{}\", \"{}\", \"{}\"]", kernel,
            block[0], block[1], block[2], block[0], block[1], block[2]));
      }
    }
    if (!cubin->hidden_memory.empty()) {
      return refuse(
          Verdict::kRuleViolation,
          fmt::format("it has {}: nothing may be kept between launches, and what has no name cannot be put back",
                      cubin->hidden_memory));
    }
    for (const std::string& kernel : unit.kernels) module.lowered[kernel] = kernel;
    module.image = std::move(bytes);
    TakeMachineCode(std::move(*cubin), unit.kernels, module);
  }

  // Assembles PTX to a cubin for this device. An error of ptxas is the candidate's fault and goes into `module`.
  Result<std::string> Assemble(const std::string& ptx, const TranslationUnit& unit, CompiledModule& module) const {
    std::vector<std::string> directories;
    if (!options_.cuda_home.empty()) directories.push_back(options_.cuda_home + "/bin");
    directories.emplace_back("/usr/local/cuda/bin");
    for (std::string& directory : SplitSearchPath(options_.search_path)) directories.push_back(std::move(directory));
    const Result<std::string> ptxas = FindExecutable("ptxas", directories);
    if (!ptxas.ok()) {
      RejectModule(
          module, Verdict::kUnsupported,
          fmt::format(
              "{}: PTX needs ptxas: {}: install the CUDA toolkit, name its folder with CUDA_HOME, or hand in a cubin\n",
              unit.file, ptxas.status().message()));
      return std::string();
    }
    HONE_ASSIGN_OR_RETURN(const TemporaryDirectory directory,
                          MakeTemporaryDirectory(options_.scratch_directory, "hone-ptx-"));
    const std::string source = directory / unit.image, output = directory / "out.cubin";
    HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(source, ptx));
    SubprocessOptions run;
    run.argv = {*ptxas, "-arch=" + NvrtcArchitecture(options_.cc_major, options_.cc_minor), "-o", output, source};
    run.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + directory.path(), "LC_ALL=C"};
    run.working_directory = directory.path();
    run.limit_seconds = options_.limit_seconds;
    run.max_stdout_bytes = run.max_stderr_bytes = kMaxAssemblerLogBytes;
    SandboxPolicy policy;
    policy.read_paths = SystemReadPaths();
    policy.exec_paths = SystemExecPaths();
    policy.exec_paths.push_back(*ptxas);
    std::error_code error;
    if (const auto target = std::filesystem::canonical(*ptxas, error); !error)
      policy.exec_paths.push_back(target.string());
    policy.write_paths = {directory.path(), "/dev/null"};
    policy.cpu_seconds = static_cast<int64_t>(std::ceil(options_.limit_seconds)) + 1;
    policy.memory_bytes = options_.memory_bytes;
    policy.file_bytes = kMaxCubinBytes;
    run.sandbox = policy;
    HONE_ASSIGN_OR_RETURN(const SubprocessResult result, RunSubprocess(run));
    module.log = result.err + result.out;
    if (!result.timed_out && result.exit.success()) return ReadFile(output, kMaxCubinBytes);
    std::string digest =
        fmt::format("{}: {}: ptxas was stopped after {:g} s\n", unit.file, unit.image, options_.limit_seconds);
    if (!result.timed_out) {
      DigestOptions shorten;
      shorten.strip_prefixes = {directory.path()};
      digest = DigestCompilerLog(module.log, shorten);
      if (digest.empty())
        digest = fmt::format("{}: {}: ptxas ended with {}\n", unit.file, unit.image, result.exit.Describe());
    }
    RejectModule(module, Verdict::kCompileError, std::move(digest));
    return std::string();
  }

  MachineCodeOptions options_;
};

}  // namespace

std::unique_ptr<Compiler> MakeMachineCodeCompiler(MachineCodeOptions options) {
  return std::make_unique<MachineCodeCompiler>(std::move(options));
}

}  // namespace hone
