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
  int columns = 0;      // width of the terminal in characters; 0: standard output is no terminal
  bool colour = false;  // standard output is a terminal that may be coloured
  int exit_status = 0;

  // Prints "hone: MESSAGE" on standard error and sets exit_status from the code.
  void Fail(const Status& status);
};

// Makes a context from the process's environment, which no other code reads.
CommandContext MakeCommandContext();

// The values of --device, --json, --seed and the other options that evaluating commands share.
struct DeviceFlags {
  std::string device = "auto";
  bool json = false;
  double launch_limit_seconds = 10;
  int jobs = 0;  // compiles at the same time; 0: one per core
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
// Makes the cache folder. kIo, with the environment variable that helps: a container's user often has a home that is
// missing or read-only.
Status MakeCacheFolder(const CommandContext& context);
// Refuses --seed for a queue, because the queue's workers draw the seed.
Status CheckSeed(const DeviceFlags& flags, uint64_t seed);
// Returns how to judge finished PyTorch modules: on the GPU that these flags name, else on the CPU.
Result<HostedOptions> MakeHostedOptions(const CommandContext& context, const DeviceFlags& flags);
// Makes the evaluator that these flags describe. Prints on standard error which protections this machine's kernel
// lacks, if any.
Result<std::unique_ptr<Evaluator>> OpenEvaluator(const CommandContext& context, const DeviceFlags& flags);

// Returns the folders in which tasks are searched, nearest first: ./tasks, the one beside the executable, and
// share/hone/tasks of an installation.
std::vector<std::string> TaskRoots(const CommandContext& context);
// The following functions search these folders, by tuner/workbench/task_catalog.h.
std::string WhereTasksAre(const CommandContext& context);
Result<Task> FindTask(const CommandContext& context, const std::string& name_or_directory);
std::vector<std::string> TaskDirectories(const CommandContext& context);
// Returns the run store to read from: `store_option` by --store, or the one in Hone's state folder. A given store must
// exist, because a mistyped name must not make an empty store.
Result<std::string> StoreToRead(const CommandContext& context, const std::string& store_option);
// Opens the run store to write to, and makes it if there is none: `store_option`, or the one in Hone's state folder.
Result<std::unique_ptr<RunStore>> OpenStoreToWrite(const CommandContext& context, const std::string& store_option);
// Returns the database in which `hone tune` keeps its measurements and which `hone db` reads, unless --db names another
// file.
std::string TuningDatabasePath(const CommandContext& context);
// Returns this program's version and commit, as SweepRequest takes them.
std::string SweepBuild();
// Returns the text of a candidate of `task` from a file, as ReadCandidateOf does (tuner/workbench/candidate_file.h).
// If the .cu file has no launch plan, prints on standard error which plan is assumed.
Result<std::string> ReadCandidateOfTask(const Task& task, const std::string& path);
// Checks that a result can be written to `path`: kInvalidArgument if it is a folder or a device. Call this before the
// work begins. An empty path passes.
Status CheckOutput(const std::string& path);

// Returns the evaluation's JSON with `sandbox_warnings` added (docs/evaluation-json.md), which commands that make one
// evaluation print.
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
