// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone tasks: lists the tasks; hone tasks show NAME: describes one; hone tasks check DIR: lints one.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/json_fields.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/core/dims_text.h"
#include "tuner/evaluate/baseline/baseline_file.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/evaluate/lint/lint_command.h"
#include "tuner/interop/open_questions.h"

namespace hone {
namespace {

using Json = nlohmann::json;

// How a tensor is drawn: its numbers, or expressions as their text.
Json ValuesJson(const ValueSpec& values) {
  Json entry = {{"distribution", DistributionName(values.distribution)}};
  const auto parameter = [&](const char* name, double number, const std::optional<Expression>& text) {
    entry[name] = text ? Json(text->text()) : Json(number);
  };
  if (DrawsIntegers(values.distribution)) {
    if (values.index_bound) entry["bound"] = values.index_bound->text();
    if (values.index_order == IndexOrder::kDistinct) entry["distinct"] = "tensor";
    if (values.index_order == IndexOrder::kDistinctRows) entry["distinct"] = "row";
    if (values.index_order == IndexOrder::kAscending) entry["sorted"] = true;
    if (values.padding > 0) entry["padding"] = values.padding;
    return entry;
  }
  parameter("scale", values.scale, values.scale_text);
  parameter("offset", values.offset, values.offset_text);
  if (values.distribution == Distribution::kUniform || values.distribution == Distribution::kLogUniform) {
    parameter("low", values.low, values.low_text);
    parameter("high", values.high, values.high_text);
  }
  if (values.vary > 1) entry["vary"] = values.vary;
  return entry;
}

Json TaskJson(const Task& task) {
  Json tensors = Json::array(), cases = Json::array(), dims = Json::object(), tolerances = Json::object();
  Json unknown = Json::array();
  if (!task.bytes) {
    for (const UnknownTraffic& one : FindUnknownTraffic(task))
      unknown.push_back({{"tensor", one.tensor}, {"reason", one.reason}});
  }
  for (const auto& [name, text] : task.dims) dims[name] = text;
  for (const TensorSpec& t : task.tensors) {
    Json shape = Json::array();
    for (const Expression& e : t.shape) shape.push_back(e.text());
    Json entry = {{"name", t.name}, {"role", TensorRoleName(t.role)}, {"dtype", DTypeName(t.dtype)}, {"shape", shape}};
    if (t.role != TensorRole::kOut) entry["values"] = ValuesJson(t.values);
    tensors.push_back(std::move(entry));
  }
  for (const auto& [name, tolerance] : task.tolerance) {
    tolerances[name] = {{"c_max", tolerance.c_max}, {"c_rms", tolerance.c_rms}, {"abs", tolerance.absolute}};
  }
  for (const Case& c : task.cases) {
    Json entry = {{"role", CaseRoleName(c.role)}, {"dims", c.dims}};
    if (Result<double> bytes = CompulsoryBytes(task, c.dims); bytes.ok()) entry["bytes"] = *bytes;
    if (Result<double> flops = Flops(task, c.dims); flops.ok()) entry["flops"] = *flops;
    cases.push_back(std::move(entry));
  }
  return {{"name", task.name},
          {"summary", task.summary},
          {"class", WorkloadClassName(task.workload)},
          {"slice", task.slice},
          {"dims", dims},
          {"tensors", tensors},
          {"tolerance", tolerances},
          {"uncounted", unknown},
          {"cases", cases},
          {"has_seed", !task.seed_source.empty()},
          {"directory", task.directory}};
}

void List(CommandContext& context, bool as_json) {
  Json tasks = Json::array();
  const std::vector<std::string> directories = TaskDirectories(context);
  if (directories.empty()) context.Fail(Status::NotFound(WhereTasksAre(context)));
  for (const std::string& directory : directories) {
    Result<Task> task = LoadTask(directory);
    if (!task.ok()) {
      context.Fail(task.status());
      continue;
    }
    if (as_json) {
      tasks.push_back(TaskJson(*task));
      continue;
    }
    int timed = 0, checked = 0;
    for (const Case& c : task->cases) (c.role == CaseRole::kTime ? timed : checked) += 1;
    Print("{:<20} {:<12} {} timed and {} check cases{}  {}\n", task->name, WorkloadClassName(task->workload), timed,
          checked, task->seed_source.empty() ? ", no seed" : "", task->summary);
  }
  if (as_json) Print("{}\n", DumpJson(Json{{"tasks", tasks}}, 2));
}

std::string ShapeText(const TensorSpec& tensor) {
  std::string text;
  for (const Expression& e : tensor.shape) text += (text.empty() ? "" : ", ") + e.text();
  return "[" + text + "]";
}

// "2.15 GB", "64 kB": decimal, as bandwidths are given.
std::string BytesText(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) bytes /= 1000, ++unit;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

// The time that moving the case's compulsory bytes once takes: "4.1 us".
std::string LeastTimeText(const Task& task, const Dims& dims, const DeviceFacts& gpu) {
  const Result<double> bytes = CompulsoryBytes(task, dims);
  if (!bytes.ok() || gpu.memory_bandwidth <= 0) return "-";
  return fmt::format("{:.4g} us", 1e6 * *bytes / gpu.memory_bandwidth);
}

// The task's folder as a reader types it: from where the command runs, where it lies below.
std::string FolderOf(const Task& task) {
  std::error_code error;
  const std::string near = std::filesystem::proximate(task.directory, error).string();
  return error || near.empty() || near.starts_with("..") ? task.directory : near;
}

// The files of a task's folder that Hone reads, with what each is.
std::vector<std::pair<std::string, std::string>> FilesOf(const Task& task) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, what] : {std::pair{"task.toml", "the task"}, {"oracle.cu", "the right answer, in double precision"},
                                   {"seed.cu", "a plain kernel to start from and to be timed against"},
                                   {"baseline.toml", "libraries that compute the same, timed by --libraries"}}) {
    const std::string path = FolderOf(task) + "/" + name;
    if (FileExists(path)) files.emplace_back(path, what);
  }
  return files;
}

std::string JudgeCommand(const Task& task) {
  return task.seed_source.empty() ? "" : fmt::format("hone eval {} {}/seed.cu", task.name, FolderOf(task));
}

Json TaskDetails(const Task& task, const DeviceFacts& gpu) {
  Json details = TaskJson(task);
  for (size_t i = 0; i < task.cases.size(); ++i) {
    const Result<double> bytes = CompulsoryBytes(task, task.cases[i].dims);
    if (bytes.ok() && gpu.memory_bandwidth > 0) details["cases"][i]["least_us"] = 1e6 * *bytes / gpu.memory_bandwidth;
  }
  details["least_us_device"] = gpu.id;
  details["scalars"] = Json::array();
  for (const ScalarSpec& s : task.scalars) details["scalars"].push_back({{"name", s.name}, {"dtype", DTypeName(s.dtype)}, {"value", s.value}});
  details["hidden"] = Json::array();
  for (const HiddenGroup& group : task.hidden) {
    Json ranges = Json::object();
    for (const HiddenRange& r : group.ranges) ranges[r.dim] = {{"low", r.low}, {"high", r.high}, {"multiple", r.multiple}};
    details["hidden"].push_back({{"count", group.count}, {"dims", ranges}});
  }
  details["files"] = Json::array();
  for (const auto& [path, what] : FilesOf(task)) details["files"].push_back(path);
  details["judge"] = JudgeCommand(task);
  return details;
}

std::string TaskText(const Task& task, const DeviceFacts& gpu) {
  std::string text = fmt::format("{} ({}): {}\n", task.name, WorkloadClassName(task.workload), task.summary);
  text += "\nDimensions\n";
  size_t width = 0;
  for (const auto& [name, meaning] : task.dims) width = std::max(width, name.size());
  for (const TensorSpec& t : task.tensors) width = std::max(width, t.name.size());
  for (const ScalarSpec& s : task.scalars) width = std::max(width, s.name.size());
  for (const auto& [name, meaning] : task.dims) {
    text += fmt::format("  {:<{}}  {}{}\n", name, width, meaning, name == task.slice ? "; results along it are independent" : "");
  }
  text += "\nTensors and numbers\n";
  for (const TensorSpec& t : task.tensors) {
    text += fmt::format("  {:<{}}  {:<9} {:<9} {}\n", t.name, width, TensorRoleName(t.role), DTypeName(t.dtype), ShapeText(t));
  }
  for (const ScalarSpec& s : task.scalars) text += fmt::format("  {:<{}}  {:<9} {:<9} {:g}\n", s.name, width, "scalar", DTypeName(s.dtype), s.value);
  text += "\nTolerance (docs/measurement.md, \"Precision\")\n";
  for (const auto& [output, t] : task.tolerance) {
    text += fmt::format("  {:<{}}  largest error {:g} of the value's scale, root mean square {:g}\n", output, width, t.c_max, t.c_rms);
  }
  text += fmt::format("\nTimed cases; no kernel takes less than moving every byte once at {:.2f} TB/s ({})\n", gpu.memory_bandwidth / 1e12, gpu.name);
  for (const Case& c : task.cases) {
    if (c.role != CaseRole::kTime) continue;
    const Result<double> bytes = CompulsoryBytes(task, c.dims);
    text += fmt::format("  {:<44} {:>10}  at least {}\n", DimsText(c.dims), bytes.ok() ? BytesText(*bytes) : "-", LeastTimeText(task, c.dims, gpu));
  }
  text += "\nChecked cases\n";
  for (const Case& c : task.cases) {
    if (c.role == CaseRole::kCheck) text += fmt::format("  {}\n", DimsText(c.dims));
  }
  for (const HiddenGroup& group : task.hidden) {
    std::string ranges;
    for (const HiddenRange& r : group.ranges) {
      ranges += fmt::format("{}{}={}..{}{}", ranges.empty() ? "" : " ", r.dim, r.low, r.high, r.multiple > 1 ? fmt::format(" by {}", r.multiple) : "");
    }
    text += fmt::format("  {} drawn afresh at each evaluation: {}\n", group.count, ranges);
  }
  text += "\nFiles\n";
  size_t longest = 0;
  for (const auto& [path, what] : FilesOf(task)) longest = std::max(longest, path.size());
  for (const auto& [path, what] : FilesOf(task)) text += fmt::format("  {:<{}}  {}\n", path, longest, what);
  if (const std::string judge = JudgeCommand(task); !judge.empty()) text += fmt::format("\nTo judge its seed:  {}\n", judge);
  text += fmt::format("{}To look for a faster kernel:  hone optimize {}\n", task.seed_source.empty() ? "\n" : "", task.name);
  return text;
}

// The least times are of the device that --device auto would take: the first GPU, else the simulated one.
Status Show(CommandContext& context, const std::string& name, bool as_json) {
  HONE_ASSIGN_OR_RETURN(const Task task, FindTask(context, name));
  const DeviceList list = ListDevices(context.cuda_home, context.cutlass_home, context.search_path);
  const DeviceFacts gpu = list.devices.empty() ? DeviceFacts{} : list.devices.front();
  Print("{}", as_json ? DumpJson(TaskDetails(task, gpu), 2) + "\n" : TaskText(task, gpu));
  return Status::Ok();
}

struct CheckFlags {
  std::string directory;
  DeviceFlags device;
};

}  // namespace

void RegisterTasksCommand(CLI::App& app, CommandContext& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("tasks", "list the tasks, describe one, or check one");
  command->add_flag("--json", *as_json, "write JSON instead of a table");
  command->require_subcommand(0, 1);

  struct ShowFlags {
    std::string task;
    bool json = false;
  };
  auto shown = std::make_shared<ShowFlags>();
  CLI::App* show = command->add_subcommand("show", "describe a task: what it computes, its shapes, how exactly, its floor");
  show->add_option("task", shown->task, "name of a task, or a folder with a task.toml")->required();
  show->add_flag("--json", shown->json, "write JSON (docs/evaluation-json.md)");
  show->callback([shown, &context] {
    if (Status status = Show(context, shown->task, shown->json); !status.ok()) context.Fail(status);
  });

  auto flags = std::make_shared<CheckFlags>();
  CLI::App* check = command->add_subcommand("check", "lint a task: can it be fooled, is its oracle right?");
  check->add_option("directory", flags->directory, "a folder with a task.toml, or a task's name")->required();
  AddDeviceFlags(*check, flags->device);
  check->callback([flags, &context] {
    if (const Status open = CheckNothingOpen(flags->directory); !open.ok()) return context.Fail(open);
    Result<Task> task = FindTask(context, flags->directory);
    if (!task.ok()) return context.Fail(task.status());
    if (const auto libraries = LoadBaselines(*task); !libraries.ok()) return context.Fail(libraries.status());
    if (const Status cache = MakeCacheFolder(context); !cache.ok()) return context.Fail(cache);
    Result<LintOutcome> outcome = LintOnDevice(*task, MakeEvaluatorOptions(context, flags->device));
    if (!outcome.ok()) return context.Fail(outcome.status());
    Print("{}\n", flags->device.json ? outcome->json : outcome->text);
    context.exit_status = outcome->valid ? 0 : 2;
  });
  command->callback([command, as_json, &context] {
    if (command->get_subcommands().empty()) List(context, *as_json);
  });
}

}  // namespace hone
