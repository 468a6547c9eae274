// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/color.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/queue/redis_connection.h"
#include "tuner/torch/python_process.h"
#include "tuner/workbench/candidate_file.h"
#include "tuner/workbench/task_catalog.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the folder to use for a user without HOME. Every user of the machine can guess its name.
std::string DirectoryWithoutHome() { return fs::temp_directory_path() / fmt::format("hone-{}", getuid()); }

// Returns Hone's folder in the one that the environment variable `xdg` names, else in `below_home` of HOME.
std::string UserDirectory(const char* xdg, const char* below_home) {
  if (std::string base = EnvironmentVariable(xdg); !base.empty()) return base + "/hone";
  if (std::string home = EnvironmentVariable("HOME"); !home.empty()) return home + "/" + below_home + "/hone";
  return DirectoryWithoutHome();
}

}  // namespace

void CommandContext::Fail(const Status& status) {
  PrintError("hone: {}\n", status.message());
  const bool usage = status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound;
  exit_status = usage ? 2 : status.code() == StatusCode::kPending ? 4 : 3;
}

CommandContext MakeCommandContext() {
  CommandContext context;
  std::error_code error;
  context.executable = fs::read_symlink("/proc/self/exe", error).string();
  context.cache_directory = EnvironmentVariable("HONE_CACHE");
  if (context.cache_directory.empty()) context.cache_directory = UserDirectory("XDG_CACHE_HOME", ".cache");
  context.state_directory = EnvironmentVariable("HONE_STATE");
  if (context.state_directory.empty()) context.state_directory = UserDirectory("XDG_STATE_HOME", ".local/state");
  context.cuda_home = EnvironmentVariable("CUDA_HOME");
  context.cutlass_home = EnvironmentVariable("CUTLASS_HOME");
  if (context.cutlass_home.empty()) context.cutlass_home = EnvironmentVariable("CUTLASS_PATH");
  context.search_path = EnvironmentVariable("PATH");
  // Python's variables are inherited too: a user's PyTorch may be found only through them, and compiled code is kept
  // where they say.
  for (const char* name :
       {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "TMPDIR", "PYTHONPATH",
        "PYTHONUSERBASE", "HONE_PYTHON", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"}) {
    if (const std::string value = EnvironmentVariable(name); !value.empty())
      context.environment.push_back(name + ("=" + value));
  }
  context.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (context.stdout_is_terminal)
    context.columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
  // NO_COLOR, if it is set and not empty, switches colour off (https://no-color.org); so does a terminal called "dumb".
  context.colour =
      context.stdout_is_terminal && EnvironmentVariable("NO_COLOR").empty() && EnvironmentVariable("TERM") != "dumb";
  return context;
}

void AddDeviceFlags(CLI::App& command, DeviceFlags& flags) {
  AddServerDeviceFlags(command, flags);
  command.add_flag("--json", flags.json, "write JSON (docs/evaluation-json.md) instead of a table");
}

void AddServerDeviceFlags(CLI::App& command, DeviceFlags& flags) {
  command
      .add_option("--device", flags.device,
                  "where to judge: auto (a GPU of this machine, else the simulated one), cuda:N, sim or sim:NAME "
                  "(simulated, with modelled times), or spool:DIR or redis://HOST/QUEUE (by workers on other machines)")
      ->capture_default_str();
  command.add_option("--launch-limit", flags.launch_limit_seconds, "how many seconds a single launch may take")
      ->capture_default_str();
  command.add_option("--jobs", flags.jobs, "how many compilers work on one kernel at a time; 0: one per core")
      ->capture_default_str();
  command.add_flag("--no-cache", flags.no_cache, "compile everything anew instead of taking kernels from the cache");
  command.add_flag("--no-sim", flags.no_sim,
                   "when judging on a GPU, skip the check of small cases on the simulated GPU, or of machine code under "
                   "compute-sanitizer; the verdict says that it was skipped");
  command.add_option(
      "--cutlass", flags.cutlass,
      "the folder of CUTLASS, for candidates that use CuTe; by default CUTLASS_HOME or the usual places");
}

void AddTrialsOption(CLI::App& command, int& trials, const char* meaning) {
  command.add_option("--trials", trials, meaning)
      ->check(CLI::Validator(
          [](std::string& text) {
            return CLI::Range(1, kMostTrials)(text).empty() ? std::string() : fmt::format("use 1 to {}", kMostTrials);
          },
          fmt::format("[1 - {}]", kMostTrials)))
      ->capture_default_str();
}

EvaluatorOptions MakeEvaluatorOptions(const CommandContext& context, const DeviceFlags& flags) {
  EvaluatorOptions options;
  options.device = flags.device;
  options.cache_directory = context.cache_directory;
  options.use_cache = !flags.no_cache;
  options.simulate = !flags.no_sim;
  options.compile_jobs = flags.jobs;
  options.launch_limit_seconds = flags.launch_limit_seconds;
  options.executable = context.executable;
  options.cuda_home = context.cuda_home;
  options.cutlass_home = flags.cutlass.empty() ? context.cutlass_home : flags.cutlass;
  options.environment = context.environment;
  return options;
}

Status MakeCacheFolder(const CommandContext& context) {
  std::error_code error;
  fs::create_directories(context.cache_directory, error);
  // Programs in this folder are executed, so it must belong to this user.
  struct stat owner {};
  if (context.cache_directory == DirectoryWithoutHome() && stat(context.cache_directory.c_str(), &owner) == 0 &&
      owner.st_uid != getuid()) {
    return Status::Io(
        fmt::format("without HOME what is compiled is kept in {}, which belongs to another user: set HONE_CACHE to a "
                    "folder of yours",
                    context.cache_directory));
  }
  if (!error && access(context.cache_directory.c_str(), W_OK) == 0) return Status::Ok();
  const std::string why = error ? error.message() : std::generic_category().message(errno);
  return Status::Io(
      fmt::format("what is compiled is kept in {}, which cannot be written ({}): set HONE_CACHE to a folder that can",
                  context.cache_directory, why));
}

Result<std::unique_ptr<Evaluator>> OpenEvaluator(const CommandContext& context, const DeviceFlags& flags) {
  HONE_RETURN_IF_ERROR(MakeCacheFolder(context));
  EvaluatorOptions options = MakeEvaluatorOptions(context, flags);
  options.waiting = [](const std::string& why) { PrintError("hone: {}\n", why); };
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, MakeEvaluator(options));
  for (const std::string& warning : evaluator->SandboxWarnings()) PrintError("hone: warning: {}\n", warning);
  return evaluator;
}

Status CheckSeed(const DeviceFlags& flags, uint64_t seed) {
  if (seed == 0 || !IsRedisAddress(flags.device)) return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "--seed {:#x}: a queue's worker draws the seed, and no submitter can; leave --seed out, or judge on this machine",
      seed));
}

Result<HostedOptions> MakeHostedOptions(const CommandContext& context, const DeviceFlags& flags) {
  HostedOptions options;
  options.environment = context.environment;
  options.cuda_home = context.cuda_home;
  options.launch_limit_seconds = flags.launch_limit_seconds;
  const std::string& device = flags.device;
  if (device == "sim" || device.starts_with("sim:")) return options;
  if (device != "auto" && !device.starts_with("cuda")) {
    return Status::InvalidArgument(fmt::format(
        "--device {}: a PyTorch module is judged on this machine; use auto, cuda:N, or sim for its CPU", device));
  }
  const std::string device_name = device == "cuda" ? "cuda:0" : device;
  // The driver and Python both take a tenth of a second to start.
  std::future<Result<Python>> python = std::async(std::launch::async, [&context] { return FindPython(context.environment); });
  const std::vector<DeviceFacts> gpus = ListGpus();
  if (Result<Python> python_found = python.get(); python_found.ok())
    options.python = *std::move(python_found);  // an error is reported by the judge
  for (const DeviceFacts& facts : gpus) {
    if (device_name != "auto" && facts.id != device_name) continue;
    options.gpu = GpuOrdinal(facts.id);
    options.gpu_name = facts.name;
    options.l2_bytes = facts.l2_bytes;
    return options;
  }
  if (device_name != "auto")
    return Status::InvalidArgument(
        fmt::format("there is no {} (see `hone devices`); --device sim judges on the CPU, without times", device_name));
  return options;
}

std::vector<std::string> TaskRoots(const CommandContext& context) {
  const fs::path bin = fs::path(context.executable).parent_path();
  return {"tasks", bin / "../../tasks", bin / "../share/hone/tasks"};
}

std::string WhereTasksAre(const CommandContext& context) { return WhereTasksAre(TaskRoots(context)); }

Result<Task> FindTask(const CommandContext& context, const std::string& name_or_directory) {
  return FindTask(TaskRoots(context), name_or_directory);
}

std::vector<std::string> TaskDirectories(const CommandContext& context) { return TaskDirectories(TaskRoots(context)); }

Result<std::string> StoreToRead(const CommandContext& context, const std::string& store_option) {
  if (store_option.empty()) return context.state_directory + "/runs.sqlite";
  std::error_code error;
  if (fs::is_directory(store_option, error))
    return Status::InvalidArgument(
        fmt::format("--store {}: this is a folder; name the run store's file in it", store_option));
  if (FileExists(store_option)) return store_option;
  return Status::NotFound(fmt::format(
      "--store {}: there is no such file; `hone optimize` makes one, and without --store the runs are read from {}",
      store_option, context.state_directory + "/runs.sqlite"));
}

Result<std::unique_ptr<RunStore>> OpenStoreToWrite(const CommandContext& context, const std::string& store_option) {
  if (std::error_code error; fs::is_directory(store_option, error)) {
    return Status::InvalidArgument(fmt::format("--store {}: this is a folder; name a file in it", store_option));
  }
  if (!store_option.empty()) return OpenSqliteRunStore(store_option);
  Result<std::unique_ptr<RunStore>> store = OpenSqliteRunStore(context.state_directory + "/runs.sqlite");
  if (store.ok() || store.status().code() != StatusCode::kIo) return store;
  return Status::Io(store.status().message() +
                    "; HONE_STATE names another folder for runs and reports, --store another file");
}

Result<std::string> ReadCandidateOfTask(const Task& task, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(PlannedKernel planned, ReadCandidateOf(task, path));
  if (!planned.note.empty()) PrintError("hone: note: {}\n", planned.note);
  return std::move(planned.text);
}

Status CheckOutput(const std::string& path) {
  std::error_code error;
  if (path.empty() || fs::is_character_file(path, error) || fs::is_fifo(path, error)) return Status::Ok();
  return ReplaceablePath(path).status();
}

std::string EvaluationOutput(const Evaluator& evaluator, const Evaluation& evaluation) {
  auto json = ReadOrderedJsonText(EvaluationToJson(evaluation, -1));
  json["sandbox_warnings"] = evaluator.SandboxWarnings();
  return DumpJson(json, 2) + "\n";
}

int ExitStatusOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return 0;
    case Verdict::kInvalidTask:
    case Verdict::kParseError:
      return 2;
    case Verdict::kDeviceLost:
      return 3;
    default:
      return 1;
  }
}

}  // namespace hone
