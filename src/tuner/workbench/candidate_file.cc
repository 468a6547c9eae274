// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/candidate_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "base/files/file.h"
#include "base/files/zip_archive.h"
#include "base/text/utf8.h"
#include "tuner/core/program/machine_code.h"
#include "tuner/workbench/task_catalog.h"
#include "tuner/workbench/winner_file.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

using Files = std::map<std::string, std::string>;  // bytes by name

constexpr const char* kPlanName = "candidate.toml";
constexpr const char* kWhatIsIn =
    "a candidate of machine code has a candidate.toml and its images (kernel.cubin or kernel.ptx)";

// Returns the candidate's text for the files of a .honek archive or folder; `path` names it in errors.
Result<std::string> Join(Files files, const std::string& path) {
  const auto plan = files.find(kPlanName);
  if (plan == files.end())
    return Status::InvalidArgument(fmt::format("{}: there is no {}: {}", path, kPlanName, kWhatIsIn));
  const std::string text = plan->second;
  HONE_RETURN_IF_ERROR(CheckUtf8(text, path + "/" + kPlanName));
  files.erase(plan);
  for (const auto& [name, bytes] : files) {
    if (IsImageName(name)) continue;
    const bool machine_code = name.ends_with(".cubin") || name.ends_with(".ptx");
    return Status::InvalidArgument(
        machine_code ? fmt::format("{}: '{}' {}", path, name.substr(0, kMostImageNameBytes), *BadImageName(name))
                     : fmt::format("{}: '{}' does not belong into it: {}", path, name.substr(0, kMostImageNameBytes), kWhatIsIn));
  }
  Result<std::string> joined = JoinMachineCode(text, files);
  if (!joined.ok()) return joined.status().WithContext(path);
  return joined;
}

// Reads a folder with a plan and images of machine code.
Result<Files> ReadFolder(const std::string& path) {
  std::vector<fs::path> candidate_files;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name != kPlanName && !IsImageName(name)) continue;  // a folder may contain other files, which are ignored
    candidate_files.push_back(entry->path());
    if (candidate_files.size() > kMostImages + 1) {
      return Status::InvalidArgument(
          fmt::format("{}: it has more than {} images: leave variants out", path, kMostImages));
    }
  }
  if (error) return Status::Io(fmt::format("{}: {}", path, error.message()));
  Files files;
  size_t total = 0;
  for (const fs::path& file : candidate_files) {
    HONE_ASSIGN_OR_RETURN(std::string bytes, ReadFile(file.string(), static_cast<int64_t>(kMostImageBytes)));
    total += bytes.size();
    if (total > kMostImageBytes) {
      return Status::InvalidArgument(fmt::format(
          "{}: its files have more than {} bytes together, which is as much as is read", path, kMostImageBytes));
    }
    files.emplace(file.filename().string(), std::move(bytes));
  }
  return files;
}

}  // namespace

Result<std::string> ReadCandidate(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error) && fs::exists(fs::path(path) / kPlanName, error)) {
    HONE_ASSIGN_OR_RETURN(Files files, ReadFolder(path));
    return Join(std::move(files), path);
  }
  if (!fs::is_regular_file(path, error) || fs::path(path).extension() != ".honek") return ReadSource(path);
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, static_cast<int64_t>(2 * kMostImageBytes)));
  Result<Files> files = ReadZip(bytes, {.entries = kMostImages + 1, .bytes = kMostImageBytes});
  if (!files.ok()) return files.status().WithContext(path);
  return Join(*std::move(files), path);
}

Result<PlannedKernel> ReadCandidateOf(const Task& task, const std::string& path) {
  if (IsWinnerPath(path)) {
    HONE_ASSIGN_OR_RETURN(std::string tuned, ReadWinner(task, path));
    return PlannedKernel{std::move(tuned), ""};
  }
  HONE_ASSIGN_OR_RETURN(std::string text, ReadCandidate(path));
  if (fs::path(path).extension() != ".cu") return PlannedKernel{std::move(text), ""};
  return PlanPlainKernel(task, text, path);
}

}  // namespace hone
