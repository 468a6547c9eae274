// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file declares every subcommand of `hone`: one source file each, registered in main.cc.
//
// A command's callback sets `context.exit_status`: 0 done, 1 the candidate was rejected or the goal was not
// reached, 2 wrong usage or an invalid task, 3 the environment failed, 4 the answer waits in a spool.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/task.h"
#include "tuner/torch/hosted_judge.h"
#include "tuner/workbench/evaluation_text.h"
#include "tuner/workbench/task_catalog.h"

namespace hone {

struct CommandContext {
  std::string executable;        // absolute path of this program
  std::string cache_directory;   // compiled modules and simulator headers
  std::string state_directory;   // runs.sqlite, reports
  std::string cuda_home;         // from CUDA_HOME; may be empty
  std::string cutlass_home;      // from CUTLASS_HOME or CUTLASS_PATH; empty: the usual places
  std::string search_path;       // PATH
  std::vector<std::string> environment;  // what workers inherit, "NAME=value"
  bool stdout_is_terminal = false;
  int columns = 0;      // the width of the terminal; 0: standard output is no terminal
  bool colour = false;  // standard output is a terminal that may be coloured
  int exit_status = 0;

  // Prints "hone: MESSAGE" on standard error and sets exit_status from the code.
  void Fail(const Status& status);
};

// Fills a context from the environment, which nothing else reads.
CommandContext MakeCommandContext();

// DeviceFlags are --device, --json, --seed and the other options that evaluating commands share.
struct DeviceFlags {
  std::string device = "auto";
  bool json = false;
  double launch_limit_seconds = 10;
  int jobs = 0;
  bool no_cache = false;
  bool no_sim = false;
  std::string cutlass;  // empty: the context's
};
void AddDeviceFlags(CLI::App& command, DeviceFlags& flags);
// Adds the same options without --json, for commands that print no result of their own.
void AddServerDeviceFlags(CLI::App& command, DeviceFlags& flags);
// Adds --trials, which refuses values that a request may not hold.
void AddTrialsOption(CLI::App& command, int& trials, const char* meaning);
EvaluatorOptions MakeEvaluatorOptions(const CommandContext& context, const DeviceFlags& flags);
// Makes the cache folder. A container's user often has a home that is missing or read-only: kIo, with the variable that
// helps.
Status MakeCacheFolder(const CommandContext& context);
// Refuses a seed for a queue, whose workers draw it.
Status CheckSeed(const DeviceFlags& flags, uint64_t seed);
// Returns how these flags judge finished PyTorch modules: on the GPU that they name, else on the CPU.
Result<HostedOptions> MakeHostedOptions(const CommandContext& context, const DeviceFlags& flags);
// Makes the evaluator that these flags ask for. Prints on standard error what this machine's kernel cannot protect, if
// anything.
Result<std::unique_ptr<Evaluator>> OpenEvaluator(const CommandContext& context, const DeviceFlags& flags);

// Returns where tasks are searched, nearest first: ./tasks, beside the executable, and share/hone/tasks of an
// installation.
std::vector<std::string> TaskRoots(const CommandContext& context);
// These functions search there (tuner/workbench/task_catalog.h).
std::string WhereTasksAre(const CommandContext& context);
Result<Task> FindTask(const CommandContext& context, const std::string& name_or_directory);
std::vector<std::string> TaskDirectories(const CommandContext& context);
// Returns the run store to read from: `given` by --store, which must exist (a mistyped name must not make an empty
// store), or the one in Hone's state folder.
Result<std::string> StoreToRead(const CommandContext& context, const std::string& given);
// Opens the run store to write to: `given`, or the one in Hone's state folder, made where there is none.
Result<std::unique_ptr<RunStore>> OpenStoreToWrite(const CommandContext& context, const std::string& given);
// Returns the file in which `hone tune` keeps its points, and which `hone db` reads, unless --db names another.
std::string TuningDatabasePath(const CommandContext& context);
// Returns this program's version and commit in the form of SweepRequest.
std::string SweepBuild();
// Checks that a file of this name could be written at the end: kInvalidArgument where the name is a folder or a device.
// Call it before the work; an empty name passes.
Status CheckOutput(const std::string& path);

// Returns the evaluation's JSON with `sandbox_warnings` (docs/evaluation-json.md): the output of a command for one
// evaluation.
std::string EvaluationOutput(const Evaluator& evaluator, const Evaluation& evaluation);
// Returns the exit status of a command that judged one candidate.
int ExitStatusOf(Verdict verdict);

void RegisterApplyCommand(CLI::App& app, CommandContext& context);
void RegisterBenchCommand(CLI::App& app, CommandContext& context);
void RegisterCleanCommand(CLI::App& app, CommandContext& context);
void RegisterRightsCommand(CLI::App& app, CommandContext& context);
void RegisterKernelBenchCommand(CLI::App& bench, CommandContext& context);  // below `hone bench`
void RegisterCompareCommand(CLI::App& app, CommandContext& context);
void RegisterDbCommand(CLI::App& app, CommandContext& context);
void RegisterDevicesCommand(CLI::App& app, CommandContext& context);
void RegisterDoctorCommand(CLI::App& app, CommandContext& context);
void RegisterEvalCommand(CLI::App& app, CommandContext& context);
void RegisterGateCommand(CLI::App& app, CommandContext& context);
void RegisterMcpCommand(CLI::App& app, CommandContext& context);
void RegisterNewCommand(CLI::App& app, CommandContext& context);
void RegisterOptimizeCommand(CLI::App& app, CommandContext& context);
void RegisterPackCommand(CLI::App& app, CommandContext& context);
void RegisterReportCommand(CLI::App& app, CommandContext& context);
void RegisterRunsCommand(CLI::App& app, CommandContext& context);
void RegisterShowCommand(CLI::App& app, CommandContext& context);
void RegisterTasksCommand(CLI::App& app, CommandContext& context);
void RegisterTuneCommand(CLI::App& app, CommandContext& context);
void RegisterVerifyCommand(CLI::App& app, CommandContext& context);
void RegisterWorkerCommand(CLI::App& app, CommandContext& context);
void RegisterWorkersCommand(CLI::App& app, CommandContext& context);

}  // namespace hone
