// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone bench kernelbench DIR --judge SUBMISSIONS judges a folder of finished ModelNew files as a leaderboard would.
// Each verdict is kept in a file of its own, so a campaign that was stopped or killed resumes when the same command is
// given again.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/sandbox.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/signal_stop.h"
#include "tuner/core/torch_module.h"
#include "tuner/workbench/kernelbench_suite.h"
#include "tuner/workbench/prepare_module_task.h"

namespace hone {
namespace {

struct KernelBenchFlags {
  DeviceFlags device;
  std::string problems, submissions, out = "kernelbench-results";
  std::vector<int> levels, numbers;
  bool compiled = false, no_time = false;
  int trials = 5;
};

// Returns the problem's task, which is made once and kept.
Result<Task> TaskOf(const CommandContext& context, const SuiteSubmission& submission, const std::string& text, const std::string& folder) {
  if (FileExists(folder + "/task.toml")) {
    const Result<std::string> kept = ReadFile(folder + "/reference.py");
    if (kept.ok() && *kept == text) return LoadTask(folder);
  }
  ModuleTaskOptions options;
  options.name = submission.task;
  options.file = submission.problem_file;
  options.text = text;
  options.eval_where_dropout = true;
  HONE_RETURN_IF_ERROR(PrepareModuleTask(options, {.environment = context.environment}, {.directory = folder, .overwrite = true}).status());
  return LoadTask(folder);
}

Result<SuiteResult> JudgeOne(const CommandContext& context, const KernelBenchFlags& flags, const HostedOptions& hosted,
                             const SuiteSubmission& submission) {
  EvaluationRequest request;
  HONE_ASSIGN_OR_RETURN(request.source, ReadSource(submission.file));
  request.name = submission.file;
  request.time = !flags.no_time;
  request.correctness_trials = flags.trials;
  SuiteResult refused;
  refused.submission = submission;
  if (submission.problem_file.empty()) {
    refused.verdict = "no_problem";
    refused.detail = fmt::format("there is no problem {} of level {} in {}", submission.problem, submission.level, flags.problems);
    return refused;
  }
  HONE_ASSIGN_OR_RETURN(const std::string problem, ReadSource(submission.problem_file));
  const std::string path = fmt::format("{}/results/{}.json", flags.out, submission.name);
  const std::string key = Sha256Hex(fmt::format("{}\n{}\n{} {} {} {} {}", Sha256Hex(problem), Sha256Hex(request.source), hosted.gpu_name,
                                                hosted.gpu >= 0, request.time, hosted.compiled, flags.trials));
  Result<SuiteResult> known = LoadSuiteResult(path, submission, key);
  if (known.ok()) return known;
  const double started = SteadySeconds();
  const Result<Task> task = TaskOf(context, submission, problem, fmt::format("{}/tasks/{}", flags.out, submission.task));
  SuiteResult result;
  if (task.ok()) {
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, JudgeSubmission(*task, request, hosted));
    result = ResultOf(submission, evaluation);
    if (result.detail.empty() && !TorchModuleOf(*task).training) result.detail = "in eval mode: in training mode the problem drops elements at random";
  } else if (task.status().code() == StatusCode::kUnavailable) {
    return task.status();  // PyTorch is missing, which is not the submission's fault
  } else {
    result = std::move(refused);
    result.verdict = "refused";
    result.detail = task.status().message();
  }
  result.seconds = SteadySeconds() - started;
  result.key = key;
  HONE_RETURN_IF_ERROR(WriteFileAtomically(path, SuiteResultToJson(result)));
  return result;
}

Status Run(CommandContext& context, const KernelBenchFlags& flags) {
  HONE_ASSIGN_OR_RETURN(std::vector<SuiteSubmission> submissions, FindSubmissions(flags.problems, flags.submissions));
  const auto asked = [](const std::vector<int>& chosen, int number) {
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), number) != chosen.end();
  };
  std::erase_if(submissions, [&](const SuiteSubmission& one) { return !asked(flags.levels, one.level) || !asked(flags.numbers, one.problem); });
  if (submissions.empty()) return Status::InvalidArgument("--level and --problem leave no submission");
  HONE_ASSIGN_OR_RETURN(HostedOptions hosted, MakeHostedOptions(context, flags.device));
  hosted.compiled = flags.compiled;
  const std::vector<std::string> warnings = ProbeSandbox().Warnings();
  for (const std::string& warning : warnings) PrintError("hone: warning: {}\n", warning);
  SignalStop signals;
  std::vector<SuiteResult> results;
  Status failed;
  for (const SuiteSubmission& submission : submissions) {
    if (signals.token().stop_requested()) return Status::Cancelled("stopped; the same command goes on from here");
    Result<SuiteResult> result = JudgeOne(context, flags, hosted, submission);
    if (!result.ok()) {  // not kept: the same command judges it again
      failed = result.status().WithContext(submission.name);
      if (!flags.device.json) PrintError("hone: {}\n", failed.message());
      continue;
    }
    if (!flags.device.json) {
      Print("{:<44} {:<15} {}\n", submission.name, result->verdict,
            result->over_eager ? fmt::format("{:.2f}x over eager", result->over_eager->median) : result->detail.substr(0, 160));
      std::fflush(stdout);
    }
    results.push_back(*std::move(result));
  }
  const bool timed = hosted.gpu >= 0 && !flags.no_time;
  const std::vector<SuiteSummary> summaries = SummarizeSuite(results, timed, timed && flags.compiled);
  nlohmann::json json = SuiteJson(results, summaries);
  json["guarantee"] = kHostedGuarantee;
  json["sandbox_warnings"] = warnings;
  HONE_RETURN_IF_ERROR(WriteFileAtomically(flags.out + "/summary.json", DumpJson(json, 2) + "\n"));
  if (flags.device.json) {
    Print("{}\n", DumpJson(json, 2));
  } else {
    Print("\n{}\nguarantee: {}; {}/summary.json has the same as JSON\n", SuiteTable(results, summaries), kHostedGuarantee, flags.out);
  }
  return failed;
}

}  // namespace

void RegisterKernelBenchCommand(CLI::App& bench, CommandContext& context) {
  auto flags = std::make_shared<KernelBenchFlags>();
  CLI::App* command = bench.add_subcommand("kernelbench", "judge a folder of finished PyTorch modules against KernelBench's problems");
  command->add_option("problems", flags->problems, "a checkout of KernelBench, or a folder with level1/, level2/, … or with the problems' files")->required();
  command->add_option("--judge", flags->submissions, "the folder of ModelNew files: level_1_problem_19_sample_0_kernel.py, or named as the problem's file")->required();
  command->add_option("--out", flags->out, "folder for tasks, verdicts and the summary")->capture_default_str();
  command->add_option("--level", flags->levels, "only these levels, separated by commas")->delimiter(',');
  command->add_option("--problem", flags->numbers, "only problems of these numbers, separated by commas")->delimiter(',');
  command->add_flag("--compile", flags->compiled, "time against torch.compile of the module too");
  command->add_flag("--no-time", flags->no_time, "check the submissions and do not time them");
  AddTrialsOption(*command, flags->trials, "how many sets of random inputs each submission is checked with");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
