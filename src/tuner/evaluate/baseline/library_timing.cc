// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/baseline/library_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_fields.h"
#include "base/subprocess.h"
#include "tuner/evaluate/baseline/torch_child.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr int kTorchSamples = 50;

Result<json> TorchJob(const LibrarySpec& spec, const Task& task, const Dims& dims, const TorchOptions& options) {
  json job = {{"dims", dims},       {"expression", spec.expression},  {"ordinal", options.ordinal}, {"l2_bytes", options.l2_bytes},
              {"seed", options.seed >> 1}, {"samples", kTorchSamples}, {"tensors", json::object()},  {"scalars", json::object()}};
  for (const ScalarSpec& scalar : task.scalars) job["scalars"][scalar.name] = scalar.value;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
    json& one = job["tensors"][tensor.name] = {{"shape", shape.shape},
                                               {"dtype", DTypeName(tensor.dtype)},
                                               {"distribution", DistributionName(tensor.values.distribution)},
                                               {"low", tensor.values.low},
                                               {"high", tensor.values.high},
                                               {"scale", tensor.values.scale},
                                               {"offset", tensor.values.offset}};
    if (tensor.values.index_bound) {
      HONE_ASSIGN_OR_RETURN(const int64_t bound, tensor.values.index_bound->Evaluate(dims));
      one["bound"] = bound;
    }
  }
  return job;
}

// What the child said, as times by mode; an error is a sentence.
struct TorchAnswer {
  std::string version, error;
  std::map<std::string, Interval> times;
  std::map<std::string, std::string> errors;
};

TorchAnswer AskTorch(const LibrarySpec& spec, const Task& task, const Dims& dims, const TorchOptions& options) {
  TorchAnswer answer;
  const Result<std::string> python = FindExecutable("python3", options.python_directories);
  if (!python.ok()) {
    answer.error = "python3 is not on the PATH: install it with PyTorch, or leave this baseline out";
    return answer;
  }
  const Result<json> job = TorchJob(spec, task, dims, options);
  if (!job.ok()) {
    answer.error = job.status().message();
    return answer;
  }
  SubprocessOptions run;
  run.argv = {*python, "-c", std::string(TorchChildSource())};
  run.environment = options.environment;
  run.stdin_text = job->dump();
  run.limit_seconds = options.limit_seconds;
  const Result<SubprocessResult> ran = RunSubprocess(run);
  if (!ran.ok()) {
    answer.error = ran.status().message();
    return answer;
  }
  if (ran->timed_out) {
    answer.error = fmt::format("PyTorch took more than {:.0f} s and was ended", options.limit_seconds);
    return answer;
  }
  // A library may print before us: the answer is the last line.
  std::string line = ran->out;
  while (line.ends_with('\n')) line.pop_back();
  line = line.substr(line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1);
  const Result<json> parsed = ParseJson(line, "PyTorch's answer");
  if (!ran->exit.success() || !parsed.ok()) {
    answer.error = fmt::format("the PyTorch process ended with {}{}", ran->exit.Describe(),
                               parsed.ok() ? "" : ", without an answer");
    return answer;
  }
  JsonFields fields(*parsed, "PyTorch's answer");
  std::string torch = "?", cuda = "?";
  fields.Read("error", answer.error);
  fields.Read("torch", torch);
  fields.Read("cuda", cuda);
  fields.Object("times", [&](JsonFields& times) {
    for (const char* mode : {"eager", "compiled"}) {
      times.Object(mode, [&](JsonFields& one) {
        std::string error;
        one.Read("error", error);
        if (!error.empty()) {
          answer.errors[mode] = error;
          return;
        }
        Interval& interval = answer.times[mode];
        one.Require("median", interval.median);
        one.Require("low", interval.low);
        one.Require("high", interval.high);
      });
    }
  });
  if (answer.error.empty() && !fields.ok()) answer.error = fields.status().message();
  answer.version = fmt::format("PyTorch {}, CUDA {}", torch, cuda);
  return answer;
}

}  // namespace

std::vector<LibraryResult> TimeTorch(const LibrarySpec& spec, const Task& task, const CaseResult& c, const TorchOptions& options) {
  const TorchAnswer answer = AskTorch(spec, task, c.dims, options);
  std::vector<LibraryResult> results;
  for (const char* mode : {"eager", "compiled"}) {
    LibraryResult& result = results.emplace_back();
    result.name = std::string("torch_") + mode;
    const auto time = answer.times.find(mode);
    const auto error = answer.errors.find(mode);
    if (!answer.error.empty()) {
      result.detail = answer.error;
    } else if (error != answer.errors.end()) {
      result.detail = fmt::format("{}: {}", answer.version, error->second);
    } else if (time == answer.times.end() || !(time->second.median > 0) || !(time->second.low > 0)) {
      result.detail = answer.version + " gave no time";
    } else {
      result.time_us = time->second.median;
      result.detail = answer.version + ", timed by itself";
      if (c.time_us && c.time_us->low > 0) {
        result.speedup = Interval{time->second.median / c.time_us->median, time->second.low / c.time_us->high,
                                  time->second.high / c.time_us->low};
      }
    }
  }
  return results;
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
      for (CaseResult& c : evaluation->cases) {
        if (c.role != CaseRole::kTime || !c.time_us) continue;
        for (LibraryResult& result : TimeTorch(spec, task, c, torch)) c.libraries.push_back(std::move(result));
      }
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
      for (const CaseResult& theirs : held->cases) {
        CaseResult* mine = theirs.role == CaseRole::kTime ? timed_case(theirs.dims) : nullptr;
        if (mine == nullptr || mine->libraries.empty()) continue;
        mine->libraries.back().time_us = theirs.baseline_us;
        mine->libraries.back().speedup = theirs.speedup;
      }
    }
  }
}

}  // namespace hone
