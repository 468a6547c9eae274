// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone eval TASK CANDIDATE.cu says whether a candidate is right, and how fast it is against the task's seed. hone eval
// TASK SUBMISSION.py does the same for a finished PyTorch module, lifted or hosted, against PyTorch itself.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/process/sandbox.h"
#include "base/text/json_text.h"
#include "common/build_facts.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/tuner/library_text.h"
#include "tuner/interop/write/flashinfer_solution.h"
#include "tuner/queue/redis_connection.h"
#include "tuner/torch/definition_files.h"
#include "tuner/torch/hosted_judge.h"
#include "tuner/workbench/evaluation_choices.h"
#include "tuner/workbench/export_kernel.h"
#include "tuner/workbench/trace_lines.h"

namespace hone {
namespace {

constexpr std::string_view kMaxAutotune = "max-autotune";  // a mode of torch.compile

struct EvalFlags {
  DeviceFlags device;
  std::string task, candidate, baseline, trace;
  uint64_t seed = 0;
  bool no_calls = false, no_time = false, no_warm = false, profile = false, sass = false, hosted = false;
  std::vector<std::string> bindings;
  std::vector<size_t> only_cases;
  std::string libraries;  // "default" or "max-autotune"; empty: no libraries are timed
  int trials = 5;
};

// Returns advice if a simulated candidate was timed out: at the timed sizes, a candidate that is quick on a GPU may
// take minutes on the simulated one.
std::string WhatHelpsASlowSimulation(const Evaluation& evaluation, const EvalFlags& flags) {
  if (!evaluation.modelled || evaluation.verdict != Verdict::kTimedOut ||
      evaluation.detail.find("the kernel did not finish") == std::string::npos) {
    return "";
  }
  return fmt::format("  It hangs, or is slow to simulate: --launch-limit SECONDS gives a launch longer{}.\n",
                     flags.no_time ? "" : ", --case N times that case alone, --no-time checks only");
}

// Appends this verdict in the form of FlashInfer-Bench's traces.
Status AppendTrace(const EvalFlags& flags, const Task& task, const Evaluation& evaluation) {
  TraceFacts facts{.solution = SolutionName(task, flags.candidate),
                   .timestamp = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
                   .version = ThisBuild().version,
                   .workloads = ""};
  const std::string workload_path = task.directory + "/" + kWorkloadFile;
  if (!task.directory.empty() && FileExists(workload_path)) {
    HONE_ASSIGN_OR_RETURN(facts.workloads, ReadFile(workload_path));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> lines, TraceLines(task, evaluation, facts));
  std::ofstream out(flags.trace, std::ios::app);
  for (const std::string& line : lines) out << line << '\n';
  out.flush();
  if (!out) return Status::Io(ErrnoMessage("append to", flags.trace, errno));
  if (!flags.device.json) Print("Traces appended to {}: {}\n", flags.trace, lines.size());
  return Status::Ok();
}

// Judges a finished PyTorch module.
Status RunSubmission(CommandContext& context, const EvalFlags& flags, const Task& task, EvaluationRequest request) {
  if (!flags.baseline.empty() || !flags.bindings.empty() || flags.profile || flags.sass) {
    return Status::InvalidArgument(
        "--baseline, --bind, --profile and --sass are for candidates in CUDA, and this is a PyTorch module: leave them "
        "out");
  }
  HONE_RETURN_IF_ERROR(CheckChoices(task, request));
  HONE_ASSIGN_OR_RETURN(HostedOptions options, MakeHostedOptions(context, flags.device));
  options.compiled = !flags.libraries.empty();
  options.max_autotune = flags.libraries == kMaxAutotune;
  options.lift = !flags.hosted;
  for (const std::string& warning : ProbeSandbox().Warnings()) PrintError("hone: warning: {}\n", warning);
  HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, JudgeSubmission(task, request, options));
  if (flags.device.json) {
    nlohmann::json json = ReadJsonText(EvaluationToJson(evaluation));
    json["sandbox_warnings"] = ProbeSandbox().Warnings();
    Print("{}\n", DumpJson(json, 2));
  } else {
    Print("{}{}{}", DescribeEvaluation(evaluation, context.columns), WhatRepeatsIt(evaluation, flags.seed != 0),
          DescribeLibraries(evaluation, "  "));
  }
  context.exit_status = ExitStatusOf(evaluation.verdict);
  return Status::Ok();
}

// Judges a candidate and prints the verdict.
Status Run(CommandContext& context, const EvalFlags& flags) {
  HONE_ASSIGN_OR_RETURN(Task task, FindTask(context, flags.task));
  EvaluationRequest request;
  const std::optional<KernelName> kernel = AsKernelName(flags.candidate);
  if (!kernel) {
    HONE_ASSIGN_OR_RETURN(request.source, ReadCandidateOfTask(task, flags.candidate));
  }
  request.name = flags.candidate;
  if (!flags.baseline.empty()) {
    HONE_ASSIGN_OR_RETURN(request.incumbent_source, ReadCandidateOfTask(task, flags.baseline));
    request.incumbent_name = flags.baseline;
  }
  for (const std::string& binding : flags.bindings) {
    const size_t equals = binding.find('=');
    char* end = nullptr;
    const long long value = equals == std::string::npos ? 0 : std::strtoll(binding.c_str() + equals + 1, &end, 10);
    if (equals == std::string::npos || *end != '\0' || end == binding.c_str() + equals + 1) {
      return Status::InvalidArgument(fmt::format("--bind {}: write NAME=INTEGER, such as --bind VEC=8", binding));
    }
    request.binding[binding.substr(0, equals)] = value;
  }
  if (!flags.trace.empty() && (flags.no_time || IsSubmission(flags.candidate))) {
    return Status::InvalidArgument(
        flags.no_time ? "--trace writes times down, and --no-time takes none: leave one of them out"
                      : "--trace is for candidates with a launch plan, and this is a PyTorch module: leave it out");
  }
  if (!flags.libraries.empty() && flags.libraries != "default" &&
      (flags.libraries != kMaxAutotune || !IsSubmission(flags.candidate))) {
    return Status::InvalidArgument(fmt::format(
        "--libraries={}: write --libraries, or for a .py file --libraries={}", flags.libraries, kMaxAutotune));
  }
  HONE_RETURN_IF_ERROR(CheckSeed(flags.device, flags.seed));
  request.seed = flags.seed;
  request.time = !flags.no_time;
  request.warm = !flags.no_warm;
  request.correctness_trials = flags.trials;
  request.only_time_cases = flags.only_cases;
  request.allow_calls = !flags.no_calls;
  request.simulate = !flags.device.no_sim;
  request.profile = flags.profile || flags.sass;
  request.sass = flags.sass;
  request.libraries = !flags.libraries.empty();
  if (IsSubmission(flags.candidate)) return RunSubmission(context, flags, task, std::move(request));
  if (flags.hosted) return Status::InvalidArgument("--hosted is for a .py file with a ModelNew: leave it out");
  std::unique_ptr<Evaluator> evaluator;
  if (kernel) {  // a kernel is compiled for the device that the evaluator opens
    HONE_ASSIGN_OR_RETURN(evaluator, OpenEvaluator(context, flags.device));
    HONE_ASSIGN_OR_RETURN(request.source,
                          ExportKernel(task, *kernel, evaluator->facts(), {.environment = context.environment}));
  }
  HONE_RETURN_IF_ERROR(CheckChoices(task, request));
  if (!evaluator) {
    HONE_ASSIGN_OR_RETURN(evaluator, OpenEvaluator(context, flags.device));
  }
  HONE_ASSIGN_OR_RETURN(Evaluation evaluation, evaluator->Evaluate(task, request));
  if (flags.device.json) {
    Print("{}", EvaluationOutput(*evaluator, evaluation));
  } else {
    // The profile's text contains its findings, so they are not printed twice.
    const std::string profile = evaluation.profile ? DescribeProfile(*evaluation.profile, "  ") : "";
    if (evaluation.profile) {
      std::erase_if(evaluation.findings, [&](const Finding& finding) {
        return std::any_of(
            evaluation.profile->findings.begin(), evaluation.profile->findings.end(),
            [&](const ProfileFinding& f) { return f.kind == finding.kind && f.location == finding.location; });
      });
    }
    Print("{}{}{}{}{}", DescribeEvaluation(evaluation, context.columns), WhatHelpsASlowSimulation(evaluation, flags),
          WhatRepeatsIt(evaluation, flags.seed != 0 || IsRedisAddress(flags.device.device)),
          DescribeLibraries(evaluation, "  "), profile);
  }
  context.exit_status = ExitStatusOf(evaluation.verdict);
  return flags.trace.empty() ? Status::Ok() : AppendTrace(flags, task, evaluation);
}

}  // namespace

void RegisterEvalCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "judge one candidate: is it right, and how fast is it?");
  command->add_option("task", flags->task, "name of a task, or a folder with a task.toml")->required();
  command
      ->add_option(
          "candidate", flags->candidate,
          "the kernel to judge: a .cu file; a Triton kernel, FILE.py::FUNCTION; machine code, a .honek file or a "
          "folder with a candidate.toml; or, for a task with a PyTorch module, a .py file with a class ModelNew")
      ->required();
  command->add_option("--baseline", flags->baseline, "time against this kernel instead of the task's own (its seed)");
  command->add_option("--bind", flags->bindings,
                      "give a tunable, a constant that the candidate declares, this value; may be repeated");
  command
      ->add_option(
          "--seed", flags->seed,
          "draw the inputs from this seed, to repeat an earlier verdict, whose JSON states it; 0: a new random seed")
      ->capture_default_str();
  AddTrialsOption(*command, flags->trials, "how many sets of random inputs each timed case is checked with");
  command->add_option("--case", flags->only_cases, "time only this timed case, counted from 0; may be repeated");
  command->add_flag("--no-time", flags->no_time, "check the candidate and do not time it");
  command->add_flag("--no-warm", flags->no_warm, "time only with cold caches");
  command->add_flag("--no-calls", flags->no_calls, "reject a candidate that calls a library, such as cuBLAS");
  command->add_flag("--profile", flags->profile,
                    "profile the kernel too: where its time goes, and what limits its speed");
  command->add_flag("--sass", flags->sass,
                    "show machine code next to the source lines of the profile (needs nvdisasm)");
  command->add_flag("--libraries{default}", flags->libraries,
                    "also time the libraries that the task's baseline.toml names; for a .py file, torch.compile of the "
                    "module, and with --libraries=max-autotune its mode of that name too");
  command->add_flag(
      "--hosted", flags->hosted,
      "run a .py file as it is, in a Python process of its own, instead of extracting its kernels (docs/finished-modules.md)");
  command->add_option("--trace", flags->trace,
                      "append the verdict to this file in FlashInfer-Bench's form, one line per workload");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
