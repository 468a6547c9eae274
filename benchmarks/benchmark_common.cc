// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/benchmark_common.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace hone {
namespace fs = std::filesystem;

nlohmann::json EnvironmentJson(const DeviceFacts& facts) {
  utsname system{};
  uname(&system);
  std::string cpu, line;
  for (std::ifstream info("/proc/cpuinfo"); std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      cpu = line.substr(line.find(':') + 2);
      break;
    }
  }
  return {{"cpu", cpu}, {"cores", std::thread::hardware_concurrency()}, {"kernel", system.release},
          {"compiler", __VERSION__}, {"device", facts.id + " " + facts.name}, {"modelled", facts.modelled},
          {"driver", facts.driver}, {"sm_count", facts.sm_count}, {"l2_bytes", facts.l2_bytes}};
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

nlohmann::json SpreadJson(const std::vector<double>& values) {
  return {{"median", Quantile(values, 0.5)}, {"p10", Quantile(values, 0.1)}, {"p90", Quantile(values, 0.9)}, {"n", values.size()}};
}

std::string ProgramBesideThis(const std::string& name) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const fs::path& candidate : {self.parent_path() / name, self.parent_path().parent_path() / "bin" / name}) {
    if (fs::exists(candidate)) return fs::weakly_canonical(candidate).string();
  }
  return "";
}

Result<std::unique_ptr<Evaluator>> MakeBenchmarkEvaluator(const std::string& device, const std::string& cache, bool use_cache) {
  EvaluatorOptions options;
  options.device = device;
  options.executable = ProgramBesideThis("hone");
  if (options.executable.empty()) return Status::NotFound("no `hone` beside this program");
  options.cache_directory = cache;
  options.use_cache = use_cache;
  if (const char* home = std::getenv("CUDA_HOME")) options.cuda_home = home;
  // The worker inherits the environment, because it must find the driver too: on some machines only LD_LIBRARY_PATH
  // names its folder.
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) options.environment.emplace_back(*entry);
  return MakeEvaluator(options);
}

std::string NewSource(const std::string& source, uint64_t nonce) { return source + fmt::format("\n// {:016x}\n", nonce); }

Result<Task> LoadNamedTask(const std::string& name) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const fs::path& root : {fs::path("tasks"), self.parent_path() / "../../tasks"}) {
    if (fs::exists(root / name / "task.toml")) return LoadTask((root / name).string());
  }
  return Status::NotFound("no task named " + name);
}

}  // namespace hone
