// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See nvrtc_compiler.h. For each translation unit, this file picks the zygote, gets the reply of the zygote's child,
// and judges the machine code.
#include "tuner/evaluate/compile/nvrtc_compiler.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/numbers/hash.h"
#include "tuner/core/program/translation_unit.h"
#include "tuner/evaluate/compile/compile_digest.h"
#include "tuner/evaluate/compile/cubin_reader.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/machine_code_gates.h"
#include "tuner/evaluate/compile/nvrtc_library.h"
#include "tuner/evaluate/compile/nvrtc_prelude.h"
#include "tuner/evaluate/compile/nvrtc_zygote_pool.h"

namespace hone {
namespace {

// NVRTC writes this at the start of its log when the disk is full. A source's own #error comes with a file name before
// it.
constexpr std::string_view kNoTemporaryFile = "Catastrophic error: cannot open temporary file";

class NvrtcCompilerImpl final : public NvrtcCompiler {
 public:
  NvrtcCompilerImpl(NvrtcCompilerOptions options, std::shared_ptr<const NvrtcLibrary> library,
                    std::vector<std::string> include_directories, Result<CutlassHeaders> cutlass)
      : options_(std::move(options)),
        library_(std::move(library)),
        include_directories_(std::move(include_directories)),
        cutlass_(std::move(cutlass)),
        sandbox_(ProbeSandbox()),
        pool_(options_.zygote_argv, options_.scratch_directory, static_cast<size_t>(std::max(1, options_.max_zygotes))) {
    std::string headers;
    for (const auto& [name, text] : NvrtcShimHeaders()) headers += name + "\n" + text;
    for (const char* include_set : {"", "full", "cute"}) headers += NvrtcPrelude(include_set, FastCute());
    headers += PlanCheckTemplates();
    for (const std::string& directory : include_directories_) headers += directory + "\n";
    if (cutlass_.ok()) {
      headers += fmt::format("{} {}.{}.{}", cutlass_->include, cutlass_->major, cutlass_->minor, cutlass_->patch);
    }
    fingerprint_ = fmt::format("nvrtc {}.{} {} {}", library_->major, library_->minor, options_.architecture,
                               Sha256Hex(headers).substr(0, 16));
  }

  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    const Stopwatch watch;
    CompiledModule module;
    if (!Supports(unit.include_set, module)) return module;
    const ZygoteSetup setup = SetupFor(unit.include_set, unit.options);
    const std::string key = KeyOf(setup);
    const NvrtcJob job{unit.file, WholeText(unit), unit.kernels};
    ++compiles_;
    for (int attempt = 0;; ++attempt) {
      HONE_ASSIGN_OR_RETURN(const std::shared_ptr<ZygoteHandle> zygote, pool_.Get(key, setup));
      Result<ZygoteHandle::Outcome> outcome = zygote->Compile(job, options_.limit_seconds);
      if (!outcome.ok()) {
        pool_.Discard(key, zygote);
        if (attempt < 1) continue;
        return outcome.status().WithContext(fmt::format("compiling {}", unit.file));
      }
      if (outcome->reply) {
        if (zygote->pch() && !outcome->reply->pch_used) ++pch_misses_;
        if (outcome->reply->log.starts_with(kNoTemporaryFile)) {
          return Status::Io(fmt::format("compiling {}: {}", unit.file, outcome->reply->log.substr(0, 300)));
        }
        JudgeReply(std::move(*outcome->reply), unit, module);
      } else {
        HONE_RETURN_IF_ERROR(JudgeEnd(outcome->end, module));
      }
      module.seconds = watch.Seconds();
      return module;
    }
  }

  std::string Fingerprint() const override { return fingerprint_; }
  const SandboxReport& sandbox() const override { return sandbox_; }

  NvrtcCounters counters() const override {
    NvrtcCounters counters;
    counters.compiles = compiles_;
    counters.pch_misses = pch_misses_;
    counters.compiler_crashes = crashes_;
    counters.zygotes_started = pool_.started();
    counters.zygotes_lost = pool_.lost();
    return counters;
  }

  Status Prewarm(const std::string& include_set, const std::vector<std::string>& options) override {
    CompiledModule ignored;
    if (!Supports(include_set, ignored)) return Status::Unavailable(ignored.digest);
    const ZygoteSetup setup = SetupFor(include_set, options);
    return pool_.Get(KeyOf(setup), setup).status();
  }

 private:
  // Returns whether Hone's faster forms of CuTe are used: only with versions of CUTLASS that they were compared with,
  // because a later version may have other rules.
  bool FastCute() const {
    return !options_.plain_cute && cutlass_.ok() && cutlass_->major == kLeastCutlassMajor &&
           cutlass_->minor <= kLastComparedCutlassMinor;
  }

  // Returns whether candidates with this include set can be compiled here; otherwise puts the verdict into `module`.
  bool Supports(const std::string& include_set, CompiledModule& module) const {
    if (!IsKnownIncludeSet(include_set)) {
      RejectModule(module, Verdict::kCompileError,
             fmt::format("unknown include set '{}': there are \"\", \"full\" and \"cute\"\n", include_set));
      return false;
    }
    if (include_set == "cute" && !cutlass_.ok()) {
      RejectModule(module, Verdict::kUnsupported, cutlass_.status().message() + "\n");
      return false;
    }
    return true;
  }

  // Returns the option for the C++ dialect. C++20 accepts nearly all C++17 sources and compiles as fast (0.09 s for the
  // base set, 2.3 to 2.9 s for "full"), and in C++17 NVRTC 13.0 crashes on a concept. CuTe is compiled as C++17, the
  // dialect in which its faster forms were compared.
  static std::string Dialect(const std::string& include_set) { return include_set == "cute" ? "--std=c++17" : "--std=c++20"; }

  ZygoteSetup SetupFor(const std::string& include_set, const std::vector<std::string>& plan_options) const {
    ZygoteSetup setup;
    setup.nvrtc.library = library_->path;
    setup.nvrtc.prelude = NvrtcPrelude(include_set, FastCute());
    if (include_set == "cute" && FastCute()) {
      setup.nvrtc.plain_prelude = NvrtcPrelude(include_set, /*fast_cute=*/false);
    }
    setup.nvrtc.headers = NvrtcShimHeaders();
    setup.nvrtc.pch_heap_bytes = options_.pch_heap_bytes;
    // Functions without an execution space are device functions here: nvcc's --expt-relaxed-constexpr would let a
    // kernel call its constexpr helpers, and there is no host code beside it.
    setup.nvrtc.options = {"--gpu-architecture=" + options_.architecture, Dialect(include_set), "--device-as-default-execution-space",
                           "--diag-suppress=177,550"};
    for (const std::string& directory : include_directories_) setup.nvrtc.options.push_back("--include-path=" + directory);
    setup.read_paths = include_directories_;
    if (include_set == "cute") {
      setup.nvrtc.options.push_back("--include-path=" + cutlass_->include);
      setup.read_paths.push_back(cutlass_->include);
    }
    setup.nvrtc.options.insert(setup.nvrtc.options.end(), plan_options.begin(), plan_options.end());
    setup.memory_bytes = options_.memory_bytes;
    setup.temporary_bytes = options_.temporary_bytes;
    // The limit on processor time is above that on wall-clock time, so that the latter ends a compile, which has one
    // thread.
    setup.cpu_seconds = static_cast<int64_t>(std::ceil(options_.limit_seconds)) + 2;
    return setup;
  }

  static std::string KeyOf(const ZygoteSetup& setup) {
    std::string key;
    for (const std::string& option : setup.nvrtc.options) key += option + "\n";
    return key + Sha256Hex(setup.nvrtc.prelude);
  }

  // Returns how compiler texts are shortened: without the paths of the headers.
  DigestOptions Digest() const {
    DigestOptions digest;
    digest.strip_prefixes = include_directories_;
    if (cutlass_.ok()) digest.strip_prefixes.push_back(cutlass_->include);
    // Longer prefixes come first, because one include directory may lie in another.
    std::sort(digest.strip_prefixes.begin(), digest.strip_prefixes.end(),
              [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    return digest;
  }

  // Turns NVRTC's reply into the module: an image, or the verdict with the digest of the log.
  void JudgeReply(NvrtcReply reply, const TranslationUnit& unit, CompiledModule& module) const {
    module.log = std::move(reply.log);
    module.pch_used = reply.pch_used;
    if (!reply.ok) {
      std::string digest = DigestCompilerLog(module.log, Digest());
      if (digest.empty()) digest = reply.error + "\n";
      const bool memory = reply.error.find("OUT_OF_MEMORY") != std::string::npos;
      if (memory) {
        digest = "the compiler ran out of memory\n" + digest;
      }
      for (const std::string& kernel : unit.kernels) {
        if (module.log.find(fmt::format("cannot determine which instance of overloaded function \"{}\"", kernel)) == std::string::npos) continue;
        digest = fmt::format("CUDA's headers, or the candidate itself, have another function named '{0}', so the plan cannot tell which one is the "
                             "kernel: give the kernel '{0}' a name of its own\n{1}",
                             kernel, digest);
        break;
      }
      const bool too_large = module.log.find("uses too much shared data") != std::string::npos;
      return RejectModule(module, too_large ? Verdict::kResourceLimit : Verdict::kCompileError, std::move(digest));
    }
    module.lowered = std::move(reply.lowered);
    Result<CubinInfo> cubin = ReadCubin(reply.cubin);
    if (!cubin.ok()) return RejectModule(module, Verdict::kCompileError, cubin.status().message() + "\n");
    module.image = std::move(reply.cubin);
    TakeMachineCode(std::move(*cubin), unit.kernels, module);
  }

  // Turns the end of a compiler process without a reply into a verdict; a Status if the environment is at fault.
  Status JudgeEnd(const ChildEnd& end, CompiledModule& module) {
    if (end.timed_out || end.signal == SIGXCPU) {
      RejectModule(module, Verdict::kCompileError,
             fmt::format("compilation timed out: it was stopped after {:g} s\n", options_.limit_seconds));
      return Status::Ok();
    }
    if (end.out_of_memory) {
      RejectModule(module, Verdict::kCompileError,
             fmt::format("the compiler ran out of memory: it was stopped at {} MiB\n", options_.memory_bytes >> 20));
      return Status::Ok();
    }
    if (end.signal == SIGXFSZ) {
      RejectModule(module, Verdict::kCompileError,
             fmt::format("the compiler ran out of memory: its working file reached {} MiB\n", options_.temporary_bytes >> 20));
      return Status::Ok();
    }
    if (end.signal != 0) {
      ++crashes_;
      RejectModule(module, Verdict::kCompileError,
             fmt::format("the compiler crashed on this source ({})\n", ExitState{.signal = end.signal}.Describe()));
      return Status::Ok();
    }
    if (end.exit_status == kNoProcess) {
      return Status::Unavailable("no process, or no temporary folder for it, could be made for the compiler");
    }
    ++crashes_;
    RejectModule(module, Verdict::kCompileError,
           fmt::format("the compiler ended without a result (exit status {})\n", end.exit_status));
    return Status::Ok();
  }

  NvrtcCompilerOptions options_;
  std::shared_ptr<const NvrtcLibrary> library_;
  std::vector<std::string> include_directories_;
  Result<CutlassHeaders> cutlass_;  // an error where the headers are missing, which candidates of the include set
                                    // "cute" get as their reason
  SandboxReport sandbox_;
  std::string fingerprint_;
  std::atomic<int64_t> compiles_{0}, pch_misses_{0}, crashes_{0};
  ZygotePool pool_;
};

}  // namespace

std::string NvrtcArchitecture(int cc_major, int cc_minor) {
  // Tensor-core instructions of Hopper and later exist only in code for exactly that architecture.
  return fmt::format("sm_{}{}{}", cc_major, cc_minor, cc_major >= 9 ? "a" : "");
}

Result<std::unique_ptr<NvrtcCompiler>> MakeNvrtcCompiler(const NvrtcCompilerOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const NvrtcLibrary> library, LoadNvrtc(options.cuda_home));
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> directories, FindCudaIncludeDirectories(options.cuda_home));
  return std::unique_ptr<NvrtcCompiler>(std::make_unique<NvrtcCompilerImpl>(
      options, std::move(library), std::move(directories), FindCutlassHeaders(options.cutlass_include)));
}

}  // namespace hone
