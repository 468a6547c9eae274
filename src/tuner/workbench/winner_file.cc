// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/winner_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/text/json_fields.h"
#include "tuner/sweep/dispatch.h"
#include "tuner/workbench/task_catalog.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr int64_t kMostBytes = 1 << 20;  // limit on a winner's file

// Returns the candidate's text with `common` and, where `shapes` have other bindings, rules for them.
Result<std::string> TunedText(const Task& task, const Candidate& candidate, const Binding& common,
                              const std::vector<ShapeChoice>& shapes) {
  return WriteDispatch(candidate, task, common,
                       shapes.empty() ? std::vector<DispatchRule>() : MakeDispatchRules(shapes, common));
}

json ToJson(const Interval& interval) {
  return {{"median", interval.median}, {"low", interval.low}, {"high", interval.high}};
}

const Interval* SpeedupIn(const Evaluation& evaluation, const Dims& dims) {
  for (const CaseResult& c : evaluation.cases) {
    if (c.dims == dims && c.speedup) return &*c.speedup;
  }
  return nullptr;
}

}  // namespace

bool IsWinnerPath(const std::string& path) { return fs::path(path).extension() == ".json"; }

json WinnerJson(const Task& task, const std::string& path, const std::string& candidate_path,
                const std::string& baseline, const DeviceFacts& device, const SweptCandidate& swept,
                const std::string& source) {
  const TuneResult& result = swept.result;
  HONE_CHECK(result.best.has_value(), "a winner file needs a winner");
  const TunePoint& best = result.points[*result.best];
  const Evaluation& judged = swept.judged ? *swept.judged : best.evaluation;
  std::vector<ShapeChoice> choices;
  for (const auto& [dims, winner] : result.winners) choices.push_back({dims, result.points[winner].binding});
  if (!result.source.empty()) {
    // Where the plan cannot carry rules, all shapes have the best binding.
    const Result<Candidate> candidate = ParseCandidate(source, candidate_path, task);
    const Result<std::string> text =
        candidate.ok() ? TunedText(task, *candidate, best.binding, choices) : candidate.status();
    if (!text.ok() || *text != result.source) {
      for (ShapeChoice& choice : choices) choice.binding = best.binding;
    }
  }
  json shapes = json::array();
  for (const ShapeChoice& choice : choices) {
    json shape = {{"dims", choice.dims}, {"binding", choice.binding}};
    if (const Interval* speedup = SpeedupIn(judged, choice.dims)) shape["speedup"] = ToJson(*speedup);
    shapes.push_back(std::move(shape));
  }
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).parent_path();
  const fs::path relative = fs::proximate(fs::absolute(candidate_path, error), folder, error);
  return {{"hone_winner", 1},
          {"task", task.name},
          {"candidate", relative.empty() ? candidate_path : relative.generic_string()},
          {"candidate_sha256", Sha256Hex(source)},
          {"baseline", baseline},
          {"device",
           {{"name", device.name},
            {"driver", device.driver},
            {"sm_count", device.sm_count},
            {"modelled", device.modelled},
            {"judge", fmt::format("gates {}", kGatesVersion)}}},
          {"binding", best.binding},
          {"verdict", VerdictName(judged.verdict)},
          {"geomean_speedup", judged.geomean_speedup ? json(*judged.geomean_speedup) : json(nullptr)},
          {"shapes", shapes}};
}

Result<std::string> ReadWinner(const Task& task, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  HONE_ASSIGN_OR_RETURN(const json file, ParseJson(text, path));
  JsonFields fields(file, "winner");
  int version = 0;
  std::string winner_task, name, hash;
  Binding common;
  std::vector<ShapeChoice> shapes;
  fields.Read("hone_winner", version);
  if (!file.is_object() || version != 1) {
    return Status::InvalidArgument(
        path +
        " is no winner file of this version of Hone: name a .cu file, or what `hone tune --out FILE.json` wrote");
  }
  fields.Require("task", winner_task);
  fields.Require("candidate", name);
  fields.Require("candidate_sha256", hash);
  fields.Require("binding", common);
  if (!file.contains("shapes")) fields.Fail("shapes", "is missing");
  fields.Objects("shapes", [&](JsonFields& shape) {
    ShapeChoice choice;
    shape.Require("dims", choice.dims);
    shape.Require("binding", choice.binding);
    shapes.push_back(std::move(choice));
  });
  if (!fields.ok()) return fields.status().WithContext(path);
  if (winner_task != task.name) {
    return Status::InvalidArgument(
        fmt::format("{} has winners of task '{}', not of '{}'", path, winner_task, task.name));
  }
  const std::string source_path = (fs::path(path).parent_path() / name).string();
  HONE_ASSIGN_OR_RETURN(const std::string source, ReadSource(source_path));
  if (Sha256Hex(source) != hash) {
    return Status::InvalidArgument(
        fmt::format("{}: {} has changed since it was tuned: run `hone tune` again, or bring the file of that time back",
                    path, source_path));
  }
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, ParseCandidate(source, source_path, task));
  const std::vector<Binding> bindings = AllBindings(candidate.plan);
  const auto known = [&](const Binding& binding) {
    return std::find(bindings.begin(), bindings.end(), binding) != bindings.end();
  };
  for (const ShapeChoice& shape : shapes) {
    if (!known(shape.binding)) {
      return Status::InvalidArgument(
          fmt::format("{}: {} has no binding {}", path, source_path, BindingKey(shape.binding)));
    }
  }
  if (!known(common)) {
    return Status::InvalidArgument(fmt::format("{}: {} has no binding {}", path, source_path, BindingKey(common)));
  }
  Result<std::string> tuned = TunedText(task, candidate, common, shapes);
  return tuned.ok() ? std::move(tuned) : tuned.status().WithContext(path);
}

}  // namespace hone
