// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone compare TASK A.cu B.cu says which of two candidates is faster. Both are checked; B is timed against A.
#include <fmt/format.h>

#include <memory>

#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/tuner/library_text.h"
#include "tuner/queue/redis_connection.h"
#include "tuner/workbench/compare_candidates.h"

namespace hone {
namespace {

struct CompareFlags {
  DeviceFlags device;
  std::string task, a, b;
  uint64_t seed = 0;
  bool libraries = false;
};

// Judges and times b against a, and prints the verdict.
Status Run(CommandContext& context, const CompareFlags& flags) {
  HONE_RETURN_IF_ERROR(CheckSeed(flags.device, flags.seed));
  HONE_ASSIGN_OR_RETURN(Task task, FindTask(context, flags.task));
  HONE_ASSIGN_OR_RETURN(std::string a, ReadCandidateOfTask(task, flags.a));
  HONE_ASSIGN_OR_RETURN(std::string b, ReadCandidateOfTask(task, flags.b));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));

  HONE_ASSIGN_OR_RETURN(const ContestOutcome outcome, CompareCandidates(*evaluator, task,
                                                                        {.incumbent_source = std::move(a),
                                                                         .incumbent_name = flags.a,
                                                                         .challenger_source = std::move(b),
                                                                         .challenger_name = flags.b,
                                                                         .seed = flags.seed,
                                                                         .libraries = flags.libraries}));
  const Evaluation& shown = outcome.evaluation;
  Print("{}", flags.device.json ? EvaluationOutput(*evaluator, shown)
                                : DescribeEvaluation(shown, context.columns) +
                                      WhatRepeatsIt(shown, flags.seed != 0 || IsRedisAddress(flags.device.device)) +
                                      DescribeLibraries(shown, "  "));
  if (!outcome.incumbent_right && !flags.device.json) {
    Print(
        "  {} is the first of the two, which the second is timed against; it is not right itself, so {} was not "
        "judged\n",
        flags.a, flags.b);
  }
  context.exit_status = ExitStatusOf(shown.verdict);
  return Status::Ok();
}

}  // namespace

void RegisterCompareCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command = app.add_subcommand("compare", "say whether kernel B is faster than kernel A, and by how much");
  command->add_option("task", flags->task, "name of a task, or a folder with a task.toml")->required();
  command->add_option("a", flags->a, "kernel A, the one that is in use: a .cu or .honek file")->required();
  command->add_option("b", flags->b, "kernel B, the one that may replace it: a .cu or .honek file")->required();
  command
      ->add_option(
          "--seed", flags->seed,
          "draw the inputs from this seed, to repeat an earlier verdict, whose JSON states it; 0: a new random seed")
      ->capture_default_str();
  command->add_flag("--libraries", flags->libraries,
                    "also time B against the libraries that the task's baseline.toml names");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
