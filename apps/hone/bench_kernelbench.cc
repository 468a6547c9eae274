// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone bench kernelbench DIR --judge SUBMISSIONS judges a folder of finished ModelNew files as a leaderboard would, and
// hone bench kernelbench DIR --model MODEL looks for a kernel for each problem (kernelbench_search.cc). Each verdict is
// kept in a file of its own, so a campaign that was stopped or killed resumes when the same command is given again.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/process/sandbox.h"
#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "hone/kernelbench_command.h"
#include "hone/signal_stop.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/workbench/prepare_module_task.h"

namespace hone {
namespace {

// Judges one finished module.
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
    refused.detail =
        fmt::format("there is no problem {} of level {} in {}", submission.problem, submission.level, flags.problems);
    return refused;
  }
  HONE_ASSIGN_OR_RETURN(const std::string problem, ReadSource(submission.problem_file));
  const std::string path = fmt::format("{}/results/{}.json", flags.out, submission.name);
  const std::string key = Sha256Hex(
      fmt::format("{}\n{}\n{} {} {} {} {} {} {}", Sha256Hex(problem), Sha256Hex(request.source), hosted.gpu_name,
                  hosted.gpu >= 0, request.time, hosted.compiled, flags.trials, hosted.lift, kHostedVersion));
  Result<SuiteResult> stored_result = LoadSuiteResult(path, submission, key);
  if (stored_result.ok()) return stored_result;
  const double started = SteadySeconds();
  const Result<Task> task =
      KernelBenchTask(context, submission, problem, fmt::format("{}/tasks/{}", flags.out, submission.task),
                      {.untimed = "the task was made to judge finished modules"});
  SuiteResult result;
  if (task.ok()) {
    HONE_ASSIGN_OR_RETURN(const Evaluation evaluation, JudgeSubmission(*task, request, hosted));
    result = ResultOf(submission, evaluation);
    if (result.detail.empty() && !TorchModuleOf(*task).training)
      result.detail = "in eval mode: in training mode the problem drops elements at random";
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

// Judges all chosen submissions that an earlier call has not judged, and prints the table.
Status Judge(CommandContext& context, const KernelBenchFlags& flags) {
  HONE_ASSIGN_OR_RETURN(std::vector<SuiteSubmission> submissions, FindSubmissions(flags.problems, flags.submissions));
  HONE_RETURN_IF_ERROR(Choose(flags, &submissions));
  HONE_ASSIGN_OR_RETURN(HostedOptions hosted, MakeHostedOptions(context, flags.device));
  hosted.compiled = flags.compiled;
  hosted.lift = !flags.hosted;
  const std::vector<std::string> warnings = ProbeSandbox().Warnings();
  for (const std::string& warning : warnings) PrintError("hone: warning: {}\n", warning);
  SignalStop signals;
  std::vector<SuiteResult> results;
  Status failed;
  for (const SuiteSubmission& submission : submissions) {
    if (signals.token().stop_requested()) return Status::Cancelled("stopped; the same command goes on from here");
    Result<SuiteResult> result = JudgeOne(context, flags, hosted, submission);
    if (!result.ok()) {  // an error is not stored, so the same command judges the submission again
      failed = result.status().WithContext(submission.name);
      if (!flags.device.json) PrintError("hone: {}\n", failed.message());
      continue;
    }
    if (!flags.device.json) {
      Print("{:<44} {:<15} {:<15} {}\n", submission.name, result->verdict, result->guarantee,
            result->over_eager ? fmt::format("{:.2f}x over eager", result->over_eager->median)
                               : result->detail.substr(0, 160));
      std::fflush(stdout);
    }
    results.push_back(*std::move(result));
  }
  HONE_RETURN_IF_ERROR(TellSuite(
      flags, results, hosted.gpu >= 0 && !flags.no_time,
      fmt::format("Finished modules, judged on {}.", hosted.gpu >= 0 ? hosted.gpu_name : "the CPU, without times"),
      {{"sandbox_warnings", warnings}}));
  return failed;
}

}  // namespace

Status Choose(const KernelBenchFlags& flags, std::vector<SuiteSubmission>* submissions) {
  const auto is_chosen = [](const std::vector<int>& chosen, int number) {
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), number) != chosen.end();
  };
  std::erase_if(*submissions, [&](const SuiteSubmission& submission) {
    return !is_chosen(flags.levels, submission.level) || !is_chosen(flags.numbers, submission.problem);
  });
  if (flags.lot.take > 0) {
    std::map<int, std::vector<std::string>> levels;
    for (const SuiteSubmission& submission : *submissions) levels[submission.level].push_back(submission.task);
    std::vector<std::string> drawn;
    for (const auto& [level, names] : levels) {
      const std::vector<std::string> drawn_names = Draw(flags.lot, names);
      if (!flags.device.json) {
        Print("Level {}. {}\n", level, LotText(flags.lot, names.size(), drawn_names, "problems"));
      }
      drawn.insert(drawn.end(), drawn_names.begin(), drawn_names.end());
    }
    std::erase_if(*submissions, [&](const SuiteSubmission& submission) {
      return std::find(drawn.begin(), drawn.end(), submission.task) == drawn.end();
    });
  }
  return submissions->empty() ? Status::InvalidArgument("--level, --problem and --lot leave nothing") : Status::Ok();
}

Result<Task> KernelBenchTask(const CommandContext& context, const SuiteSubmission& submission, const std::string& text,
                             const std::string& folder, const OperatorTimingChoice& timing) {
  if (FileExists(folder + "/task.toml")) {
    const Result<std::string> reference_source = ReadFile(folder + "/reference.py");
    if (reference_source.ok() && *reference_source == text) return LoadTask(folder);
  }
  ModuleTaskOptions options;
  options.name = submission.task;
  options.file = submission.problem_file;
  options.text = text;
  options.eval_where_dropout = true;
  options.timing = timing;
  HONE_RETURN_IF_ERROR(
      PrepareModuleTask(options, {.environment = context.environment}, {.directory = folder, .overwrite = true})
          .status());
  return LoadTask(folder);
}

Status TellSuite(const KernelBenchFlags& flags, const std::vector<SuiteResult>& results, bool timed,
                 const std::string& conditions, nlohmann::json extra) {
  const bool compiled = timed && (flags.submissions.empty() || flags.compiled);
  const std::vector<SuiteSummary> summaries = SummarizeSuite(results, timed, compiled);
  nlohmann::json json = SuiteJson(results, summaries);
  json.update(extra);
  HONE_RETURN_IF_ERROR(WriteFileAtomically(flags.out + "/summary.json", DumpJson(json, 2) + "\n"));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomically(flags.out + "/report.html", SuitePage("KernelBench", conditions, results, summaries)));
  if (flags.device.json) {
    Print("{}\n", DumpJson(json, 2));
  } else {
    Print("\n{}\n{}/summary.json has the same as JSON, {}/report.html as a page\n", SuiteTable(results, summaries),
          flags.out, flags.out);
  }
  return Status::Ok();
}

void RegisterKernelBenchCommand(CLI::App& bench, CommandContext& context) {
  auto flags = std::make_shared<KernelBenchFlags>();
  CLI::App* command = bench.add_subcommand(
      "kernelbench", "look for kernels for KernelBench's problems, or judge a folder of finished ones");
  command
      ->add_option("problems", flags->problems,
                   "a checkout of KernelBench, or a folder with level1/, level2/, … or with the problems' files")
      ->required();
  command->add_option("--judge", flags->submissions,
                      "the folder of ModelNew files: level_1_problem_19_sample_0_kernel.py, or named as the problem's "
                      "file; without it, a kernel is looked for (--model)");
  command->add_option("--out", flags->out, "folder for tasks, verdicts and the summary")->capture_default_str();
  command->add_option("--level", flags->levels, "only these levels, separated by commas")->delimiter(',');
  command->add_option("--problem", flags->numbers, "only problems of these numbers, separated by commas")
      ->delimiter(',');
  AddLotFlags(*command, flags->lot, "problems of each level");
  command->add_flag("--compile", flags->compiled, "also time against torch.compile of the module");
  command->add_flag("--hosted", flags->hosted,
                    "run every submission as it is, in a Python process of its own, instead of extracting its kernels");
  command->add_flag("--no-time", flags->no_time, "check the submissions and do not time them");
  command->add_option("--name", flags->name, "the name of this campaign, whose runs are called NAME.levelL_P")
      ->capture_default_str();
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  AddRunFlags(*command, flags->run);
  AddTrialsOption(*command, flags->trials, "how many sets of random inputs each submission is checked with");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    const bool judge = !flags->submissions.empty();
    if (Status status = judge ? Judge(context, *flags) : SearchKernelBench(context, *flags); !status.ok())
      context.Fail(status);
  });
}

}  // namespace hone
