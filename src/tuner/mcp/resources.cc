// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements resources that can be read by address: documents, devices, tasks' files, runs, evaluations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/mcp/tools.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/open_run.h"
#include "tuner/store/device_facts.h"

extern "C" {
extern const unsigned char hone_doc_candidate_format[];
extern const unsigned long hone_doc_candidate_format_size;
extern const unsigned char hone_doc_task_format[];
extern const unsigned long hone_doc_task_format_size;
extern const unsigned char hone_doc_evaluation_json[];
extern const unsigned long hone_doc_evaluation_json_size;
}

namespace hone::mcp {
namespace {

constexpr std::string_view kScheme = "hone://";
constexpr size_t kMostRunsListed = 20;

struct Document {
  std::string_view name, description;
  const unsigned char* bytes;
  const unsigned long* size;
};
const std::array<Document, 3> kDocuments{{
    {"candidate-format", "How a candidate is written: one .cu file of device code with its launch plan",
     hone_doc_candidate_format, &hone_doc_candidate_format_size},
    {"task-format", "How a task is written: task.toml, oracle.cu, seed.cu", hone_doc_task_format,
     &hone_doc_task_format_size},
    {"evaluation-json", "What the fields of an evaluation mean", hone_doc_evaluation_json,
     &hone_doc_evaluation_json_size},
}};

class HoneResources : public Resources {
 public:
  explicit HoneResources(std::shared_ptr<Toolbox> toolbox) : toolbox_(std::move(toolbox)) {}

  std::vector<ResourceEntry> List() override {
    std::vector<ResourceEntry> entries;
    for (const Document& d : kDocuments) {
      entries.push_back(
          {fmt::format("hone://docs/{}", d.name), std::string(d.name), std::string(d.description), "text/markdown"});
    }
    entries.push_back({"hone://devices", "devices",
                       "Every device that candidates can be judged on here, and what is missing for more",
                       "application/json"});
    for (const auto& [name, directory] : toolbox_->TaskDirectories()) {
      const Result<Task> task = LoadTask(directory);
      if (!task.ok()) continue;
      for (const auto& [file, text] : FilesOfTask(*task)) {
        if (!text->empty())
          entries.push_back({fmt::format("hone://tasks/{}/{}", name, file), fmt::format("{}/{}", name, file),
                             task->summary, "text/plain"});
      }
    }
    const std::string& store = toolbox_->options().store;
    if (!FileExists(store)) return entries;
    const Result<std::unique_ptr<RunStore>> opened = OpenStoreToRead(store);
    if (!opened.ok()) return entries;
    const Result<std::vector<RunInfo>> runs = (*opened)->Runs();
    for (size_t i = 0; runs.ok() && i < std::min(runs->size(), kMostRunsListed); ++i) {
      const RunInfo& run = (*runs)[i];
      entries.push_back({"hone://runs/" + run.id, "run " + run.id,
                         fmt::format("{} on {}, strategy {}", run.task, run.device, run.strategy), "application/json"});
    }
    return entries;
  }

  std::vector<ResourceTemplate> Templates() override {
    return {{"hone://runs/{id}", "run", "A run with all its attempts; the newest are listed", "application/json"},
            {"hone://runs/{id}/{node}", "attempt",
             "One attempt of a run: its source, evaluation and difference to its parent", "application/json"},
            {"hone://tasks/{name}/{file}", "task file", "task.toml, seed.cu, oracle.cu or baseline.toml of a task",
             "text/plain"},
            {"hone://evaluations/{id}", "evaluation", "A whole evaluation; eval and compare say the address of each",
             "application/json"}};
  }

  Result<ResourceText> Read(const std::string& uri) override {
    const auto parts = SplitUri(uri);
    const auto is_path = [&](size_t count, std::string_view first) {
      return parts.size() == count && parts[0] == first;
    };
    if (is_path(1, "devices")) return ResourceText{"application/json", DevicesText()};
    if (is_path(2, "docs")) {
      for (const Document& d : kDocuments) {
        if (d.name == parts[1])
          return ResourceText{"text/markdown", std::string(reinterpret_cast<const char*>(d.bytes), *d.size)};
      }
    }
    if (is_path(3, "tasks")) {
      HONE_ASSIGN_OR_RETURN(const Task task, toolbox_->FindTask(parts[1]));
      for (const auto& [file, text] : FilesOfTask(task)) {
        if (file != parts[2] || text->empty()) continue;
        return ResourceText{"text/plain", text == &task.oracle_source ? AnswerForModels(task) : *text};
      }
    }
    if (is_path(2, "evaluations")) {
      HONE_ASSIGN_OR_RETURN(std::string json, toolbox_->KeptEvaluation(parts[1]));
      return ResourceText{"application/json", std::move(json)};
    }
    if (is_path(2, "runs") || is_path(3, "runs")) {
      HONE_ASSIGN_OR_RETURN(const OpenedRun run, OpenRun(toolbox_->options().store, parts[1]));
      if (parts.size() == 2) return ResourceText{"application/json", RunToJson(run.view)};
      int64_t node = -1;
      const auto [end, error] = std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), node);
      if (error != std::errc() || end != parts[2].data() + parts[2].size() || node < 0 ||
          node >= static_cast<int64_t>(run.view.nodes.size())) {
        return Status::NotFound(fmt::format("run {} has no node '{}'", run.view.info.id, parts[2].substr(0, 40)));
      }
      HONE_ASSIGN_OR_RETURN(const std::string json, NodeToJson(*run.store, run.view, node, /*prompts=*/false));
      Json fields = ReadJsonText(json);
      if (!run.view.node(node).source_hash.empty()) {
        HONE_ASSIGN_OR_RETURN(fields["source"], run.store->Source(run.view.node(node).source_hash));
      }
      return ResourceText{"application/json", DumpJson(fields, 2)};
    }
    return Status::NotFound(
        fmt::format("there is no resource '{}'; resources/list and resources/templates/list say what there is",
                    uri.substr(0, 200)));
  }

 private:
  static std::vector<std::pair<std::string_view, const std::string*>> FilesOfTask(const Task& task) {
    return {{"task.toml", &task.toml},
            {"seed.cu", &task.seed_source},
            {AnswerFile(task), &task.oracle_source},
            {"baseline.toml", &task.baseline_toml}};
  }

  // Splits hone://a/b into {a, b}; empty: it has another scheme.
  static std::vector<std::string> SplitUri(const std::string& uri) {
    std::vector<std::string> parts;
    if (!uri.starts_with(kScheme)) return parts;
    for (size_t start = kScheme.size(); start <= uri.size();) {
      const size_t end = std::min(uri.find('/', start), uri.size());
      parts.push_back(uri.substr(start, end - start));
      start = end + 1;
    }
    return parts;
  }

  std::string DevicesText() const {
    const EvaluatorOptions& options = toolbox_->options().evaluator;
    const DeviceList list = ListDevices(options.cuda_home, options.cutlass_home, toolbox_->options().search_path);
    Json devices = Json::array();
    for (const DeviceFacts& facts : list.devices) devices.push_back(DeviceFactsToJson(facts));
    return DumpJson(Json{{"devices", devices}, {"missing", list.missing}, {"default", options.device}}, 2);
  }

  std::shared_ptr<Toolbox> toolbox_;
};

}  // namespace

std::unique_ptr<Resources> MakeResources(const std::shared_ptr<Toolbox>& toolbox) {
  return std::make_unique<HoneResources>(toolbox);
}

}  // namespace hone::mcp
