// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone tasks lists the tasks; hone tasks show NAME describes one; hone tasks check DIR lints one.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/baseline/baseline_file.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/evaluate/lint/lint_command.h"
#include "tuner/interop/draft/open_questions.h"
#include "tuner/workbench/task_description.h"

namespace hone {
namespace {

using Json = nlohmann::json;

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

// Describes a task, with the least times on the device that --device auto would take: the first GPU, else the simulated
// one.
Status Show(CommandContext& context, const std::string& name, bool as_json) {
  HONE_ASSIGN_OR_RETURN(const Task task, FindTask(context, name));
  const DeviceList list = ListDevices(context.cuda_home, context.cutlass_home, context.search_path);
  const DeviceFacts gpu = list.devices.empty() ? DeviceFacts{} : list.devices.front();
  Print("{}", as_json ? DumpJson(TaskDetailsJson(task, gpu), 2) + "\n" : TaskText(task, gpu));
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
  CLI::App* show = command->add_subcommand(
      "show", "describe a task: what it computes, on which shapes, how exactly, and the least time it can take");
  show->add_option("task", shown->task, "name of a task, or a folder with a task.toml")->required();
  show->add_flag("--json", shown->json, "write JSON (docs/evaluation-json.md)");
  show->callback([shown, &context] {
    if (Status status = Show(context, shown->task, shown->json); !status.ok()) context.Fail(status);
  });

  auto flags = std::make_shared<CheckFlags>();
  CLI::App* check =
      command->add_subcommand("check", "check a task: is its reference (oracle) right, and can a wrong kernel pass?");
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
