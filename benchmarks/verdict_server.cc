// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives verdicts one by one, as lines on standard input ask for them, so that the judges of two commits can be asked by
// turns (tools/judges-in-turn): a GPU's speed drifts within seconds. This process judges the seeds of tasks against
// themselves on a GPU, with all gates except those on the simulated GPU.
//
//   TASK CASE SEED  ->  TASK CASE SEED VERDICT SECONDS QUADS STAGES
//
// CASE is the number of a timed case; STAGES is the judge's own account of where the seconds went. The program is also
// the process from which its compilers are forked. It uses only functions that the judge of 2026-11-22 had, and so can
// be built with that judge too.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/compile/nvrtc_zygote.h"
#if __has_include("tuner/evaluate/judge/judge.h")
#include "tuner/evaluate/judge/judge.h"
#else
#include "tuner/evaluate/judge.h"
#endif

namespace hone {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A task with its oracle and its seed, compiled.
struct Work {
  Task task;
  CompiledProgram oracle, seed;
};

Result<Work> Prepare(const std::string& directory, Compiler& compiler) {
  Work work;
  HONE_ASSIGN_OR_RETURN(work.task, LoadTask(directory));
  const auto compile = [&](const std::string& source, const std::string& name,
                           bool is_oracle) -> Result<CompiledProgram> {
    HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(source, name, work.task, is_oracle));
    return CompileCandidate(compiler, candidate, work.task, {}, 4);
  };
  HONE_ASSIGN_OR_RETURN(work.oracle, compile(work.task.oracle_source, "oracle.cu", true));
  HONE_ASSIGN_OR_RETURN(work.seed, compile(work.task.seed_source, "seed.cu", false));
  return work;
}

Result<std::string> JudgeOnce(DeviceSession& session, const Work& work, size_t time_case, uint64_t seed,
                              FloorCache& floors) {
  JudgeRequest request;
  request.task = &work.task;
  request.candidate = &work.seed;
  request.oracle = &work.oracle;
  request.incumbent = &work.seed;
  request.options.name = "seed.cu";
  request.options.only_time_cases = {time_case};
  request.options.seed = seed;
  request.floors = &floors;
  const double started = Now();
  HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, Judge(session, request, {}));
  const double seconds = Now() - started;
  int quads = 0;
  for (const CaseResult& c : evaluation.cases) {
    if (c.role == CaseRole::kTime) quads += static_cast<int>(c.timing.quads);
  }
  std::string stages;
  for (const Stage& stage : evaluation.stages) stages += fmt::format(" {}={:.4f}", stage.name, stage.seconds);
  return fmt::format("{} {:.5f} {}{}", VerdictName(evaluation.verdict), seconds, quads, stages);
}

int Serve(const std::string& tasks, const std::string& cache) {
  const Result<std::vector<DeviceFacts>> devices = ListCudaDevices();
  Result<std::unique_ptr<DeviceSession>> session = MakeCudaSession({});
  if (!devices.ok() || !session.ok()) {
    fmt::print(stderr, "verdict_server: {}\n", (devices.ok() ? session.status() : devices.status()).message());
    return 3;
  }
  NvrtcCompilerOptions nvrtc;
  if (const char* home = std::getenv("CUDA_HOME")) nvrtc.cuda_home = home;
  nvrtc.architecture = NvrtcArchitecture(devices->front().cc_major, devices->front().cc_minor);
  auto made = MakeNvrtcCompiler(nvrtc);
  if (!made.ok()) {
    fmt::print(stderr, "verdict_server: {}\n", made.status().message());
    return 3;
  }
  auto compiler = MakeCachedCompiler(std::move(*made), {.directory = cache});
  if (!compiler.ok()) {
    fmt::print(stderr, "verdict_server: {}\n", compiler.status().message());
    return 3;
  }
  FloorCache floors;
  std::map<std::string, Work> works;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    size_t time_case = 0;
    uint64_t seed = 1;
    words >> name >> time_case >> seed;
    const auto judged = [&]() -> Result<std::string> {
      if (!works.contains(name)) {
        HONE_ASSIGN_OR_RETURN(works[name], Prepare(tasks + "/" + name, **compiler));
      }
      return JudgeOnce(**session, works[name], time_case, seed, floors);
    }();
    fmt::print("{} {}\n", line, judged.ok() ? *judged : "failed: " + judged.status().message());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "__nvrtc-zygote") == 0)
    return hone::NvrtcZygoteMain(argc > 3 ? std::atoi(argv[3]) : 3);
  if (argc != 3) {
    fmt::print(stderr, "verdict_server: give the folder of tasks, and one to keep compiled kernels in\n");
    return 2;
  }
  return hone::Serve(argv[1], argv[2]);
}
