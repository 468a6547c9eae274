// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/toolbox.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/text/nearest_word.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/workbench/task_catalog.h"

namespace hone::mcp {
namespace fs = std::filesystem;
namespace {

constexpr size_t kEvaluationsKept = 1000;  // limit on the stored evaluations; the oldest are deleted

bool LiesBelow(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

std::map<std::string, std::string> Toolbox::TaskDirectories() const {
  std::map<std::string, std::string> directory_by_task;
  for (const std::string& root : options_.task_roots) {
    for (const std::string& directory : hone::TaskDirectories({root}))
      directory_by_task.emplace(fs::path(directory).filename().string(), directory);
  }
  return directory_by_task;
}

Result<Task> Toolbox::FindTask(const std::string& name) const {
  const std::map<std::string, std::string> tasks = TaskDirectories();
  if (const auto known = tasks.find(name); known != tasks.end()) return LoadTask(known->second);
  std::error_code error;
  if (const Result<std::string> folder = BelowRoot(name);
      folder.ok() && fs::exists(fs::path(*folder) / "task.toml", error)) {
    return LoadTask(*folder);
  }
  std::vector<std::string> names;
  for (const auto& [task_name, directory] : tasks) names.push_back(task_name);
  return Status::NotFound(
      fmt::format("there is no task '{}'{}; {}", name, DidYouMean(name, names),
                  names.empty() ? "there are none: new_task makes one"
                                : fmt::format("there are {}; new_task makes another", fmt::join(names, ", "))));
}

Result<std::string> Toolbox::BelowRoot(const std::string& path) const {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(options_.root, error);
  const fs::path whole = fs::weakly_canonical(root / path, error);
  if (error) return Status::InvalidArgument(fmt::format("'{}': {}", path, error.message()));
  if (path.empty() || path.find('\0') != std::string::npos || !LiesBelow(whole, root)) {
    return Status::InvalidArgument(
        fmt::format("'{}' does not lie below {}, which is all that this server reads and writes (hone mcp --root)",
                    path, root.string()));
  }
  return whole.string();
}

Result<Toolbox::Source> Toolbox::SourceOf(const Json& arguments, const std::string& source_field,
                                          const std::string& path_field, const std::string& what) const {
  const bool has_text = arguments.contains(source_field), has_path = arguments.contains(path_field);
  if (has_text == has_path) {
    return Status::InvalidArgument(fmt::format("give {} as text in '{}' or by its file in '{}'{}", what, source_field,
                                               path_field, has_text ? ", not both" : ""));
  }
  if (has_text)
    return Source{arguments.at(source_field).get<std::string>(),
                  source_field == "source" ? "candidate.cu" : source_field + ".cu"};
  const std::string path = arguments.at(path_field).get<std::string>();
  Result<std::string> full_path = BelowRoot(path);
  // Files of tasks' folders may be read wherever the tasks are, because candidates are made from seeds and oracles.
  std::error_code error;
  for (const auto& [name, directory] : TaskDirectories()) {
    if (full_path.ok()) break;
    const fs::path file = fs::weakly_canonical(path, error);
    if (fs::path(path).is_absolute() && LiesBelow(file, directory)) full_path = file.string();
  }
  HONE_RETURN_IF_ERROR(full_path.status());
  HONE_ASSIGN_OR_RETURN(std::string text, ReadSource(*full_path));
  if (text.size() > kMostSourceBytes) {
    return Status::InvalidArgument(
        fmt::format("{} has {} bytes, and a candidate may have {}", path, text.size(), kMostSourceBytes));
  }
  return Source{std::move(text), path};
}

Result<std::shared_ptr<Evaluator>> Toolbox::EvaluatorFor(const std::string& given_device) {
  const std::string device = given_device.empty() ? options_.evaluator.device : given_device;
  if (!given_device.empty() && given_device.starts_with("spool:") && given_device != options_.evaluator.device) {
    return Status::InvalidArgument("a spool is chosen when the server is started: hone mcp --device spool:DIR");
  }
  const std::lock_guard lock(evaluators_mutex_);
  if (const auto known = evaluators_.find(device); known != evaluators_.end()) return known->second;
  HONE_RETURN_IF_ERROR(MakeDirectories(options_.evaluator.cache_directory));
  EvaluatorOptions options = options_.evaluator;
  options.device = device;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> made, MakeEvaluator(options));
  std::shared_ptr<Evaluator> evaluator = std::move(made);
  // "auto" and the device's own name must share one evaluator, because an evaluator runs one candidate at a time on its
  // device.
  if (!device.starts_with("spool:")) {
    const auto kept_evaluator = evaluators_.find(evaluator->facts().id);
    if (kept_evaluator != evaluators_.end()) evaluator = kept_evaluator->second;
    evaluators_[evaluator->facts().id] = evaluator;
  }
  evaluators_[device] = evaluator;
  return evaluator;
}

DeviceFacts Toolbox::Facts() const {
  const DeviceList list =
      ListDevices(options_.evaluator.cuda_home, options_.evaluator.cutlass_home, options_.search_path);
  for (const DeviceFacts& facts : list.devices) {
    if (facts.id == options_.evaluator.device) return facts;
  }
  return list.devices.empty() ? DeviceFacts{} : list.devices.front();
}

std::string Toolbox::KeepEvaluation(const std::string& json) const {
  const std::string id = Sha256Hex(json).substr(0, 16);
  const fs::path folder = fs::path(options_.state_directory) / "evaluations";
  // If the evaluation cannot be stored, its address is returned all the same; reading it later fails with kNotFound.
  const Status write_status = WriteFileAtomicallyUnflushed(folder / (id + ".json"), json);
  (void)write_status.ok();
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->path().extension() == ".json") files.emplace_back(entry->last_write_time(gone), entry->path());
  }
  if (files.size() > kEvaluationsKept) {
    std::sort(files.begin(), files.end());
    for (size_t i = 0; i + kEvaluationsKept < files.size(); ++i) fs::remove(files[i].second, error);
  }
  return "hone://evaluations/" + id;
}

Result<std::string> Toolbox::KeptEvaluation(const std::string& id) const {
  const bool well_formed = id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!well_formed)
    return Status::NotFound(fmt::format("'{}' is no evaluation: eval and compare say the address of each", id));
  Result<std::string> json = ReadFile(fs::path(options_.state_directory) / "evaluations" / (id + ".json"));
  if (json.ok() || json.status().code() != StatusCode::kNotFound) return json;
  return Status::NotFound(fmt::format("evaluation {} is not kept any more; the newest {} are", id, kEvaluationsKept));
}

}  // namespace hone::mcp
