// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/definition_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files/file.h"
#include "base/text/json_text.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kMostBytes = 16 << 20;
constexpr int kFoldersUp = 6;  // data sets keep workloads three folders below their root

// Returns the path where the benchmarks keep a definition's workloads; empty: there is no such file.
std::string UsualWorkloads(const fs::path& definition) {
  std::error_code ignored;
  const fs::path folder = definition.parent_path();
  for (const std::string& name : {definition.stem().string() + ".jsonl", std::string("workload.jsonl"), std::string("workloads.jsonl")}) {
    if (fs::is_regular_file(folder / name, ignored)) return (folder / name).string();
  }
  const fs::path kind = folder.filename(), above = folder.parent_path();
  const std::string lines = definition.stem().string() + ".jsonl";
  fs::path there;
  if (kind == "definitions") there = above / "workloads" / lines;  // a set without a folder for each kind
  if (above.filename() == "definitions") there = above.parent_path() / "workloads" / kind / lines;
  if (there.empty()) return "";
  return fs::is_regular_file(there, ignored) ? there.string() : "";
}

// Returns the path of the file `name`, which is relative to the root of a data set, by trying `from` and the folders
// above it as the root. Empty: there is no such file, or the name is absolute or has "..".
std::string FindBelowRoots(const fs::path& from, const fs::path& name) {
  if (name.is_absolute()) return "";
  for (const fs::path& part : name) {
    if (part == "..") return "";
  }
  std::error_code ignored;
  fs::path folder = from;
  for (int i = 0; i < kFoldersUp; ++i) {
    if (fs::is_regular_file(folder / name, ignored)) return fs::weakly_canonical(folder / name, ignored).string();
    if (!folder.has_parent_path() || folder.parent_path() == folder) break;
    folder = folder.parent_path();
  }
  return "";
}

Result<std::string> Read(const std::string& path, const char* what, const char* remedy) {
  Result<std::string> text = ReadFile(path, kMostBytes);
  if (text.ok()) return text;
  return Status::InvalidArgument(
      fmt::format("{} cannot be read as {} ({}): {}", path, what, text.status().message(), remedy));
}

}  // namespace

Result<DefinitionFiles> ReadDefinitionFiles(const std::string& path, const std::string& workload_path) {
  DefinitionFiles found;
  HONE_ASSIGN_OR_RETURN(found.text, Read(path, "a definition", "name a definition's .json file"));
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored);
  const std::string workloads = workload_path.empty() ? UsualWorkloads(absolute) : workload_path;
  if (workloads.empty()) return found;
  HONE_ASSIGN_OR_RETURN(
      found.workloads,
      Read(workloads, "workloads", "name a file of lines of JSON, or leave --workload out and give sizes with --case"));
  found.workload_file = fs::path(workloads).filename().string();
  const fs::path folder = fs::absolute(workloads, ignored).parent_path();
  std::istringstream lines(found.workloads);
  for (std::string line; std::getline(lines, line);) {
    // Lines that are not valid are skipped here; describe.py refuses them with a message.
    const Result<json> one = ParseJson(line, found.workload_file);
    if (!one.ok() || !one->is_object()) continue;
    const json& workload = one->contains("workload") && (*one)["workload"].is_object() ? (*one)["workload"] : *one;
    if (!workload.contains("inputs") || !workload["inputs"].is_object()) continue;
    for (const auto& [name, input] : workload["inputs"].items()) {
      if (!input.is_object() || !input.contains("path") || !input["path"].is_string()) continue;
      const std::string stored = input["path"].get<std::string>();
      if (found.files.contains(stored)) continue;
      const std::string where = FindBelowRoots(folder, stored);
      found.files[stored] = where;
      if (!where.empty()) found.readable.push_back(where);
    }
  }
  return found;
}

}  // namespace hone
