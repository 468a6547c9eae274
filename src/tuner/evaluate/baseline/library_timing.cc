// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/baseline/library_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "base/text/json_fields.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/evaluate/baseline/candidate_launches.h"
#include "tuner/evaluate/baseline/torch_child.h"
#include "tuner/torch/drawn_inputs.h"
#include "tuner/torch/python_process.h"
#include "tuner/torch/scripts.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr int kTorchSamples = 50;   // samples of each mode in a case
constexpr double kFarApart = 1e-2;  // the relative difference that is reported between results that should be equal
constexpr std::string_view kTorchMark = "hone: ";

// Returns one case in the form that the PyTorch child reads: dimensions, scalars, and how tensors are drawn.
Result<json> TorchCase(const Task& task, const Dims& dims) {
  json one_case = {{"dims", dims}, {"scalars", json::object()}};
  for (const ScalarSpec& scalar : task.scalars) one_case["scalars"][scalar.name] = scalar.value;
  HONE_ASSIGN_OR_RETURN(one_case["tensors"], DrawnInputsJson(task, dims));
  return one_case;
}

// The child's answer for one case: times of each mode ("eager", "compiled"). An error is a sentence.
struct TorchTimes {
  struct Mode {
    Interval time;
    int64_t calls = 1;                // number of calls in a sample
    std::optional<Interval> speedup;  // candidate over expression, from interleaved quads; nullopt: not timed together
    double apart = 0;                 // rms difference of the two results, relative to the expression's rms
    std::string unpaired;             // why `speedup` is missing
  };
  std::string error;
  std::map<std::string, Mode> times;
  std::map<std::string, std::string> errors;
};

// The child's whole answer; `error` applies to every case that has no times.
struct TorchAnswer {
  std::string version, error;
  std::vector<TorchTimes> cases;
};

// Reads one line of the child's output into `answer`.
void ReadTorchLine(std::string_view line, TorchAnswer* answer) {
  const Result<json> parsed = ParseJson(line, "PyTorch's answer");
  if (!parsed.ok()) {
    answer->error = parsed.status().message();
    return;
  }
  JsonFields fields(*parsed, "PyTorch's answer");
  std::string torch, cuda = "?", error;
  int64_t number = -1;
  fields.Read("torch", torch);
  fields.Read("cuda", cuda);
  fields.Read("case", number);
  fields.Read("error", error);
  if (!torch.empty()) answer->version = fmt::format("PyTorch {}, CUDA {}", torch, cuda);
  const bool is_case_number = number >= 0 && number < static_cast<int64_t>(answer->cases.size());
  if (!error.empty()) (is_case_number ? answer->cases[number].error : answer->error) = error;
  if (!is_case_number) return;
  TorchTimes& times = answer->cases[number];
  fields.Object("times", [&](JsonFields& modes) {
    for (const char* name : {"eager", "compiled"}) {
      modes.Object(name, [&](JsonFields& one) {
        std::string why;
        one.Read("error", why);
        if (!why.empty()) {
          times.errors[name] = why;
          return;
        }
        TorchTimes::Mode& mode = times.times[name];
        one.Require("median", mode.time.median);
        one.Require("low", mode.time.low);
        one.Require("high", mode.time.high);
        one.Read("calls", mode.calls);
        one.Object("paired", [&](JsonFields& paired) {
          paired.Read("error", mode.unpaired);
          if (!mode.unpaired.empty()) return;
          Interval& speedup = mode.speedup.emplace();
          paired.Require("median", speedup.median);
          paired.Require("low", speedup.low);
          paired.Require("high", speedup.high);
          paired.Read("apart", mode.apart);
        });
      });
    }
  });
  if (!fields.ok()) times.error = fields.status().message();
}

// Returns the facts about the task's own PyTorch module that the child gets.
json ModuleJson(const Task& task) {
  const TorchModule module = TorchModuleOf(task);
  json inputs = json::array(), state = json::object(), sizes = json::object();
  for (const TorchModule::Input& input : module.inputs) {
    inputs.push_back(input.tensor.empty() ? json{{"value", ReadJsonText(input.number)}}
                                          : json{{"tensor", input.tensor}});
  }
  for (const auto& [tensor, name] : module.state) state[tensor] = name;
  for (const auto& [dim, name] : module.sizes) sizes[dim] = name;
  return {{"text", task.oracle_source},
          {"file", (task.directory.empty() ? task.name : task.directory) + "/reference.py"},
          {"class", module.class_name},
          {"training", module.training},
          {"inputs", inputs},
          {"state", state},
          {"sizes", sizes},
          {"booleans", module.booleans}};
}

// Runs the child process until it ends. A module is a user's code, so its child runs confined, in a folder of its own.
// An expression is part of baseline.toml and is trusted.
Result<SubprocessResult> RunChild(const LibrarySpec& spec, const json& job, const TorchOptions& options, size_t cases) {
  SubprocessOptions run;
  run.stdin_text = DumpJson(job);
  run.limit_seconds = options.limit_seconds * static_cast<double>(cases);
  if (!spec.module) {
    const Result<std::string> python = FindExecutable("python3", options.python_directories);
    if (!python.ok())
      return Status::Unavailable("python3 is not on the PATH: install it with PyTorch, or leave this baseline out");
    run.argv = {*python, "-c", std::string(TorchChildSource())};
    run.environment = options.environment;
    return RunSubprocess(run);
  }
  HONE_ASSIGN_OR_RETURN(const Python python, FindPython(options.environment));
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory scratch, MakeTemporaryDirectory("", "hone-torch-"));
  HONE_ASSIGN_OR_RETURN(PythonStart start,
                        StartOf(python, ProblemScript() + std::string(TorchChildSource()), scratch.path(),
                                {.environment = options.environment, .gpu = options.ordinal}));
  HONE_RETURN_IF_ERROR(AllowCompilers(options.cuda_home, python, scratch.path(), &start));
  run.argv = std::move(start.argv);
  run.environment = std::move(start.environment);
  run.working_directory = scratch.path();
  run.sandbox = std::move(start.sandbox);
  return RunSubprocess(run);
}

// Runs the PyTorch child for all cases and reads its answer. A failure of the child is in TorchAnswer::error.
TorchAnswer AskTorch(const LibrarySpec& spec, const Task& task, const std::vector<CaseResult*>& cases,
                     const TorchOptions& options) {
  TorchAnswer answer;
  answer.cases.resize(cases.size());
  json job = {{"expression", spec.expression}, {"ordinal", options.ordinal}, {"l2_bytes", options.l2_bytes},
              {"seed", options.seed >> 1},     {"samples", kTorchSamples},   {"modes", options.modes}, {"cases", json::array()}};
  if (spec.module) job["module"] = ModuleJson(task);
  for (const auto& [name, expression] : spec.prepare) job["prepare"].push_back({name, expression});
  for (const CaseResult* c : cases) {
    const Result<json> one = TorchCase(task, c->dims);
    if (!one.ok()) {
      answer.error = one.status().message();
      return answer;
    }
    job["cases"].push_back(*one);
    if (options.candidate == nullptr) continue;
    const Result<json> launches = LaunchesJson(*options.candidate, task, c->dims, options.facts);
    if (launches.ok()) {
      job["cases"].back()["launches"] = *launches;
      if (!job.contains("modules")) job["modules"] = ModulesJson(*options.candidate);
    } else {
      job["cases"].back()["unpaired"] = launches.status().message();
    }
  }
  const Result<SubprocessResult> ran = RunChild(spec, job, options, cases.size());
  if (!ran.ok()) {
    answer.error = ran.status().message();
    return answer;
  }
  // Libraries may print to the same stream, so the child's own lines begin with a mark.
  size_t lines = 0;
  for (size_t begin = 0; begin < ran->out.size();) {
    const size_t end = std::min(ran->out.find('\n', begin), ran->out.size());
    const std::string_view line = std::string_view(ran->out).substr(begin, end - begin);
    begin = end + 1;
    if (line.rfind(kTorchMark, 0) != 0) continue;
    ReadTorchLine(line.substr(kTorchMark.size()), &answer);
    ++lines;
  }
  if (ran->timed_out) {
    answer.error = fmt::format("PyTorch took more than {:.0f} s and was ended",
                               options.limit_seconds * static_cast<double>(cases.size()));
  } else if (answer.error.empty() && (!ran->exit.success() || lines == 0)) {
    answer.error = fmt::format("the PyTorch process ended with {}{}", ran->exit.Describe(),
                               lines > 0 ? "" : ", without an answer");
  }
  return answer;
}

}  // namespace

void TimeTorch(const LibrarySpec& spec, const Task& task, const std::vector<CaseResult*>& cases,
               const TorchOptions& options) {
  if (cases.empty()) return;
  const TorchAnswer answer = AskTorch(spec, task, cases, options);
  for (size_t i = 0; i < cases.size(); ++i) {
    CaseResult& c = *cases[i];
    const TorchTimes& measured = answer.cases[i];
    for (const std::string& mode : options.modes) {
      LibraryResult& result = c.libraries.emplace_back();
      result.name = spec.name + "_" + mode;
      const auto time = measured.times.find(mode);
      const auto error = measured.errors.find(mode);
      if (!measured.error.empty()) {
        result.detail = fmt::format("{}: {}", answer.version, measured.error);
      } else if (error != measured.errors.end()) {
        result.detail = fmt::format("{}: {}", answer.version, error->second);
      } else if (time == measured.times.end() || !(time->second.time.median > 0) || !(time->second.time.low > 0)) {
        result.detail = answer.error.empty() ? answer.version + " gave no time" : answer.error;
      } else {
        const TorchTimes::Mode& timed = time->second;
        const std::string calls = timed.calls == 1 ? "one call" : fmt::format("{} calls", timed.calls);
        result.time_us = timed.time.median;
        if (timed.speedup) {
          result.speedup = timed.speedup;
          result.detail = fmt::format("{}, in interleaved pairs, {} to a sample", answer.version, calls);
          if (!(timed.apart <= kFarApart))
            result.detail += fmt::format("; its result is {:.1e} of its size away", timed.apart);
        } else {
          result.detail = fmt::format("{}, timed by itself{}, {} to a sample", answer.version,
                                      timed.unpaired.empty() ? "" : fmt::format(" ({})", timed.unpaired), calls);
          if (c.time_us && c.time_us->low > 0) {
            result.speedup = Interval{timed.time.median / c.time_us->median, timed.time.low / c.time_us->high,
                                      timed.time.high / c.time_us->low};
          }
        }
      }
    }
  }
}

void TimeLibraries(const std::vector<LibrarySpec>& specs, const Task& task, const TimeAgainst& against,
                   const TorchOptions& torch, Evaluation* evaluation) {
  const auto timed_case = [&](const Dims& dims) -> CaseResult* {
    for (CaseResult& c : evaluation->cases) {
      if (c.role == CaseRole::kTime && c.dims == dims) return &c;
    }
    return nullptr;
  };
  for (const LibrarySpec& spec : specs) {
    if (spec.kind == LibraryKind::kTorch) {
      std::vector<CaseResult*> cases;
      for (CaseResult& c : evaluation->cases) {
        if (c.role == CaseRole::kTime && c.time_us) cases.push_back(&c);
      }
      TimeTorch(spec, task, cases, torch);
      continue;
    }
    for (const bool best : {false, true}) {
      const std::string name = best ? "cublaslt_best" : "cublaslt_first";
      const Result<Evaluation> held = against(CublasLtSource(spec, task, best), name);
      const bool missing = !held.ok() || held->verdict != Verdict::kOk;
      for (CaseResult& c : evaluation->cases) {
        if (c.role != CaseRole::kTime || !c.time_us) continue;
        LibraryResult& result = c.libraries.emplace_back();
        result.name = name;
        result.detail = best ? fmt::format("the fastest of {} algorithms of the heuristics", spec.algorithms)
                             : "the heuristics' first algorithm";
        if (missing) result.detail = "was not timed: " + (held.ok() ? held->detail : held.status().message());
      }
      if (missing) continue;
      for (const CaseResult& held_case : held->cases) {
        CaseResult* own_case = held_case.role == CaseRole::kTime ? timed_case(held_case.dims) : nullptr;
        if (own_case == nullptr || own_case->libraries.empty()) continue;
        own_case->libraries.back().time_us = held_case.baseline_us;
        own_case->libraries.back().speedup = held_case.speedup;
      }
    }
  }
}

}  // namespace hone
