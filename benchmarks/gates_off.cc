// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows which gate catches a cheat: judges one candidate with all of the judge's precautions, or with some switched
// off, and prints the verdicts as JSON. Judging happens in this process, on a GPU without the simulated GPU's small
// cases (`hone eval` with and without --no-sim shows what those catch), or on the simulated GPU (--device sim).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "benchmarks/arguments.h"
#include "benchmarks/benchmark_common.h"
#include "benchmarks/precautions.h"
#include "tuner/device/sim/image/sim_compiler.h"
#include "tuner/device/sim/sim_session.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/local_evaluator.h"

namespace hone {
namespace {

using nlohmann::json;

struct Options {
  std::string device = "cuda:0", cache = "/tmp/hone-benchmark-cache", hone_program, task;
  int time_case = 0, quads = 40, seed = 0;
};

// Returns the name that the file's opening comment gives to its task.
Result<std::string> TaskOf(const std::string& source, const std::string& file) {
  const std::string mark = "// task: ";
  const size_t at = source.find(mark);
  if (at == std::string::npos) return Status::InvalidArgument(file + " has no line '// task: NAME': give --task NAME");
  const size_t begin = at + mark.size();
  return source.substr(begin, source.find_first_of("\r\n ", begin) - begin);
}

Result<const Precautions*> FindPrecautions(const std::string& name) {
  std::string all;
  for (const Precautions& one : AllPrecautions()) {
    if (one.name == name) return &one;
    all += (all.empty() ? "'" : ", '") + one.name + "'";
  }
  return Status::InvalidArgument("--precautions '" + name + "' is none; there are " + all);
}

Result<std::unique_ptr<Compiler>> MakeGpuCompiler(const Options& options, int ordinal) {
  HONE_ASSIGN_OR_RETURN(const std::vector<DeviceFacts> devices, ListCudaDevices());
  if (static_cast<size_t>(ordinal) >= devices.size())
    return Status::InvalidArgument(
        fmt::format("--device {}: this machine has {} GPUs", options.device, devices.size()));
  NvrtcCompilerOptions nvrtc;
  if (const char* home = std::getenv("CUDA_HOME")) nvrtc.cuda_home = home;
  nvrtc.architecture =
      NvrtcArchitecture(devices[static_cast<size_t>(ordinal)].cc_major, devices[static_cast<size_t>(ordinal)].cc_minor);
  nvrtc.zygote_argv = {options.hone_program, "__nvrtc-zygote"};
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler, MakeNvrtcCompiler(nvrtc));
  HONE_ASSIGN_OR_RETURN(compiler, MakeCachedCompiler(std::move(compiler), {.directory = options.cache + "/modules"}));
  return compiler;
}

// Judges the candidate with the precautions. Each call makes a session and a compiler of its own.
Result<Evaluation> JudgeWith(const Precautions& precautions, const Task& task, const EvaluationRequest& request,
                             const Options& options) {
  JudgeSwitches switches;
  precautions.change(switches);
  std::unique_ptr<DeviceSession> session;
  std::unique_ptr<Compiler> compiler;
  if (options.device == "sim") {
    SimCompilerOptions compile;
    compile.cache_directory = options.cache;
    compile.guard_text = switches.guard_text;
    HONE_ASSIGN_OR_RETURN(compiler, MakeSimCompiler(compile));
    SimSessionOptions simulated;
    simulated.child_command = {options.hone_program, "__sim-child"};
    HONE_ASSIGN_OR_RETURN(session, MakeSimSession(simulated));
  } else {
    if (options.device.rfind("cuda:", 0) != 0)
      return Status::InvalidArgument("--device " + options.device + ": give cuda:N or sim");
    switches.session.ordinal = std::atoi(options.device.c_str() + 5);
    HONE_ASSIGN_OR_RETURN(compiler, MakeGpuCompiler(options, switches.session.ordinal));
    HONE_ASSIGN_OR_RETURN(session, MakeCudaSession(switches.session));
  }
  EvaluatorOptions evaluator_options;
  evaluator_options.simulate = false;
  const std::unique_ptr<Evaluator> evaluator =
      MakeLocalEvaluator(MakeProcessBackend(std::move(session), *compiler, switches.gates), {}, evaluator_options);
  return evaluator->Evaluate(task, request);
}

Result<json> JudgeFile(const std::string& file, const std::vector<std::string>& names, const Options& options) {
  std::ifstream stream(file);
  if (!stream) return Status::NotFound(file + ": cannot be read");
  std::stringstream text;
  text << stream.rdbuf();
  std::string name = options.task;
  if (name.empty()) {
    HONE_ASSIGN_OR_RETURN(name, TaskOf(text.str(), file));
  }
  HONE_ASSIGN_OR_RETURN(const Task task, LoadNamedTask(name));
  EvaluationRequest request;
  request.name = file.substr(file.rfind('/') + 1);
  request.source = text.str();
  request.seed = static_cast<uint64_t>(options.seed);
  request.only_time_cases = {static_cast<size_t>(options.time_case)};
  request.max_quads = options.quads;
  request.warm = request.simulate = false;
  json verdicts = json::array();
  for (const std::string& wanted : names) {
    HONE_ASSIGN_OR_RETURN(const Precautions* precautions, FindPrecautions(wanted));
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, JudgeWith(*precautions, task, request, options));
    json one = {{"file", request.name},
                {"task", task.name},
                {"case", options.time_case},
                {"device", options.device},
                {"precautions", wanted},
                {"verdict", VerdictName(evaluation.verdict)},
                {"detail", evaluation.detail.substr(0, 300)}};
    if (evaluation.geomean_speedup) one["speedup"] = *evaluation.geomean_speedup;
    for (const CaseResult& c : evaluation.cases) {
      if (c.speedup) one["ci95"] = {c.speedup->low, c.speedup->high};
    }
    for (const Finding& finding : evaluation.findings) one["findings"].push_back(finding.kind);
    verdicts.push_back(std::move(one));
    // After a candidate that crashed, nothing more can run on a GPU in this process.
    const bool ended = evaluation.verdict == Verdict::kCrashed || evaluation.verdict == Verdict::kTimedOut;
    if (ended && options.device != "sim") break;
  }
  return verdicts;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  using namespace hone;
  Options options;
  std::string file;
  std::vector<std::string> precautions{"all"};
  Arguments app(
      "Judges a candidate with some of the judge's precautions switched off, to show which of them catches it.");
  app.Add("file", file, "the candidate's .cu file", {.required = true});
  app.Add("--task", options.task, "its task; default: what a line '// task: NAME' of the file says");
  app.Add("--case", options.time_case, "the timed case that is judged, from 0", {.least = 0});
  app.Add("--precautions", precautions,
          "'all', or names of what is switched off, one verdict each; a wrong one lists them");
  app.Add("--device", options.device, "cuda:N or sim");
  app.Add("--seed", options.seed, "the evaluation's seed; 0: drawn by the system", {.least = 0});
  app.Add("--quads", options.quads, "quads at most");
  app.Add("--hone", options.hone_program, "the program that compiles and simulates; default: hone beside this one");
  app.Add("--cache", options.cache, "a folder for compiled modules");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  if (options.hone_program.empty()) options.hone_program = ProgramBesideThis("hone");
  const Result<json> verdicts = JudgeFile(file, precautions, options);
  if (!verdicts.ok()) {
    fmt::print(stderr, "gates_off: {}\n", verdicts.status().message());
    return 3;
  }
  for (const json& one : *verdicts) fmt::print("{}\n", one.dump());
  return 0;
}
