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
#include "tuner/interop/open_questions.h"

namespace hone {
namespace {

using nlohmann::json;

json TaskJson(const Task& task) {
  json tensors = json::array(), cases = json::array(), dims = json::object();
  for (const auto& [name, text] : task.dims) dims[name] = text;
  for (const TensorSpec& t : task.tensors) {
    json shape = json::array();
    for (const Expression& e : t.shape) shape.push_back(e.text());
    tensors.push_back({{"name", t.name}, {"role", TensorRoleName(t.role)}, {"dtype", DTypeName(t.dtype)}, {"shape", shape}});
  }
  for (const Case& c : task.cases) {
    json entry = {{"role", CaseRoleName(c.role)}, {"dims", c.dims}};
    if (Result<double> bytes = CompulsoryBytes(task, c.dims); bytes.ok()) entry["bytes"] = *bytes;
    if (Result<double> flops = Flops(task, c.dims); flops.ok()) entry["flops"] = *flops;
    cases.push_back(std::move(entry));
  }
  return {{"name", task.name}, {"summary", task.summary}, {"class", WorkloadClassName(task.workload)}, {"slice", task.slice},
          {"dims", dims}, {"tensors", tensors}, {"cases", cases}, {"has_seed", !task.seed_source.empty()},
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
