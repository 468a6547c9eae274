// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how long each step of the ladder takes to compile as a candidate, in the evaluator's own compiler processes:
// wall time, and the processor time of the compiling process, which other work on the machine disturbs less. Each
// compile has a new source. "headers" is a kernel of one line with the include set, whose time every CuTe candidate
// pays. Needs NVRTC and CUTLASS but no GPU. Prints a table, or with --json a JSON object. With --compare it also
// measures CuTe alone, without Hone's faster forms of its algebra, and says whether the machine code is the same. If it
// is, kLastComparedCutlassMinor may name this version of CUTLASS.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "benchmarks/arguments.h"
#include "kernel_code.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/cutlass_headers.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Returns the processor seconds, in hundredths, of ended children of our children, which are the compiles that zygotes
// forked.
double CompileSeconds() {
  double ticks = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    const Result<std::string> stat = ReadFile(entry->path().string() + "/stat");
    if (!stat.ok()) continue;
    const size_t name_end = stat->rfind(')');
    int parent = 0;
    unsigned long children_user = 0, children_system = 0;
    if (name_end == std::string::npos ||
        std::sscanf(stat->c_str() + name_end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu",
                    &parent, &children_user, &children_system) != 3) {
      continue;
    }
    if (parent == getpid()) ticks += static_cast<double>(children_user + children_system);
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

struct Measured {
  std::string step;
  std::vector<double> wall, cpu;
  std::map<std::string, std::string> code;  // machine code by kernel
  std::string verdict;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

constexpr const char* kHeadersOnly = R"(/*hone
[[launch]]
kernel = "nothing"
grid = ["1"]
block = ["1"]
args = ["c"]
*/
#include <cute/tensor.hpp>
__global__ void nothing(cute::bfloat16_t* c) { c[0] = cute::bfloat16_t(0.0f); }
)";

Result<Measured> Measure(NvrtcCompiler& compiler, const Task& task, const std::string& step, const std::string& source,
                         int repeats) {
  Measured measured{.step = step};
  for (int i = 0; i < repeats; ++i) {
    // Each compile gets a new source, although nothing here caches.
    HONE_ASSIGN_OR_RETURN(const Candidate candidate,
                          ParseCandidate(source + fmt::format("// {} {}\n", getpid(), i), step, task));
    const double before = CompileSeconds();
    HONE_ASSIGN_OR_RETURN(const CompiledProgram program, CompileCandidate(compiler, candidate, task, {}, 1));
    // The zygote waits for its child only after we have the reply, so the time may appear a little later.
    double after = CompileSeconds();
    for (int wait = 0; wait < 100 && after == before; ++wait) {
      usleep(10000);
      after = CompileSeconds();
    }
    measured.cpu.push_back(after - before);
    for (const auto& [key, module] : program.modules) {
      measured.wall.push_back(module.seconds);
      measured.verdict = VerdictName(module.verdict);
      measured.code.merge(KernelCode(module.image));
      if (module.verdict != Verdict::kOk) return Status::Internal(fmt::format("{}: {}", step, module.digest));
    }
  }
  return measured;
}

Status Run(const std::string& architecture, const std::string& cutlass, int repeats,
           const std::vector<std::string>& more, bool compare, bool as_json) {
  HONE_ASSIGN_OR_RETURN(const CutlassHeaders headers, FindCutlassHeaders(cutlass));
  NvrtcCompilerOptions options;
  options.architecture = architecture;
  options.cutlass_include = headers.include;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<NvrtcCompiler> compiler, MakeNvrtcCompiler(options));
  options.plain_cute = true;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<NvrtcCompiler> plain, MakeNvrtcCompiler(options));
  HONE_ASSIGN_OR_RETURN(const Task task, LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/matmul_bf16"));
  for (const char* set : {"", "cute"}) HONE_RETURN_IF_ERROR(compiler->Prewarm(set));
  if (compare) HONE_RETURN_IF_ERROR(plain->Prewarm("cute"));

  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(std::string(HONE_SOURCE_DIR) + "/examples/cute_ladder")) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  const bool has_wgmma = architecture == "sm_90a";
  if (!has_wgmma)
    std::erase_if(files, [](const std::string& file) { return fs::path(file).filename().string() >= "06"; });
  files.insert(files.end(), more.begin(), more.end());

  json steps = json::array();
  std::string load = "unknown";
  if (const Result<std::string> text = ReadFile("/proc/loadavg"); text.ok()) load = text->substr(0, text->find(' '));
  if (!as_json)
    fmt::print("CUTLASS {}.{}.{}, {}, load {} at the start\n{:<28} {:>9} {:>9} {:>22} {}\n", headers.major, headers.minor,
               headers.patch, architecture, load, "", "cpu s", "wall s", "cpu from .. to", compare ? " CuTe alone: cpu s, code" : "");
  int differ = 0;
  const auto show = [&](const std::string& step, const std::string& source) -> Status {
    HONE_ASSIGN_OR_RETURN(const Measured m, Measure(*compiler, task, step, source, repeats));
    const auto [low, high] = std::minmax_element(m.cpu.begin(), m.cpu.end());
    steps.push_back({{"step", m.step}, {"cpu_seconds", m.cpu}, {"wall_seconds", m.wall}});
    std::string alone;
    if (compare) {
      HONE_ASSIGN_OR_RETURN(const Measured other, Measure(*plain, task, step, source, repeats));
      const bool same = !m.code.empty() && other.code == m.code;
      differ += !same;
      steps.back()["plain_cpu_seconds"] = other.cpu;
      steps.back()["same_code"] = same;
      alone = fmt::format(" {:>9.2f} {}", Median(other.cpu), same ? "same code" : "OTHER CODE");
    }
    if (!as_json)
      fmt::print("{:<28} {:>9.2f} {:>9.2f} {:>14.2f} .. {:.2f}{}\n", m.step, Median(m.cpu), Median(m.wall), *low, *high, alone);
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(show("headers", kHeadersOnly));
  for (const std::string& file : files) {
    HONE_ASSIGN_OR_RETURN(const std::string source, ReadFile(file));
    HONE_RETURN_IF_ERROR(show(fs::path(file).filename().string(), source));
  }
  if (compiler->counters().pch_misses != 0) return Status::Internal("a compile did not use the precompiled header");
  if (as_json) {
    fmt::print("{}\n", json{{"architecture", architecture},
                            {"load", load},
                            {"repeats", repeats},
                            {"steps", steps},
                            {"cutlass", fmt::format("{}.{}.{}", headers.major, headers.minor, headers.patch)}}
                           .dump(2));
  }
  if (differ > 0) return Status::Internal(fmt::format("{} sources have other machine code with CuTe alone", differ));
  return Status::Ok();
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "__nvrtc-zygote") == 0) return hone::NvrtcZygoteMain(std::atoi(argv[3]));
  hone::Arguments app("how long the steps of the CuTe ladder take to compile");
  std::string architecture = "sm_90a", cutlass;
  int repeats = 5;
  std::vector<std::string> more;
  bool compare = false, as_json = false;
  app.Add("--architecture", architecture, "sm_90a, or sm_80 for the steps without wgmma");
  app.Add("--cutlass", cutlass, "CUTLASS's folder; else the usual places");
  app.Add("--repeats", repeats, "compiles of each step", {.least = 1, .most = 100});
  app.Add("sources", more, "further candidates for matmul_bf16");
  app.Add("--compare", compare, "compile everything with CuTe alone as well, and compare the machine code");
  app.Add("--json", as_json, "print JSON");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  const hone::Status status = hone::Run(architecture, cutlass, repeats, more, compare, as_json);
  if (!status.ok()) fmt::print(stderr, "cute_compile_time: {}\n", status.message());
  return status.ok() ? 0 : 3;
}
