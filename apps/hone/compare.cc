// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone compare TASK A.cu B.cu: which of two candidates is faster? Both are checked; B is timed against A.
#include <fmt/format.h>

#include <memory>

#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/tuner/library_text.h"

namespace hone {
namespace {

struct CompareFlags {
  DeviceFlags device;
  std::string task, a, b;
  uint64_t seed = 0;
  bool libraries = false;
};

Status Run(CommandContext& context, const CompareFlags& flags) {
  HONE_ASSIGN_OR_RETURN(Task task, FindTask(context, flags.task));
  HONE_ASSIGN_OR_RETURN(std::string a, ReadSource(flags.a));
  HONE_ASSIGN_OR_RETURN(std::string b, ReadSource(flags.b));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));

  // A is judged for itself first: nothing can be said against a kernel that is not right.
  EvaluationRequest check;
  check.source = a;
  check.name = flags.a;
  check.seed = flags.seed;
  check.time = false;
  HONE_ASSIGN_OR_RETURN(Evaluation first, evaluator->Evaluate(task, check));
  Evaluation shown = first;
  if (first.verdict == Verdict::kOk) {
    EvaluationRequest request;
    request.source = b;
    request.name = flags.b;
    request.incumbent_source = a;
    request.incumbent_name = flags.a;
    request.seed = flags.seed;
    request.libraries = flags.libraries;
    HONE_ASSIGN_OR_RETURN(shown, evaluator->Evaluate(task, request));
  }
  Print("{}", flags.device.json ? EvaluationOutput(*evaluator, shown)
                                : DescribeEvaluation(shown, context.columns) + DescribeLibraries(shown, "  "));
  context.exit_status = ExitStatusOf(shown.verdict);
  return Status::Ok();
}

}  // namespace

void RegisterCompareCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command = app.add_subcommand("compare", "time candidate B against candidate A, in pairs");
  command->add_option("task", flags->task, "name of a task, or a folder with a task.toml")->required();
  command->add_option("a", flags->a, "the incumbent's .cu file")->required();
  command->add_option("b", flags->b, "the challenger's .cu file")->required();
  command->add_option("--seed", flags->seed, "secret seed, to repeat a verdict; 0: from the system")->capture_default_str();
  command->add_flag("--libraries", flags->libraries, "time what the task's baseline.toml names against B too");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
