// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/tuned_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/text/json_fields.h"

namespace hone::gnn {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int64_t kMostBytes = 8 << 20;  // of a file of tuned kernels
constexpr const char* kBackward = "_backward";

json ToJson(const TuningPlace& place) {
  json out = {{"model", place.model},
              {"model_sha256", place.model_hash},
              {"graph", place.graph},
              {"graph_nodes", place.graph_nodes},
              {"precision", place.fp32 ? "fp32" : "bf16"},
              {"fanouts", place.fanouts},
              {"batch", place.batch}};
  if (!place.gpu.empty()) out["gpu"] = place.gpu;
  return out;
}

TuningPlace PlaceFrom(JsonFields& fields) {
  TuningPlace place;
  std::string precision;
  std::vector<int> fanouts;
  fields.Require("model", place.model);
  fields.Require("model_sha256", place.model_hash);
  fields.Require("graph", place.graph);
  fields.Require("graph_nodes", place.graph_nodes);
  fields.Require("precision", precision);
  fields.Require("fanouts", fanouts);
  fields.Require("batch", place.batch);
  fields.Read("gpu", place.gpu);
  place.fp32 = precision == "fp32";
  place.fanouts.assign(fanouts.begin(), fanouts.end());
  return place;
}

json ToJson(const SumChoice& choice) {
  return {{"lanes", choice.lanes}, {"ahead", choice.ahead}, {"block", choice.block}};
}
SumChoice ChoiceFrom(JsonFields& fields) {
  SumChoice choice;
  fields.Require("lanes", choice.lanes);
  fields.Require("ahead", choice.ahead);
  fields.Require("block", choice.block);
  return choice;
}

// Returns the choice that a binding of engine.cu's tunables stands for.
SumChoice ChoiceOf(const std::map<std::string, int64_t>& binding) {
  const auto field_of = [&](const char* name) {
    const auto found = binding.find(name);
    return found == binding.end() ? 0 : static_cast<int>(found->second);
  };
  return {field_of("LANES"), field_of("AHEAD"), field_of("BLOCK")};
}
std::string ChoiceText(const SumChoice& choice) {
  return fmt::format("{} lanes a row, {} ahead, {} threads a block", choice.lanes, choice.ahead, choice.block);
}

Result<json> ReadJsonFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  return ParseJson(text, path);
}

// The winner files of a task's folder, by name.
std::vector<std::string> JsonFilesOf(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct WinnerOfShape {
  std::map<std::string, int64_t> dims, binding;
};

// Reads a winner file into `shapes`, and returns why it is not used: a sentence's end, empty if it is used.
Result<std::string> ReadWinner(const std::string& path, const std::string& task, const std::string& engine_hash,
                               const std::string& gpu, std::vector<WinnerOfShape>& shapes) {
  HONE_ASSIGN_OR_RETURN(const json file, ReadJsonFile(path));
  int version = 0;
  std::string winner_task, hash, verdict, device, judge;
  bool modelled = false;
  JsonFields fields(file, "winner");
  if (fields.ok()) fields.Read("hone_winner", version);
  if (version != 1) return std::string("it is no winner file of this version of Hone");
  fields.Require("task", winner_task);
  fields.Require("candidate_sha256", hash);
  fields.Require("verdict", verdict);
  fields.Object("device", [&](JsonFields& inner) {
    inner.Require("name", device);
    inner.Require("modelled", modelled);
    inner.Read("judge", judge);
  });
  fields.Objects("shapes", [&](JsonFields& inner) {
    WinnerOfShape shape;
    inner.Require("dims", shape.dims);
    inner.Require("binding", shape.binding);
    shapes.push_back(std::move(shape));
  });
  if (!fields.ok()) return fields.status().WithContext(path);
  if (winner_task != task) return fmt::format("it is of task '{}'", winner_task);
  if (hash != engine_hash) {
    return std::string(
        "its candidate is not this program's engine.cu, and the engine runs no other kernel: write the tasks anew and "
        "tune engine.cu");
  }
  if (verdict != "ok") return fmt::format("the judge's verdict is {}", verdict);
  if (modelled) return std::string("its times are modelled: tune on a GPU");
  if (device != gpu) return fmt::format("it was timed on {}, and this GPU is {}", device, gpu);
  return std::string();
}

}  // namespace

std::string WhyNotHere(const TuningPlace& tuned, const TuningPlace& run) {
  const auto differs = [](const char* what, const auto& own_value, const auto& their_value) {
    return fmt::format("it was tuned for {} {}, and this run has {}", what, own_value, their_value);
  };
  if (!tuned.gpu.empty() && tuned.gpu != run.gpu) return differs("the GPU", tuned.gpu, run.gpu);
  if (tuned.model_hash != run.model_hash) {
    return tuned.model == run.model ? fmt::format("it was tuned for another model of the name '{}'", run.model)
                                    : differs("model", "'" + tuned.model + "'", "'" + run.model + "'");
  }
  if (tuned.fp32 != run.fp32) return differs("precision", tuned.fp32 ? "fp32" : "bf16", run.fp32 ? "fp32" : "bf16");
  if (tuned.fanouts != run.fanouts) {
    return differs("fanouts", fmt::format("{}", fmt::join(tuned.fanouts, ",")),
                   fmt::format("{}", fmt::join(run.fanouts, ",")));
  }
  if (tuned.batch != run.batch) return differs("batches of", tuned.batch, run.batch);
  if (tuned.graph_nodes != run.graph_nodes) {
    return differs("a graph of", fmt::format("{} nodes ({})", tuned.graph_nodes, tuned.graph),
                   fmt::format("{} nodes ({})", run.graph_nodes, run.graph));
  }
  return "";
}

std::string TasksText(const TuningPlace& place, const std::vector<ModelTask>& tasks) {
  json all = json::array();
  for (const ModelTask& task : tasks) {
    json places = json::array();
    for (const TaskPlace& at : task.places) {
      json dims = json::object();
      for (const auto& [name, size] : at.median) dims[name] = size;
      places.push_back({{"value", at.value}, {"dims", dims}});
    }
    all.push_back({{"name", task.name}, {"places", places}});
  }
  return DumpJson(json{{"hone_tasks", 1}, {"for", ToJson(place)}, {"tasks", all}}, 2) + "\n";
}

Result<TaskFolder> ReadTaskFolder(const std::string& folder) {
  const std::string path = folder + "/tasks.json";
  Result<json> tuned_json = ReadJsonFile(path);
  if (tuned_json.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(path +
                            " does not exist: name a folder that `hone-gnn tune-model MODEL --graph GRAPH` wrote");
  }
  HONE_ASSIGN_OR_RETURN(const json file, std::move(tuned_json));
  TaskFolder tasks;
  int version = 0;
  JsonFields fields(file, "tasks");
  fields.Read("hone_tasks", version);
  if (fields.ok() && version != 1) {
    return Status::InvalidArgument(path + " was not written by this version of Hone: write the tasks anew");
  }
  if (!fields.Object("for", [&](JsonFields& inner) { tasks.place = PlaceFrom(inner); }))
    fields.Fail("for", "is missing");
  fields.Objects("tasks", [&](JsonFields& one) {
    TaskOfFolder task;
    one.Require("name", task.name);
    one.Objects("places", [&](JsonFields& inner) {
      std::pair<std::string, std::map<std::string, int64_t>> at;
      inner.Require("value", at.first);
      inner.Require("dims", at.second);
      task.places.push_back(std::move(at));
    });
    tasks.tasks.push_back(std::move(task));
  });
  if (!fields.ok()) return fields.status().WithContext(path);
  return tasks;
}

Result<Winners> ReadWinners(const std::string& folder, const TaskFolder& tasks,
                            const std::map<std::string, std::string>& engine_hashes, const std::string& gpu) {
  Winners winners;
  for (const TaskOfFolder& task : tasks.tasks) {
    for (const std::string& file : JsonFilesOf(folder + "/" + task.name)) {
      const auto hash = engine_hashes.find(task.name);
      if (hash == engine_hashes.end()) {
        winners.notes.push_back(
            fmt::format("{} is not used: the engine has one kernel for {}, and nothing to choose", file, task.name));
        continue;
      }
      std::vector<WinnerOfShape> shapes;
      HONE_ASSIGN_OR_RETURN(const std::string why, ReadWinner(file, task.name, hash->second, gpu, shapes));
      if (!why.empty()) {
        winners.notes.push_back(fmt::format("{} is not used: {}", file, why));
        continue;
      }
      const bool backward = task.name.ends_with(kBackward);
      for (const auto& [value, dims] : task.places) {
        const auto shape =
            std::find_if(shapes.begin(), shapes.end(), [&dims = dims](const WinnerOfShape& one) { return one.dims == dims; });
        if (shape == shapes.end()) {
          winners.notes.push_back(fmt::format("{} has no winner for the shape of value '{}'", file, value));
          continue;
        }
        const SumChoice choice = ChoiceOf(shape->binding);
        if (!HasInstance(choice)) {
          winners.notes.push_back(fmt::format("{} is not used for value '{}': the engine has no kernel of {}", file,
                                              value, ChoiceText(choice)));
          continue;
        }
        const auto columns = dims.find("dim");
        if (columns != dims.end() && choice == OwnSumChoice(columns->second, backward)) continue;  // the engine's own won
        AggregateChoice& at = winners.choices.aggregates[value];
        (backward ? at.backward : at.forward) = choice;
        winners.used.push_back(
            fmt::format("'{}'{}: {}", value, backward ? ", backward" : ", forward", ChoiceText(choice)));
      }
    }
  }
  return winners;
}

std::string TunedText(const TunedKernels& tuned) {
  json choices = json::object();
  for (const auto& [value, choice] : tuned.choices.aggregates) {
    choices[value] = json::object();
    if (choice.forward) choices[value]["forward"] = ToJson(*choice.forward);
    if (choice.backward) choices[value]["backward"] = ToJson(*choice.backward);
  }
  const json file = {{"hone_tuned", 1},
                     {"for", ToJson(tuned.place)},
                     {"speedup",
                      {{"of_an_epoch", tuned.speedup.ratio},
                       {"low", tuned.speedup.lower},
                       {"high", tuned.speedup.upper},
                       {"pairs", tuned.epochs}}},
                     {"aggregates", choices}};
  return DumpJson(file, 2) + "\n";
}

Result<TunedKernels> ReadTunedKernels(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const json file, ReadJsonFile(path));
  TunedKernels tuned;
  int version = 0;
  JsonFields fields(file, "tuned");
  fields.Read("hone_tuned", version);
  if (fields.ok() && version != 1) {
    return Status::InvalidArgument(path + " is no file of tuned kernels: `hone-gnn tune-model --apply` writes one");
  }
  if (!fields.Object("for", [&](JsonFields& inner) { tuned.place = PlaceFrom(inner); }))
    fields.Fail("for", "is missing");
  fields.Object("speedup", [&](JsonFields& inner) {
    inner.Require("of_an_epoch", tuned.speedup.ratio);
    inner.Require("low", tuned.speedup.lower);
    inner.Require("high", tuned.speedup.upper);
    inner.Require("pairs", tuned.epochs);
  });
  if (!file.is_object() || !file.contains("aggregates") || !file["aggregates"].is_object()) {
    fields.Fail("aggregates", "is missing");
  } else {
    for (const auto& [value, one] : file["aggregates"].items()) {
      AggregateChoice choice;
      JsonFields inner(one, "tuned.aggregates." + value);
      inner.Object("forward", [&](JsonFields& f) { choice.forward = ChoiceFrom(f); });
      inner.Object("backward", [&](JsonFields& f) { choice.backward = ChoiceFrom(f); });
      if (!inner.ok()) return inner.status().WithContext(path);
      if (!HasInstances(choice)) {
        return Status::InvalidArgument(fmt::format(
            "{}: this engine has no such kernel for value '{}': tune again with this program", path, value));
      }
      tuned.choices.aggregates[value] = choice;
    }
  }
  if (!fields.ok()) return fields.status().WithContext(path);
  return tuned;
}

}  // namespace hone::gnn
