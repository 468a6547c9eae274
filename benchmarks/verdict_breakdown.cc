// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows where the time of a verdict goes. This process judges the seed of a task on a GPU, once as for users, and once
// with each precaution switched off; the difference is the cost of the precaution. All verdicts of one task and case
// have equal secrets and ask for equally many quads.
//
// With --record, CUPTI's activity interface records every kernel, copy and memset on the device and every call of the
// driver; the program prints sums by name. Recording costs a microsecond or two per call, so recorded verdicts are
// timed separately.
#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "benchmarks/arguments.h"
#include "benchmarks/benchmark_common.h"
#include "benchmarks/precautions.h"
#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/compile/compile_cache.h"
#include "tuner/evaluate/compile/nvrtc_compiler.h"
#include "tuner/evaluate/local_evaluator.h"

namespace hone {
namespace {

using nlohmann::json;

// ---- what CUPTI records ----

struct Total {
  double seconds = 0;
  int64_t count = 0;
};
using Totals = std::map<std::string, Total>;

#define HONE_ACTIVITY_ENTRY_POINTS(X)         \
  X(Enable, cuptiActivityEnable)              \
  X(Disable, cuptiActivityDisable)            \
  X(Register, cuptiActivityRegisterCallbacks) \
  X(Flush, cuptiActivityFlushAll)             \
  X(Next, cuptiActivityGetNextRecord)         \
  X(CallName, cuptiGetCallbackName)

struct Cupti {
#define HONE_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
  HONE_ACTIVITY_ENTRY_POINTS(HONE_MEMBER)
#undef HONE_MEMBER

  Status Load() {
    void* library = nullptr;
    for (const char* name :
         {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "libcupti.so"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (library == nullptr)
      return Status::Unavailable("no libcupti.so.13: put the toolkit's extras/CUPTI/lib64 into LD_LIBRARY_PATH");
#define HONE_LOAD(member, symbol)                                       \
  member = reinterpret_cast<decltype(member)>(dlsym(library, #symbol)); \
  if (member == nullptr) return Status::Unavailable("libcupti has no " #symbol);
    HONE_ACTIVITY_ENTRY_POINTS(HONE_LOAD)
#undef HONE_LOAD
    return Status::Ok();
  }
};

Cupti cupti;
Totals on_device, of_calls;

void Add(Totals& totals, const std::string& name, uint64_t begin, uint64_t end) {
  Total& total = totals[name];
  total.seconds += static_cast<double>(end - begin) * 1e-9;
  ++total.count;
}

void BufferWanted(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *bytes = size_t{8} << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *bytes));
  *most_records = 0;
}

void BufferDone(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti.Next(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
        const std::string name = kernel->name;
        Add(on_device, name.rfind("hone_", 0) == 0 ? name : "kernels of the task", kernel->start, kernel->end);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto* set = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
        Add(on_device, "memset", set->start, set->end);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
        Add(on_device,
            copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? "copy to the device" : "copy from the device",
            copy->start, copy->end);
        break;
      }
      case CUPTI_ACTIVITY_KIND_DRIVER: {
        const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
        const char* name = nullptr;
        if (cupti.CallName(CUPTI_CB_DOMAIN_DRIVER_API, call->cbid, &name) != CUPTI_SUCCESS) name = "?";
        Add(of_calls, name, call->start, call->end);
        break;
      }
      default:
        break;
    }
  }
  std::free(buffer);
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_DRIVER};

Status Record(bool on) {
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult result = on ? cupti.Enable(kind) : cupti.Disable(kind);
    if (result != CUPTI_SUCCESS) return Status::Unavailable(fmt::format("CUPTI answered {}", static_cast<int>(result)));
  }
  return Status::Ok();
}

json TotalsJson(const Totals& totals, int verdicts) {
  json object = json::object();
  for (const auto& [name, total] : totals) {
    object[name] = {{"seconds", total.seconds / verdicts}, {"count", static_cast<double>(total.count) / verdicts}};
  }
  return object;
}

// ---- verdicts in this process ----

struct Options {
  std::string cache = "/tmp/hone-benchmark-cache";
  int ordinal = 0, repeats = 5, quads = 40;
  bool record = false;
};

Result<json> Measure(const Task& task, size_t time_case, const Precautions& precautions, const Options& options,
                     Compiler& compiler) {
  JudgeSwitches switches{.session = {.ordinal = options.ordinal}};
  precautions.change(switches);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceSession> session, MakeCudaSession(switches.session));
  EvaluatorOptions evaluator_options;
  evaluator_options.simulate = false;
  const std::unique_ptr<Evaluator> evaluator =
      MakeLocalEvaluator(MakeProcessBackend(std::move(session), compiler, switches.gates), {}, evaluator_options);
  EvaluationRequest request;
  request.name = "seed.cu";
  request.source = task.seed_source;
  request.only_time_cases = {time_case};
  request.max_quads = options.quads;
  request.simulate = false;
  std::map<std::string, std::vector<double>> figures;
  for (int i = -1; i < options.repeats; ++i) {  // run -1 compiles, loads and allocates, and is not counted
    request.seed = static_cast<uint64_t>(1001 + i);
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, evaluator->Evaluate(task, request));
    if (evaluation.verdict != Verdict::kOk) return Status::Internal(task.name + ": " + evaluation.detail);
    if (i < 0) continue;
    figures["device_seconds"].push_back(evaluation.device_seconds);
    for (const Stage& stage : evaluation.stages) {
      if (stage.holds_device) figures["stage " + stage.name].push_back(stage.seconds);
    }
    for (const auto& [name, value] : evaluation.metrics) {
      if (name.rfind("session_", 0) == 0 || name.rfind("quad_", 0) == 0) figures[name].push_back(value);
    }
    for (const CaseResult& c : evaluation.cases) {
      if (c.role == CaseRole::kTime) figures["quads"].push_back(c.timing.quads);
    }
  }
  json entry = {{"precautions", precautions.name}, {"verdicts", options.repeats}};
  for (const auto& [name, values] : figures) entry[name] = Quantile(values, 0.5);
  for (const char* name : {"quads", "device_seconds", "quad_deviation", "quad_first_to_last", "quad_second_to_third"}) {
    entry["each"][name] = figures[name];
  }
  if (options.record) {
    on_device.clear();
    of_calls.clear();
    HONE_RETURN_IF_ERROR(Record(true));
    for (int i = 0; i < options.repeats; ++i) {
      request.seed = static_cast<uint64_t>(1001 + i);
      HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, evaluator->Evaluate(task, request));
      if (evaluation.verdict != Verdict::kOk) return Status::Internal(task.name + ": " + evaluation.detail);
    }
    cupti.Flush(1);
    HONE_RETURN_IF_ERROR(Record(false));
    entry["recorded"] = {{"on_device", TotalsJson(on_device, options.repeats)},
                         {"driver_calls", TotalsJson(of_calls, options.repeats)}};
  }
  return entry;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  using namespace hone;
  Options options;
  std::vector<std::string> works;
  std::string output, hone_program;
  bool all_only = false;
  Arguments app("Measures where the time of a verdict goes, and what each of the judge's precautions costs.");
  app.Add("work", works, "TASK:CASE, the number of a timed case");
  app.Add("--hone", hone_program, "the program that compiles; default: hone beside this one");
  app.Add("--ordinal", options.ordinal, "which GPU");
  app.Add("--repeats", options.repeats, "verdicts with each set of precautions");
  app.Add("--quads", options.quads, "quads at most");
  app.Add("--record", options.record, "also add up kernels and calls of the driver");
  app.Add("--all-only", all_only, "only with every precaution");
  app.Add("--cache", options.cache);
  app.Add("--output", output, "JSON file; default: standard output");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;

  const auto run = [&]() -> Result<json> {
    if (options.record) {
      HONE_RETURN_IF_ERROR(cupti.Load());
      if (cupti.Register(BufferWanted, BufferDone) != CUPTI_SUCCESS)
        return Status::Unavailable("CUPTI takes no buffers");
    }
    HONE_ASSIGN_OR_RETURN(std::vector<DeviceFacts> devices, ListCudaDevices());
    const DeviceFacts& facts = devices.at(static_cast<size_t>(options.ordinal));
    NvrtcCompilerOptions nvrtc;
    if (const char* home = std::getenv("CUDA_HOME")) nvrtc.cuda_home = home;
    nvrtc.architecture = NvrtcArchitecture(facts.cc_major, facts.cc_minor);
    nvrtc.zygote_argv = {hone_program.empty() ? ProgramBesideThis("hone") : hone_program, "__nvrtc-zygote"};
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler, MakeNvrtcCompiler(nvrtc));
    HONE_ASSIGN_OR_RETURN(compiler, MakeCachedCompiler(std::move(compiler), {.directory = options.cache + "/modules"}));
    json report = {{"environment", EnvironmentJson(facts)}, {"quads", options.quads}, {"works", json::array()}};
    for (const std::string& work : works) {
      const size_t colon = work.find(':');
      HONE_ASSIGN_OR_RETURN(const Task task, LoadNamedTask(work.substr(0, colon)));
      const size_t timed = colon == std::string::npos ? 0 : std::stoul(work.substr(colon + 1));
      json entry = {{"task", task.name}, {"case", timed}, {"with", json::array()}};
      for (const Precautions& taken : TimedPrecautions()) {
        if (all_only && taken.name != "all") continue;
        HONE_ASSIGN_OR_RETURN(json measured, Measure(task, timed, taken, options, *compiler));
        fmt::print(stderr, "{} {}: {:.4f} s, {} quads\n", work, taken.name,
                   measured["device_seconds"].get<double>(), measured["quads"].dump());
        entry["with"].push_back(std::move(measured));
      }
      report["works"].push_back(std::move(entry));
    }
    return report;
  };
  const Result<json> report = run();
  if (!report.ok()) {
    fmt::print(stderr, "verdict_breakdown: {}\n", report.status().message());
    return 3;
  }
  if (output.empty()) {
    fmt::print("{}\n", report->dump(1));
  } else {
    std::ofstream(output) << report->dump(1) << "\n";
  }
  return 0;
}
