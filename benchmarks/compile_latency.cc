// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how long a compile takes. New sources are compiled each time, for each include set, with the precompiled
// header and without. Also measures the time to make that header, the time to load a cached module, and how many
// modules per hour several cores compile. Needs NVRTC but no GPU. Prints JSON.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"
#include "benchmarks/arguments.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"

namespace hone {
namespace {

using nlohmann::json;

// A candidate of ordinary size: vector loads, a block reduction by shuffles, half-precision arithmetic.
constexpr const char* kKernel = R"(
template <int kVec> __global__ void __launch_bounds__(256) k(const __half* __restrict__ x, __half* __restrict__ out, int n, float eps) {
  __shared__ float partial[8];
  const int row = blockIdx.x;
  float sum = 0.0f;
  for (int i = threadIdx.x * kVec; i < n; i += blockDim.x * kVec) {
    const uint4 raw = *reinterpret_cast<const uint4*>(x + (size_t)row * n + i);
    const __half2* h = reinterpret_cast<const __half2*>(&raw);
#pragma unroll
    for (int j = 0; j < kVec / 2; ++j) { const float2 f = __half22float2(h[j]); sum += f.x * f.x + f.y * f.y; }
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 8; ++i) sum += partial[i];
  const float scale = rsqrtf(sum / n + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[(size_t)row * n + i] = __float2half(__half2float(x[(size_t)row * n + i]) * scale);
}
)";

TranslationUnit NewUnit(const std::string& include_set, uint64_t nonce) {
  TranslationUnit unit;
  unit.file = "candidate.cu";
  unit.body = fmt::format("#line 1 \"candidate.cu\"\n// {}\n{}", nonce, kKernel);
  unit.kernels = {"k<8>"};
  unit.include_set = include_set;
  return unit;
}

json Spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) { return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)]; };
  return {{"median", at(0.5)}, {"p10", at(0.1)}, {"p90", at(0.9)}, {"n", values.size()}};
}

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

Result<json> Measure(const NvrtcCompilerOptions& options, const std::string& include_set, int repeats, int parallel, uint64_t nonce) {
  json result;
  const auto time = [&](Compiler& compiler, bool expect_pch) -> Result<std::vector<double>> {
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) {
      const Stopwatch watch;
      HONE_ASSIGN_OR_RETURN(const CompiledModule module, compiler.Compile(NewUnit(include_set, ++nonce)));
      seconds.push_back(watch.Seconds());
      if (module.verdict != Verdict::kOk) return Status::Internal(module.digest);
      if (module.pch_used != expect_pch) return Status::Internal(expect_pch ? "the precompiled header was missed" : "a header was used");
    }
    return seconds;
  };

  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<NvrtcCompiler> compiler, MakeNvrtcCompiler(options));
  const Stopwatch start;
  HONE_RETURN_IF_ERROR(compiler->Prewarm(include_set));
  result["start_and_header_seconds"] = start.Seconds();
  HONE_ASSIGN_OR_RETURN(const std::vector<double> with, time(*compiler, true));
  result["seconds"] = Spread(with);

  NvrtcCompilerOptions plain = options;
  plain.pch_heap_bytes = 0;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<NvrtcCompiler> without, MakeNvrtcCompiler(plain));
  HONE_RETURN_IF_ERROR(without->Prewarm(include_set));
  HONE_ASSIGN_OR_RETURN(const std::vector<double> slow, time(*without, false));
  result["seconds_without_header"] = Spread(slow);

  std::atomic<int> next{0}, failed{0};
  const int total = repeats * parallel;
  const Stopwatch together;
  std::vector<std::thread> threads;
  for (int t = 0; t < parallel; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < total; i = next++) {
        const auto module = compiler->Compile(NewUnit(include_set, nonce + 1 + static_cast<uint64_t>(i)));
        if (!module.ok() || module->verdict != Verdict::kOk) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed > 0) return Status::Internal("a compile among many failed");
  result["parallel"] = {{"jobs", parallel}, {"modules", total}, {"modules_per_hour", total / together.Seconds() * 3600}};

  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory directory, MakeTemporaryDirectory());
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<NvrtcCompiler> inner, MakeNvrtcCompiler(options));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<CachedCompiler> cache, MakeCachedCompiler(std::move(inner), {.directory = directory.path()}));
  std::vector<double> cached;
  for (int i = 0; i <= repeats; ++i) {
    const Stopwatch watch;
    HONE_ASSIGN_OR_RETURN(const CompiledModule module, cache->Compile(NewUnit(include_set, 0)));
    if (i > 0) cached.push_back(watch.Seconds());
    if (module.from_cache != (i > 0)) return Status::Internal("the cache did not answer");
  }
  result["cached_seconds"] = Spread(cached);
  const NvrtcCounters counters = compiler->counters();
  result["counters"] = {{"compiles", counters.compiles}, {"pch_misses", counters.pch_misses}};
  return result;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  using namespace hone;
  if (argc == 4 && std::strcmp(argv[1], "__nvrtc-zygote") == 0) return NvrtcZygoteMain(std::atoi(argv[3]));
  NvrtcCompilerOptions options;
  options.architecture = "sm_90a";
  int repeats = 15, parallel = static_cast<int>(std::thread::hardware_concurrency());
  std::string output;
  Arguments app("Measures how long compiles take.");
  app.Add("--cuda-home", options.cuda_home);
  app.Add("--cutlass", options.cutlass_include, "CUTLASS include folder: measure the include set \"cute\" too");
  app.Add("--arch", options.architecture);
  app.Add("--repeats", repeats, "compiles of each kind", {.least = 1});
  app.Add("--parallel", parallel, "compiles in flight for throughput", {.least = 1});
  app.Add("--output", output, "JSON file; default: standard output");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;

  utsname system{};
  uname(&system);
  nlohmann::json report = {{"benchmark", "compile_latency"}, {"cpu", CpuModel()},
                           {"cores", std::thread::hardware_concurrency()}, {"kernel", std::string(system.sysname) + " " + system.release},
                           {"architecture", options.architecture}};
  const auto made = MakeNvrtcCompiler(options);
  if (!made.ok()) {
    std::cerr << made.status().message() << "\n";
    return 3;
  }
  report["compiler"] = (*made)->Fingerprint();
  uint64_t nonce = static_cast<uint64_t>(SteadySeconds() * 1e6);
  for (const char* set : {"", "full", "cute"}) {
    if (std::string(set) == "cute" && options.cutlass_include.empty()) continue;
    const auto measured = Measure(options, set, repeats, parallel, nonce);
    nonce += 1000000;
    if (!measured.ok()) {
      std::cerr << "include set '" << set << "': " << measured.status().message() << "\n";
      return 3;
    }
    report["include_sets"][*set == '\0' ? "base" : set] = *measured;
  }
  if (output.empty()) {
    std::cout << report.dump(2) << "\n";
  } else if (const Status written = WriteFileAtomically(output, report.dump(2) + "\n"); !written.ok()) {
    std::cerr << written.message() << "\n";
    return 3;
  }
  return 0;
}
