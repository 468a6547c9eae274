// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/hosted_judge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/numbers/hash.h"
#include "base/numbers/random.h"
#include "base/process/frames.h"
#include "base/process/subprocess.h"
#include "base/text/json_fields.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/torch/drawn_inputs.h"
#include "tuner/torch/python_process.h"
#include "tuner/torch/scripts.h"

namespace hone {
namespace {

using nlohmann::json;

// The longest time between two frames from the referee: loading a submission may compile for minutes, and nothing is
// sent while a case is timed.
constexpr double kSilenceSeconds = 900;
constexpr int64_t kMostRefereeBytes = 16 << 20;
constexpr int64_t kMostSubmissionBytes = 4 << 20;
constexpr double kStable = 0.05;  // the time is "stable" if its interval is at most this share of the median wide

// A process of the user's Python: the referee, a stage or a player.
struct PythonProcess {
  TemporaryDirectory scratch;  // its working directory
  UniqueFd output;             // memory file with what it printed
  std::optional<ChildProcess> child;
  SandboxReport sandbox;
};

// Starts a script in the sandbox, in a folder of its own. `submission`: it may run compilers. `descriptors`: (here, there).
Result<PythonProcess> StartProcess(const Python& python, const std::string& script, const HostedOptions& options,
                                   bool submission, std::vector<std::pair<int, int>> descriptors) {
  PythonProcess process;
  HONE_ASSIGN_OR_RETURN(process.scratch, MakeTemporaryDirectory("", "hone-hosted-"));
  HONE_ASSIGN_OR_RETURN(process.output, MakeMemoryFile("hone-hosted-output"));
  HONE_ASSIGN_OR_RETURN(PythonStart start,
                        StartOf(python, script, process.scratch.path(),
                                {.environment = options.environment, .threads = options.threads, .gpu = options.gpu}));
  if (submission) HONE_RETURN_IF_ERROR(AllowCompilers(options.cuda_home, python, process.scratch.path(), &start));
  ChildOptions child;
  child.argv = std::move(start.argv);
  child.environment = std::move(start.environment);
  child.working_directory = process.scratch.path();
  child.sandbox = std::move(start.sandbox);
  child.descriptors = std::move(descriptors);
  child.descriptors.emplace_back(process.output.get(), 1);
  child.descriptors.emplace_back(process.output.get(), 2);
  HONE_ASSIGN_OR_RETURN(ChildProcess started, ChildProcess::Start(child));
  process.sandbox = started.sandbox();
  process.child.emplace(std::move(started));
  return process;
}

// Returns the last `bytes` of what the process printed.
std::string EndOfOutput(const PythonProcess& process, size_t bytes) {
  std::string output(bytes, '\0');
  const off_t size = lseek(process.output.get(), 0, SEEK_END);
  const ssize_t got =
      pread(process.output.get(), output.data(), output.size(), std::max<off_t>(0, size - static_cast<off_t>(bytes)));
  output.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return output;
}

// Returns the job for the referee.
Result<json> JobJson(const Task& task, const TorchModule& module, const EvaluationRequest& request,
                     const HostedOptions& options, const std::vector<Dims>& cases) {
  json inputs = json::array(), outputs = json::array(), list = json::array(), baselines = json::array();
  for (const TorchModule::Input& input : module.inputs) {
    inputs.push_back(input.tensor.empty()
                         ? json{{"value", ReadJsonText(input.number)}}
                         : json{{"tensor", input.tensor}, {"boolean", IsBoolean(module, input.tensor)}});
  }
  for (const std::string& name : module.outputs) outputs.push_back(name);
  for (const Dims& dims : cases) {
    json sizes = dims;
    for (const auto& [dim, name] : module.sizes) {
      if (!sizes.contains(dim)) continue;
      sizes[name] = sizes[dim];
      sizes.erase(dim);
    }
    HONE_ASSIGN_OR_RETURN(const json tensors, DrawnInputsJson(task, dims));
    json results = json::object();
    for (const std::string& name : module.outputs) {
      const TensorSpec& tensor = *task.FindTensor(name);
      const Tolerance& tolerance = task.tolerance.at(name);
      HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
      results[name] = {
          {"shape", shape.shape},           {"dtype", DTypeName(tensor.dtype)}, {"c_max", tolerance.c_max},
          {"c_rms", tolerance.c_rms},       {"c_small", tolerance.c_small},     {"small_floor", tolerance.small_floor},
          {"absolute", tolerance.absolute}, {"slice_axis", tensor.slice_axis},  {"boolean", IsBoolean(module, name)}};
    }
    json weights = json::object();  // by their names in the module: weights.py says what it is for
    for (const auto& [tensor, name] : module.state) {
      const bool kept = task.FindTensor(tensor)->role == TensorRole::kIn;
      weights[name] = {{"shape", tensors[tensor]["shape"]}, {"draw", kept ? tensors[tensor] : json()}};
    }
    list.push_back({{"sizes", sizes}, {"tensors", tensors}, {"outputs", results}, {"weights", weights}});
  }
  if (options.gpu >= 0 && request.time) {
    baselines.push_back("torch_eager");
    if (options.compiled) baselines.push_back("torch_compiled");
    if (options.max_autotune) baselines.push_back("torch_max_autotune");
  }
  return json{{"text", task.oracle_source},
              {"file", (task.directory.empty() ? task.name : task.directory) + "/reference.py"},
              {"class", module.class_name},
              {"training", module.training},
              {"threads", options.threads},
              {"inputs", inputs},
              {"outputs", outputs},
              {"device", options.gpu < 0 ? std::string("cpu") : fmt::format("cuda:{}", options.gpu)},
              {"cases", list},
              {"trials", request.correctness_trials},
              {"seed", request.seed},
              {"submission", request.source},
              {"baselines", baselines},
              {"l2_bytes", options.l2_bytes},
              {"launch_seconds", options.launch_limit_seconds},
              {"time_seconds", options.time_seconds},
              {"lift", false}};
}

Interval ReadInterval(JsonFields& fields, const char* name) {
  Interval interval;
  fields.Object(name, [&](JsonFields& one) {
    one.Require("median", interval.median);
    one.Require("low", interval.low);
    one.Require("high", interval.high);
  });
  return interval;
}

// Reads by how much the referee corrected hosted times against the baseline `name`, and adds findings that say so.
void ReadCorrections(JsonFields& fields, const char* name, const Dims& dims, Evaluation* evaluation) {
  double early_us = 0, slowed = 1;
  bool slowed_counts = false;
  fields.Read("early_us", early_us);
  fields.Read("slowed", slowed);
  fields.Read("slowed_counts", slowed_counts);
  double& most = evaluation->metrics["hosted_slowed"];
  most = std::max(most, slowed);
  if (early_us > 0) {
    evaluation->findings.push_back(
        {.kind = "early_work",
         .message =
             fmt::format("the submission worked on the GPU before it was called, for {:.3g} us a call, which count "
                         "as its time against {}",
                         early_us, name),
         .location = "",
         .dims = dims,
         .timed = true});
  }
  if (slowed_counts) {
    evaluation->findings.push_back(
        {.kind = "slowed_baseline",
         .message =
             fmt::format("{} took {:.3g} times as long beside the submission as after its process had ended; the "
                         "shorter time counts",
                         name, slowed),
         .location = "",
         .dims = dims,
         .timed = true});
  }
}

// Reads the referee's times against the baseline `name` into a case's result.
void ReadBaseline(JsonFields& fields, const char* name, const std::string& torch, Evaluation* evaluation,
                  CaseResult* result) {
  fields.Object(name, [&](JsonFields& one) {
    LibraryResult library;
    library.name = name;
    one.Read("error", library.detail);
    if (library.detail.empty()) {
      const Interval mine = ReadInterval(one, "time_us"), theirs = ReadInterval(one, "baseline_us"),
                     speedup = ReadInterval(one, "speedup");
      int quads = 0, calls = 1;
      one.Require("quads", quads);
      one.Require("calls", calls);
      library.time_us = theirs.median;
      library.speedup = speedup;
      const bool lifted = evaluation->guarantee == kLiftedGuarantee;
      if (!lifted) ReadCorrections(one, name, result->dims, evaluation);
      library.detail =
          lifted ? fmt::format("PyTorch {}, lifted alike, in interleaved pairs of {} cold launches", torch, calls)
                 : fmt::format("PyTorch {}, hosted alike, in interleaved pairs, {} calls to a handover", torch, calls);
      if (std::string_view(name) == "torch_eager") {
        result->time_us = mine;
        result->baseline_us = theirs.median;
        result->speedup = speedup;
        result->timing.quads = quads;
        result->timing.plans_per_sample = lifted ? 1 : calls;
        result->timing.status = speedup.high - speedup.low <= kStable * speedup.median ? "stable" : "inconclusive";
        result->timing.decision = speedup.low > 1 ? "faster" : speedup.high < 1 ? "slower" : "undecided";
      }
    }
    result->libraries.push_back(std::move(library));
  });
}

// Returns the finding about weights that are one number everywhere, which a submission could leave out. `weights`: their
// numbers by name. No value: there are none.
std::optional<Finding> ConstantWeights(const json& weights) {
  constexpr size_t kMostNamed = 6;
  std::vector<std::string> constants;
  if (weights.is_object()) {
    for (const auto& [name, value] : weights.items()) {
      if (value.is_number()) constants.push_back(fmt::format("{} is {:.6g}", name, value.get<double>()));
    }
  }
  if (constants.empty()) return std::nullopt;
  const bool one = constants.size() == 1;
  const size_t more = constants.size() - std::min(constants.size(), kMostNamed);
  constants.resize(constants.size() - more);
  return Finding{
      .kind = "constant_weight",
      .message = fmt::format("{}{} everywhere in the module: this verdict cannot tell whether ModelNew uses {}. "
                             "It can if all parameters and buffers of ModelNew have the names and shapes of "
                             "the module's, for then other numbers are drawn for both",
                             fmt::join(constants, ", "),
                             more > 0 ? fmt::format(" and {} more are one number", more) : "", one ? "it" : "them"),
      .location = ""};
}

// Reads the referee's answer into the evaluation. kInternal: the answer is not valid.
Status ReadAnswer(const json& answer, const std::vector<Dims>& dims, Evaluation* evaluation) {
  JsonFields fields(answer, "the referee's answer");
  std::string verdict, torch = "?";
  fields.Require("verdict", verdict);
  fields.Read("detail", evaluation->detail);
  fields.Read("torch", torch);
  const std::optional<Verdict> known = VerdictFromName(verdict);
  if (!fields.ok() || !known)
    return Status::Internal(fields.ok() ? "the referee gives a verdict that does not exist: " + verdict
                                        : fields.status().message());
  evaluation->verdict = *known;
  evaluation->device += fmt::format(", PyTorch {}", torch);
  fields.Object("seconds", [&](JsonFields& one) {
    for (const char* name : {"load", "context", "start", "build", "capture", "player", "end", "reference", "play", "time"}) {
      double seconds = -1;
      one.Read(name, seconds);
      if (seconds >= 0) evaluation->metrics[std::string("lifted_seconds_") + name] = seconds;
    }
  });
  fields.Object("mismatch", [&](JsonFields& one) {
    Mismatch& mismatch = evaluation->mismatch.emplace();
    one.Read("tensor", mismatch.tensor);
    one.Read("index", mismatch.index);
    one.Read("expected", mismatch.expected);
    one.Read("actual", mismatch.actual);
    one.Read("wrong", mismatch.wrong_elements);
    one.Read("total", mismatch.total_elements);
    mismatch.distribution = "drawn";
    mismatch.seed = evaluation->seed;
  });
  if (answer.contains("cases") && answer["cases"].is_array()) {
    for (size_t i = 0; i < dims.size() && i < answer["cases"].size(); ++i) {
      JsonFields one(answer["cases"][i], "the referee's answer");
      CaseResult result;
      result.dims = dims[i];
      one.Read("max_scaled_error", result.max_scaled_error);
      one.Read("rms_error", result.rms_error);
      const json& row = answer["cases"][i];
      if (row.contains("widened") && row["widened"].is_object()) {
        for (const auto& [name, value] : row["widened"].items()) {
          if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number()) continue;
          evaluation->findings.push_back(
              {.kind = "tolerance_widened",
               .message = fmt::format("{} of the task's own module in float32 is further off than its tolerance allows "
                                      "at these sizes, so four times "
                                      "the module's error was allowed: {:.3g} of the scale, rms {:.3g}",
                                      name, value[0].get<double>(), value[1].get<double>()),
               .location = ""});
        }
      }
      if (row.contains("narrowed") && row["narrowed"].is_object()) {
        for (const auto& [name, value] : row["narrowed"].items()) {
          if (!value.is_array() || value.size() != 2 || !value[0].is_number() || !value[1].is_number()) continue;
          evaluation->findings.push_back(
              {.kind = "tolerance_narrowed",
               .message = fmt::format("the task's tolerance for {} is loose, and its module in float32 is far more precise at "
                                      "these sizes, so less was allowed: {:.3g} of the scale, rms {:.3g}",
                                      name, value[0].get<double>(), value[1].get<double>()),
               .location = ""});
        }
      }
      double hard_sets = 0;
      one.Read("hard_sets", hard_sets);
      evaluation->metrics["hard_sets"] = evaluation->metrics["hard_sets"] + hard_sets;
      if (row.contains("allclose") && row["allclose"].is_boolean()) {
        const double accepted = row["allclose"].get<bool>() ? 1 : 0;
        const auto entry = evaluation->metrics.emplace("kernelbench_allclose", accepted).first;
        entry->second = std::min(entry->second, accepted);  // of all cases
      }
      if (row.contains("constant") && row["constant"].is_object()) {
        for (const auto& [name, value] : row["constant"].items()) {
          if (!value.is_number()) continue;
          evaluation->findings.push_back(
              {.kind = "constant_output",
               .message = fmt::format("{} is {} everywhere by the task's module, whatever its inputs: this verdict "
                                      "does not tell a submission that "
                                      "computes it from one that answers that number",
                                      name, value.get<double>()),
               .location = ""});
        }
      }
      if (row.contains("constant_weights")) {
        if (std::optional<Finding> finding = ConstantWeights(row["constant_weights"]))
          evaluation->findings.push_back(*std::move(finding));
      }
      one.Object("plan", [&](JsonFields& plan) {
        for (const char* name : {"kernels", "other_nodes", "kept_bytes", "mapped_bytes"}) {
          double value = 0;
          plan.Read(name, value);
          evaluation->metrics[std::string("lifted_") + name] = value;
        }
      });
      one.Object("baselines", [&](JsonFields& baselines) {
        for (const char* name : {"torch_eager", "torch_compiled", "torch_max_autotune"})
          ReadBaseline(baselines, name, torch, evaluation, &result);
      });
      if (!one.ok()) return Status::Internal(one.status().message());
      evaluation->cases.push_back(std::move(result));
    }
  }
  return Status::Ok();
}

// The processes of one attempt at a verdict.
struct Processes {
  SocketPair ours;  // to the referee
  std::vector<PythonProcess> stages, players;
  std::optional<PythonProcess> referee;
};

// Ends all processes at once when it goes out of scope. The destructor of each would wait for its end before the next
// is ended, and a process that holds a GPU takes a tenth of a second to end.
class EndsTogether {
 public:
  explicit EndsTogether(Processes& processes) : processes_(processes) {}
  ~EndsTogether() {
    for (std::vector<PythonProcess>* some : {&processes_.stages, &processes_.players}) {
      for (PythonProcess& one : *some) one.child->Kill();
    }
    if (processes_.referee) processes_.referee->child->Kill();
  }
  EndsTogether(const EndsTogether&) = delete;
  EndsTogether& operator=(const EndsTogether&) = delete;

 private:
  Processes& processes_;
};

// Starts the processes: a stage for the submission and for each baseline, with `lift` as many players, and the referee.
Result<Processes> StartProcesses(const Python& python, const HostedOptions& options, size_t baselines, bool lift) {
  Processes processes;
  // The referee's descriptors are 3, the socket to this process, then one socket for each stage, then one for each
  // player.
  HONE_ASSIGN_OR_RETURN(processes.ours, MakeSocketPair());
  std::vector<std::pair<int, int>> ends = {{processes.ours.theirs.get(), 3}};
  std::vector<SocketPair> pairs;
  for (const bool player : {false, true}) {
    for (size_t i = 0; i < 1 + baselines && (!player || lift); ++i) {
      HONE_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
      HONE_ASSIGN_OR_RETURN(PythonProcess one, StartProcess(python, player ? PlayerScript() : StageScript(), options,
                                                            !player, {{pair.theirs.get(), 3}}));
      pair.theirs.Reset();  // only the child holds this end, so that its exit closes it
      ends.emplace_back(pair.ours.get(), static_cast<int>(3 + ends.size()));
      pairs.push_back(std::move(pair));
      (player ? processes.players : processes.stages).push_back(std::move(one));
    }
  }
  HONE_ASSIGN_OR_RETURN(PythonProcess referee,
                        StartProcess(python, RefereeScript(), options, /*submission=*/false, ends));
  processes.referee.emplace(std::move(referee));
  processes.ours.theirs.Reset();
  return processes;
}

// Returns whether the file is one that `hone apply --as kernelbench` wrote: a kernel in CUDA, which only a GPU runs.
bool IsExported(const std::string& source) {
  return source.find("# Written by `hone apply` from ") != std::string::npos && source.find("# ---- the kernel ----") != std::string::npos;
}

// Makes one attempt at a verdict and fills in `evaluation`. Returns an empty text, or why the submission could not be
// lifted; then there is no verdict.
Result<std::string> Attempt(const Python& python, const HostedOptions& options, const json& job,
                            const std::vector<Dims>& cases, const EvaluationProgress& progress,
                            Evaluation* evaluation) {
  const bool lift = job["lift"].get<bool>();
  json begun = job;
  begun["begun"] = SteadySeconds();
  HONE_ASSIGN_OR_RETURN(Processes processes, StartProcesses(python, options, job["baselines"].size(), lift));
  const EndsTogether ends_together(processes);
  const auto referee_error = [&](const Status& status) {
    const std::string output = EndOfOutput(*processes.referee, 600);
    return Status::Unavailable(fmt::format("the referee of the hosted judge {}{}{}",
                                           status.code() == StatusCode::kTimedOut ? "did not answer in time" : "ended",
                                           output.empty() ? "" : "; it said: ", output));
  };
  if (const Status sent = SendFrame(processes.ours.ours.get(), DumpJson(begun), {}, {}, 60); !sent.ok())
    return referee_error(sent);
  for (;;) {
    const Result<Frame> frame = ReceiveFrame(processes.ours.ours.get(), kSilenceSeconds, kMostRefereeBytes);
    if (!frame.ok()) return referee_error(frame.status());
    HONE_ASSIGN_OR_RETURN(const json answer, ParseJson(frame->header, "the referee's answer"));
    JsonFields fields(answer, "the referee's answer");
    std::string doing, failed, not_lifted;
    fields.Read("doing", doing);
    fields.Read("failed", failed);
    fields.Read("not_lifted", not_lifted);
    if (!failed.empty()) return Status::Unavailable(failed);
    if (!not_lifted.empty()) return not_lifted;
    if (answer.contains("end_stages") || answer.contains("end_submission")) {
      for (PythonProcess& stage : processes.stages) {
        stage.child->Kill();
        if (!answer.contains("end_stages")) break;  // the submission's is the first
      }
      if (const Status sent = SendFrame(processes.ours.ours.get(), "{}", {}, {}, 60); !sent.ok())
        return referee_error(sent);
      continue;
    }
    if (!doing.empty()) {
      if (progress) progress(lift ? "lifted" : "hosted", doing);
      continue;
    }
    evaluation->guarantee = lift ? kLiftedGuarantee : kHostedGuarantee;
    HONE_RETURN_IF_ERROR(ReadAnswer(answer, cases, evaluation));
    if (evaluation->verdict != Verdict::kOk) evaluation->log = EndOfOutput(processes.stages.front(), 8000);
    return std::string();
  }
}

}  // namespace

bool IsSubmission(const std::string& file) { return file.ends_with(".py"); }

Result<Evaluation> JudgeSubmission(const Task& task, const EvaluationRequest& given_request,
                                   const HostedOptions& options, const EvaluationProgress& progress) {
  if (!HasTorchModule(task)) {
    return Status::InvalidArgument(
        fmt::format("{} is a Python module, and task {} has none to hold it against: make one of the "
                    "problem with `hone new NAME --from problem.py`",
                    given_request.name, task.name));
  }
  if (static_cast<int64_t>(given_request.source.size()) > kMostSubmissionBytes) {
    return Status::InvalidArgument(
        fmt::format("{} is larger than {} MiB", given_request.name, kMostSubmissionBytes >> 20));
  }
  const double started = SteadySeconds();
  EvaluationRequest request = given_request;
  if (request.seed == 0) request.seed = SystemSeed() | 1;
  std::vector<Dims> cases;
  size_t number = 0;
  for (const Case& one : task.cases) {
    if (one.role != CaseRole::kTime) continue;
    const std::vector<size_t>& only = request.only_time_cases;
    if (only.empty() || std::find(only.begin(), only.end(), number) != only.end()) cases.push_back(one.dims);
    ++number;
  }
  const TorchModule module = TorchModuleOf(task);
  HONE_ASSIGN_OR_RETURN(json job, JobJson(task, module, request, options, cases));

  Evaluation evaluation;
  evaluation.task = task.name;
  evaluation.candidate = request.name;
  evaluation.source_hash = Sha256Hex(request.source);
  evaluation.device = options.gpu < 0 ? "cpu" : fmt::format("cuda:{} {}", options.gpu, options.gpu_name);
  evaluation.seed = request.seed;
  evaluation.gates = kGatesVersion;
  if (!job["baselines"].empty()) evaluation.baseline = "torch_eager";
  if (options.gpu < 0) evaluation.labels.emplace_back("untimed");
  if (options.gpu < 0 && IsExported(request.source)) {
    evaluation.verdict = Verdict::kUnsupported;
    evaluation.guarantee = kHostedGuarantee;
    evaluation.detail =
        "`hone apply` wrote this file of a kernel, which needs a GPU: judge it on a machine with a GPU (--device cuda:0), or the kernel itself "
        "with --device sim";
    evaluation.stages.push_back({"hosted", 0, false});
    return evaluation;
  }
  Python python;
  if (options.python) {
    python = *options.python;
  } else {
    HONE_ASSIGN_OR_RETURN(python, FindPython(options.environment));
  }

  std::string why_hosted;
  if (options.gpu >= 0 && options.lift) {
    job["lift"] = true;
    // Any failure while lifting leads to the hosted judge, which finds out whether the environment is at fault.
    const Result<std::string> lifted = Attempt(python, options, job, cases, progress, &evaluation);
    why_hosted = lifted.ok() ? *lifted : lifted.status().message();
  }
  if (options.gpu < 0 || !options.lift || !why_hosted.empty()) {
    job["lift"] = false;
    HONE_RETURN_IF_ERROR(Attempt(python, options, job, cases, progress, &evaluation).status());
  }
  if (!why_hosted.empty()) {
    evaluation.findings.push_back({.kind = "not_lifted",
                                   .message = fmt::format("judged hosted, for it was not lifted: {}", why_hosted),
                                   .location = ""});
  }
  evaluation.geomean_speedup = GeomeanSpeedup(evaluation.cases);
  evaluation.wall_seconds = SteadySeconds() - started;
  evaluation.stages.push_back(
      {evaluation.guarantee == kLiftedGuarantee ? "lifted" : "hosted", evaluation.wall_seconds, options.gpu >= 0});
  return evaluation;
}

}  // namespace hone
