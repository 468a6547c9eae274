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
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/nearest_word.h"
#include "base/utf8.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/core/dims_text.h"
#include "tuner/report/terminal_rows.h"
#include "tuner/core/finding_text.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostSourceBytes = 64 << 20;  // a name such as /dev/zero has no end

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Where there is no home: of a name that everybody on the machine can guess.
std::string DirectoryWithoutHome() { return fs::temp_directory_path() / fmt::format("hone-{}", getuid()); }

std::string UserDirectory(const char* xdg, const char* below_home) {
  if (std::string base = Environment(xdg); !base.empty()) return base + "/hone";
  if (std::string home = Environment("HOME"); !home.empty()) return home + "/" + below_home + "/hone";
  return DirectoryWithoutHome();
}

// Where tasks are looked for, nearest first.
std::vector<fs::path> TaskRoots(const CommandContext& context) {
  const fs::path bin = fs::path(context.executable).parent_path();
  return {"tasks", bin / "../../tasks", bin / "../share/hone/tasks"};
}

std::string TimeText(double us) {
  if (us >= 1e6) return fmt::format("{:.3f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3f} ms", us / 1e3);
  return fmt::format("{:.2f} us", us);
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
  context.cache_directory = Environment("HONE_CACHE");
  if (context.cache_directory.empty()) context.cache_directory = UserDirectory("XDG_CACHE_HOME", ".cache");
  context.state_directory = Environment("HONE_STATE");
  if (context.state_directory.empty()) context.state_directory = UserDirectory("XDG_STATE_HOME", ".local/state");
  context.cuda_home = Environment("CUDA_HOME");
  context.cutlass_home = Environment("CUTLASS_HOME");
  if (context.cutlass_home.empty()) context.cutlass_home = Environment("CUTLASS_PATH");
  context.search_path = Environment("PATH");
  // Those of Python: a user's PyTorch may be found by them alone, and keeps what it compiles where they say.
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "TMPDIR", "PYTHONPATH",
                           "PYTHONUSERBASE", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"}) {
    if (const std::string value = Environment(name); !value.empty()) context.environment.push_back(name + ("=" + value));
  }
  context.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (context.stdout_is_terminal)
    context.columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
  // https://no-color.org: set and not empty means none; a terminal that is "dumb" knows none.
  context.colour = context.stdout_is_terminal && Environment("NO_COLOR").empty() && Environment("TERM") != "dumb";
  return context;
}

void AddDeviceFlags(CLI::App& command, DeviceFlags& flags) {
  command.add_option("--device", flags.device, "where to judge: auto (a GPU, else the simulated one), cuda:N, sim, sim:NAME or spool:DIR")->capture_default_str();
  command.add_flag("--json", flags.json, "write JSON (docs/evaluation-json.md) instead of a table");
  command.add_option("--launch-limit", flags.launch_limit_seconds, "how many seconds a single launch may take")->capture_default_str();
  command.add_option("--jobs", flags.jobs, "how many compilers run at a time; 0: one per core")->capture_default_str();
  command.add_flag("--no-cache", flags.no_cache, "compile everything anew instead of taking kernels from the cache");
  command.add_option("--cutlass", flags.cutlass, "find CUTLASS, for candidates that use CuTe, in this folder; else in CUTLASS_HOME or the usual places");
}

void AddTrialsOption(CLI::App& command, int& trials, const char* meaning) {
  command.add_option("--trials", trials, meaning)
      ->check(CLI::Validator(
          [](std::string& text) { return CLI::Range(1, kMostTrials)(text).empty() ? std::string() : fmt::format("use 1 to {}", kMostTrials); },
          fmt::format("[1 - {}]", kMostTrials)))
      ->capture_default_str();
}

EvaluatorOptions MakeEvaluatorOptions(const CommandContext& context, const DeviceFlags& flags) {
  EvaluatorOptions options;
  options.device = flags.device;
  options.cache_directory = context.cache_directory;
  options.use_cache = !flags.no_cache;
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
  // What lies there is run, so nobody else may have laid it there.
  struct stat owner {};
  if (context.cache_directory == DirectoryWithoutHome() && stat(context.cache_directory.c_str(), &owner) == 0 && owner.st_uid != getuid()) {
    return Status::Io(fmt::format("without HOME what is compiled is kept in {}, which belongs to another user: set HONE_CACHE to a folder of yours",
                                  context.cache_directory));
  }
  if (!error && access(context.cache_directory.c_str(), W_OK) == 0) return Status::Ok();
  const std::string why = error ? error.message() : std::generic_category().message(errno);
  return Status::Io(fmt::format("what is compiled is kept in {}, which cannot be written ({}): set HONE_CACHE to a folder that can",
                                context.cache_directory, why));
}

Result<std::unique_ptr<Evaluator>> OpenEvaluator(const CommandContext& context, const DeviceFlags& flags) {
  HONE_RETURN_IF_ERROR(MakeCacheFolder(context));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, MakeEvaluator(MakeEvaluatorOptions(context, flags)));
  for (const std::string& warning : evaluator->SandboxWarnings()) PrintError("hone: warning: {}\n", warning);
  return evaluator;
}

std::string WhereTasksAre(const CommandContext& context) {
  std::string places;
  for (const fs::path& root : TaskRoots(context)) {
    places += (places.empty() ? "" : ", ") + (root.is_relative() ? root.string() : root.lexically_normal().string());
  }
  return fmt::format("no tasks were found in {}: go to the folder that holds tasks/, or name a task by its folder", places);
}

Result<Task> FindTask(const CommandContext& context, const std::string& name_or_directory) {
  std::error_code error;
  if (fs::exists(fs::path(name_or_directory) / "task.toml", error)) return LoadTask(name_or_directory);
  for (const fs::path& root : TaskRoots(context)) {
    const fs::path directory = root / name_or_directory;
    if (fs::exists(directory / "task.toml", error)) return LoadTask(fs::weakly_canonical(directory).string());
  }
  if (fs::is_regular_file(name_or_directory, error)) {
    const fs::path folder = fs::path(name_or_directory).parent_path();
    const bool of_task = fs::exists(folder / "task.toml", error);
    return Status::NotFound(fmt::format("'{}' is a file, and a task is wanted here: its name, or the folder that holds its task.toml{}",
                                        name_or_directory, of_task ? fmt::format(" (did you mean {}?)", folder.string())
                                                                   : "; `hone tasks` lists the names"));
  }
  std::vector<std::string> known;
  for (const std::string& directory : TaskDirectories(context)) known.push_back(fs::path(directory).filename().string());
  return Status::NotFound(fmt::format(
      "no task named '{0}'{1} and no folder {0} with a task.toml; {2}", name_or_directory,
      DidYouMean(name_or_directory, known),
      known.empty() ? WhereTasksAre(context)
                    : fmt::format("tasks found: {}. `hone tasks show NAME` describes one, `hone new NAME --from KERNEL.cu` makes one",
                                  fmt::join(known, ", "))));
}

std::vector<std::string> TaskDirectories(const CommandContext& context) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::path& root : TaskRoots(context)) {
    if (!fs::is_directory(root, error)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
      if (fs::exists(entry.path() / "task.toml", error)) found.push_back(fs::weakly_canonical(entry.path()).string());
    }
    if (!found.empty()) break;  // the nearest folder of tasks hides the others
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::string> ReadSource(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return Status::InvalidArgument(fmt::format("'{}' is a folder: name a .cu file", path));
  }
  if (!fs::exists(path, error)) {
    std::vector<std::string> beside;
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() != ".cu") continue;
      beside.push_back((fs::path(path).has_parent_path() ? entry->path() : entry->path().filename()).string());
    }
    const std::string meant = DidYouMean(path, beside);
    return Status::NotFound(fmt::format("there is no file '{}'{}; name the .cu file of a kernel{}", path, meant,
                                        meant.empty() ? ", such as the seed.cu that `hone tasks show TASK` names" : ""));
  }
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMostSourceBytes));
  // A byte order mark, as some editors put it first: in the middle of what is compiled no compiler takes it.
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  HONE_RETURN_IF_ERROR(CheckUtf8(text, path));
  return text;
}

Result<std::string> StoreToRead(const CommandContext& context, const std::string& given) {
  if (given.empty()) return context.state_directory + "/runs.sqlite";
  std::error_code error;
  if (fs::is_directory(given, error)) return Status::InvalidArgument(fmt::format("--store {}: this is a folder; name the run store's file in it", given));
  if (FileExists(given)) return given;
  return Status::NotFound(fmt::format("--store {}: there is no such file; `hone optimize` makes one, and without --store the runs are read from {}",
                                      given, context.state_directory + "/runs.sqlite"));
}

Result<std::unique_ptr<RunStore>> OpenStoreToWrite(const CommandContext& context, const std::string& given) {
  if (std::error_code error; fs::is_directory(given, error)) {
    return Status::InvalidArgument(fmt::format("--store {}: this is a folder; name a file in it", given));
  }
  if (!given.empty()) return OpenSqliteRunStore(given);
  Result<std::unique_ptr<RunStore>> store = OpenSqliteRunStore(context.state_directory + "/runs.sqlite");
  if (store.ok() || store.status().code() != StatusCode::kIo) return store;
  return Status::Io(store.status().message() + "; HONE_STATE names another folder for runs and reports, --store another file");
}

Status CheckOutput(const std::string& path) {
  std::error_code error;
  if (path.empty() || fs::is_character_file(path, error) || fs::is_fifo(path, error)) return Status::Ok();
  return ReplaceablePath(path).status();
}

std::string EvaluationOutput(const Evaluator& evaluator, const Evaluation& evaluation) {
  auto json = nlohmann::ordered_json::parse(EvaluationToJson(evaluation, -1));
  json["sandbox_warnings"] = evaluator.SandboxWarnings();
  return json.dump(2) + "\n";
}

std::string Indented(std::string_view text) {
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
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

std::string DescribeEvaluation(const Evaluation& evaluation, int columns) {
  std::string out = fmt::format("{}  {} on {}: {}\n", evaluation.task, evaluation.candidate, evaluation.device,
                                VerdictName(evaluation.verdict));
  out += Indented(evaluation.detail);
  if (evaluation.verdict == Verdict::kParseError) {
    out += "  docs/candidate-format.md describes launch plans, and `hone new` writes one for a kernel and its launch\n";
  }
  if (evaluation.guarantee != "full") out += "  guarantee: " + evaluation.guarantee + "\n";
  const char* unit = evaluation.modelled ? "modelled " : "";
  bool header = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    if (columns != 0 && columns < 130) {
      out += Flow({DimsText(c.dims)}, 2, columns);
      const bool spread = !evaluation.modelled;
      out += Flow(
          {unit + TimeText(c.time_us->median) +
               (spread ? fmt::format(" +-{:.1f}%", 50 * (c.time_us->high - c.time_us->low) / c.time_us->median) : ""),
           c.baseline_us ? "baseline " + TimeText(*c.baseline_us) : "",
           c.speedup ? fmt::format("{:.3f}x", c.speedup->median) +
                           (spread ? fmt::format(" [{:.3f}, {:.3f}]", c.speedup->low, c.speedup->high) : "")
                     : "",
           c.floor_us ? "floor " + TimeText(*c.floor_us) : "",
           c.floor_fraction ? fmt::format("{:.0f} % of it", 100 * *c.floor_fraction) : "",
           c.timing.status + (c.timing.decision.empty() ? "" : ", " + c.timing.decision),
           c.fallback ? "the seed ran" : ""},
          4, columns);
      continue;
    }
    if (!header) {
      out += fmt::format("  {:<34} {:>22} {:>12} {:>20} {:>12} {:>8}  {}\n", "case", fmt::format("{}time (95 %)", unit),
                         "baseline", "speedup (95 %)", "floor", "of floor", "timing");
      header = true;
    }
    std::string dims;
    for (const auto& [name, value] : c.dims) dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
    out += fmt::format("  {:<34} {:>22} {:>12} {:>20} {:>12} {:>8}  {}\n", dims,
                       evaluation.modelled ? TimeText(c.time_us->median)
                                           : fmt::format("{} +-{:.1f}%", TimeText(c.time_us->median),
                                                         50 * (c.time_us->high - c.time_us->low) / c.time_us->median),
                       c.baseline_us ? TimeText(*c.baseline_us) : "-",
                       c.speedup ? (evaluation.modelled ? fmt::format("{:.3f}x", c.speedup->median)
                                                        : fmt::format("{:.3f}x [{:.3f}, {:.3f}]", c.speedup->median,
                                                                      c.speedup->low, c.speedup->high))
                                 : "-",
                       c.floor_us ? TimeText(*c.floor_us) : "-",
                       FloorIsWrong(c)    ? "wrong"
                       : c.floor_fraction ? fmt::format("{:.0f} %", 100 * *c.floor_fraction)
                                          : "-",
                       fmt::format("{}{}{}{}", c.timing.status, c.timing.decision.empty() ? "" : ", ",
                                   c.timing.decision, c.fallback ? ", the seed ran" : ""));
  }
  for (const CaseResult& c : evaluation.cases) {
    if (!FloorIsWrong(c)) continue;
    out += fmt::format(
        "  the floor of {} is wrong: the kernel takes {}{}, {:.1f} times as fast as the floor of {}, so a launch moves "
        "fewer bytes than the task counts; say them under [work] bytes in its task.toml\n",
        DimsText(c.dims), evaluation.modelled ? "a modelled " : "", TimeText(c.time_us->median), *c.floor_fraction,
        TimeText(*c.floor_us));
  }
  if (evaluation.geomean_speedup) {
    out += fmt::format("  geometric mean of the {}speedups over {}: {:.3f}x\n", unit,
                       evaluation.baseline.empty() ? "the baseline" : evaluation.baseline, *evaluation.geomean_speedup);
  }
  int checked = 0;
  for (const CaseResult& c : evaluation.cases) checked += c.role != CaseRole::kTime;
  if (evaluation.verdict == Verdict::kOk) out += fmt::format("  right on {} check and hidden cases\n", checked);
  for (const KernelResources& r : evaluation.resources) {
    if (r.registers < 0) continue;
    out += fmt::format("  {}: {} registers, {} bytes spilled, {} + {} bytes shared\n", r.kernel, r.registers,
                       r.spill_bytes, r.static_shared_bytes, r.dynamic_shared_bytes);
  }
  for (const Finding& f : evaluation.findings) {
    // What made the verdict has been said.
    if (evaluation.detail.find(f.message) != std::string::npos) continue;
    const bool placed = f.location.empty() || f.message.ends_with("at " + f.location);
    out += fmt::format("  {}: {}{}{}\n", f.kind, f.message, placed ? "" : " at " + f.location, FindingShapes(f));
  }
  std::string stages;
  for (const Stage& s : evaluation.stages) stages += fmt::format("{}{} {:.2f} s", stages.empty() ? "" : ", ", s.name, s.seconds);
  out += fmt::format("  {:.2f} s in all ({})\n", evaluation.wall_seconds, stages);
  return out;
}

}  // namespace hone
