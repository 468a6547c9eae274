// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone tasks: lists the tasks; hone tasks check DIR: lints one.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/baseline/baseline_file.h"
#include "tuner/evaluate/lint/lint_command.h"

namespace hone {
namespace {

using nlohmann::json;

// How a tensor is drawn: its numbers, or expressions as their text.
json ValuesJson(const ValueSpec& values) {
  json entry = {{"distribution", DistributionName(values.distribution)}};
  const auto parameter = [&](const char* name, double number, const std::optional<Expression>& text) {
    entry[name] = text ? json(text->text()) : json(number);
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

json TaskJson(const Task& task) {
  json tensors = json::array(), cases = json::array(), dims = json::object(), tolerances = json::object();
  json unknown = json::array();
  if (!task.bytes) {
    for (const UnknownTraffic& one : FindUnknownTraffic(task))
      unknown.push_back({{"tensor", one.tensor}, {"reason", one.reason}});
  }
  for (const auto& [name, text] : task.dims) dims[name] = text;
  for (const TensorSpec& t : task.tensors) {
    json shape = json::array();
    for (const Expression& e : t.shape) shape.push_back(e.text());
    json entry = {{"name", t.name}, {"role", TensorRoleName(t.role)}, {"dtype", DTypeName(t.dtype)}, {"shape", shape}};
    if (t.role != TensorRole::kOut) entry["values"] = ValuesJson(t.values);
    tensors.push_back(std::move(entry));
  }
  for (const auto& [name, tolerance] : task.tolerance) {
    tolerances[name] = {{"c_max", tolerance.c_max}, {"c_rms", tolerance.c_rms}, {"abs", tolerance.absolute}};
  }
  for (const Case& c : task.cases) {
    json entry = {{"role", CaseRoleName(c.role)}, {"dims", c.dims}};
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
  json tasks = json::array();
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
  if (as_json) Print("{}\n", DumpJson(json{{"tasks", tasks}}, 2));
}

struct CheckFlags {
  std::string directory;
  DeviceFlags device;
};

}  // namespace

void RegisterTasksCommand(CLI::App& app, CommandContext& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("tasks", "list the tasks, or check one");
  command->add_flag("--json", *as_json, "write JSON instead of a table");
  command->require_subcommand(0, 1);

  auto flags = std::make_shared<CheckFlags>();
  CLI::App* check = command->add_subcommand("check", "lint a task: can it be fooled, is its oracle right?");
  check->add_option("directory", flags->directory, "a folder with a task.toml, or a task's name")->required();
  AddDeviceFlags(*check, flags->device);
  check->callback([flags, &context] {
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
