// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/prepare_module_task.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "base/files/file.h"
#include "tuner/evaluate/lint/lint_command.h"

namespace hone {

Result<PreparedModuleTask> PrepareModuleTask(const ModuleTaskOptions& options, const PythonOptions& python, const TaskPlace& place) {
  bool right = !options.name.empty() && std::isdigit(static_cast<unsigned char>(options.name[0])) == 0;
  for (const char c : options.name) right = right && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  if (!right) {
    return Status::InvalidArgument(fmt::format("'{}' is no task name: letters, digits and underscores, no digit first", options.name));
  }
  if (FileExists(place.directory + "/task.toml") && !place.overwrite) {
    return Status::InvalidArgument(fmt::format("{} holds a task already; {}", place.directory, place.remedy));
  }
  PreparedModuleTask prepared;
  prepared.name = options.name;
  prepared.directory = place.directory;
  HONE_ASSIGN_OR_RETURN(prepared.draft, DraftModuleTask(options, python));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/reference.py", prepared.draft.reference_py));
  // These files are exact copies of the benchmark's, which exports need. Remove those of an earlier draft, which may
  // belong to another task.
  std::error_code removed;
  for (const char* name : {kDefinitionFile, kWorkloadFile, kBoardLicenceFile, kProfileFile}) std::filesystem::remove(place.directory + "/" + name, removed);
  if (options.board && !options.board->licence_text.empty())
    HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/" + kBoardLicenceFile, options.board->licence_text));
  if (options.definition) {
    HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/" + kDefinitionFile, options.definition->text));
    if (!options.definition->workloads.empty())
      HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/" + kWorkloadFile, options.definition->workloads));
  }
  if (prepared.draft.profile) HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/" + kProfileFile, DumpJson(ProfileJson(*prepared.draft.profile), 1) + "\n"));
  // Remove the seed of an earlier draft, which may belong to another task.
  std::error_code ignored;
  std::filesystem::remove(place.directory + "/seed.cu", ignored);
  if (!prepared.draft.seed_cu.empty())
    HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/seed.cu", prepared.draft.seed_cu));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(place.directory + "/task.toml", prepared.draft.task_toml));
  return prepared;
}

void CheckPreparedModule(const EvaluatorOptions& evaluator, PreparedModuleTask& prepared) {
  const Result<Task> task = LoadTask(prepared.directory);
  if (!task.ok()) {
    prepared.problems = {task.status().message()};
    prepared.unchecked.clear();
    return;
  }
  EvaluatorOptions options = evaluator;
  options.device = "sim";
  Result<LintOutcome> outcome = LintOnDevice(*task, options, {.precision = true, .hidden_draws = 1});
  if (!outcome.ok()) {
    prepared.unchecked = outcome.status().message();
    return;
  }
  prepared.problems = std::move(outcome->problems);
  prepared.weak = std::move(outcome->indistinct);
  prepared.unchecked.clear();
}

nlohmann::json PreparedModuleJson(const PreparedModuleTask& prepared) {
  const ModuleTaskDraft& draft = prepared.draft;
  return {{"task", prepared.name},
          {"directory", prepared.directory},
          {"seed", !draft.seed_cu.empty()},
          {"ready", prepared.ready()},
          {"torch", draft.torch},
          {"inferred", draft.inferred},
          {"notes", draft.notes},
          {"profile", draft.profile ? ProfileJson(*draft.profile) : nlohmann::json()},
          {"weak", prepared.weak},
          {"sandbox_warnings", draft.sandbox_warnings},
          {"seconds", draft.seconds},
          {"problems", prepared.problems},
          {"unchecked", prepared.unchecked}};
}

}  // namespace hone
