// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/task_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/property.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace {

using Json = nlohmann::json;

// Returns how a tensor is drawn: its distribution and parameters, as numbers or as the texts of expressions.
Json ValuesJson(const ValueSpec& values) {
  Json entry = {{"distribution", DistributionName(values.distribution)}};
  const auto parameter = [&](const char* name, double number, const std::optional<Expression>& text) {
    entry[name] = text ? Json(text->text()) : Json(number);
  };
  if (DrawsIntegers(values.distribution)) {
    if (values.low_text || values.low > 0) parameter("low", values.low, values.low_text);
    if (values.index_bound) entry["bound"] = values.index_bound->text();
    if (values.index_order == IndexOrder::kDistinct) entry["distinct"] = "tensor";
    if (values.index_order == IndexOrder::kDistinctRows) entry["distinct"] = "row";
    if (values.index_order == IndexOrder::kAscending) entry["sorted"] = true;
    if (values.padding > 0) entry["padding"] = values.padding;
    if (values.index_order == IndexOrder::kMask) {
      entry["ones"] = values.share_of_ones;
      if (values.guaranteed_value >= 0) entry["some"] = values.guaranteed_value;
      if (values.guaranteed_value >= 0) entry["along"] = values.line_axis;
    }
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


std::string ShapeText(const TensorSpec& tensor) {
  std::string text;
  for (const Expression& e : tensor.shape) text += (text.empty() ? "" : ", ") + e.text();
  return "[" + text + "]";
}

// Returns the time that the GPU's memory needs to move the case's compulsory bytes once, as text: "4.1 us".
std::string LeastTimeText(const Task& task, const Dims& dims, const DeviceFacts& gpu) {
  const Result<double> bytes = CompulsoryBytes(task, dims);
  if (!bytes.ok() || gpu.memory_bandwidth <= 0) return "-";
  return fmt::format("{:.4g} us", 1e6 * *bytes / gpu.memory_bandwidth);
}

// Returns the task's folder as a user would type it: relative to the working directory, if it lies below that.
std::string FolderOf(const Task& task) {
  std::error_code error;
  const std::string near = std::filesystem::proximate(task.directory, error).string();
  return error || near.empty() || near.starts_with("..") ? task.directory : near;
}

// Returns the files of a task's folder, with the meaning of each.
std::vector<std::pair<std::string, std::string>> FilesOf(const Task& task) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, what] : {std::pair{"task.toml", "the task"}, {"oracle.cu", "the right answer, in double precision"},
                                   {"reference.py", "the PyTorch module whose answer, in double precision, is right"},
                                   {"seed.cu", "a plain kernel to start from and to be timed against"},
                                   {"baseline.toml", "libraries that compute the same, timed by --libraries"},
                                   {"profile.json", "what the module's operators cost, measured by `hone new`"}}) {
    const std::string path = FolderOf(task) + "/" + name;
    if (FileExists(path)) files.emplace_back(path, what);
  }
  return files;
}

std::string JudgeCommand(const Task& task) {
  return task.seed_source.empty() ? "" : fmt::format("hone eval {} {}/seed.cu", task.name, FolderOf(task));
}

}  // namespace

Json TaskJson(const Task& task) {
  Json tensors = Json::array(), cases = Json::array(), dims = Json::object(), tolerances = Json::object();
  Json unknown = Json::array();
  if (!task.bytes) {
    for (const UnknownTraffic& one : FindUnknownTraffic(task))
      unknown.push_back({{"tensor", one.tensor}, {"reason", one.reason}});
  }
  for (const auto& [name, text] : task.dims) dims[name] = text;
  for (const TensorSpec& t : task.tensors) {
    Json shape = Json::array();
    for (const Expression& e : t.shape) shape.push_back(e.text());
    Json entry = {{"name", t.name}, {"role", TensorRoleName(t.role)}, {"dtype", DTypeName(t.dtype)}, {"shape", shape}};
    if (t.role != TensorRole::kOut) entry["values"] = ValuesJson(t.values);
    tensors.push_back(std::move(entry));
  }
  for (const auto& [name, tolerance] : task.tolerance) {
    tolerances[name] = {{"c_max", tolerance.c_max}, {"c_rms", tolerance.c_rms}, {"abs", tolerance.absolute}, {"c_small", tolerance.c_small}, {"small_floor", tolerance.small_floor}};
  }
  for (const Case& c : task.cases) {
    Json entry = {{"role", CaseRoleName(c.role)}, {"dims", c.dims}};
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

Json TaskDetailsJson(const Task& task, const DeviceFacts& gpu) {
  Json details = TaskJson(task);
  for (size_t i = 0; i < task.cases.size(); ++i) {
    const Result<double> bytes = CompulsoryBytes(task, task.cases[i].dims);
    if (bytes.ok() && gpu.memory_bandwidth > 0) details["cases"][i]["least_us"] = 1e6 * *bytes / gpu.memory_bandwidth;
  }
  details["least_us_device"] = gpu.id;
  details["scalars"] = Json::array();
  for (const ScalarSpec& s : task.scalars) details["scalars"].push_back({{"name", s.name}, {"dtype", DTypeName(s.dtype)}, {"value", s.value}});
  details["hidden"] = Json::array();
  for (const HiddenGroup& group : task.hidden) {
    Json ranges = Json::object();
    for (const HiddenRange& r : group.ranges) ranges[r.dim] = {{"low", r.low}, {"high", r.high}, {"multiple", r.multiple}};
    details["hidden"].push_back({{"count", group.count}, {"dims", ranges}});
  }
  details["files"] = Json::array();
  for (const auto& [path, what] : FilesOf(task)) details["files"].push_back(path);
  details["judge"] = JudgeCommand(task);
  return details;
}

std::string TaskText(const Task& task, const DeviceFacts& gpu) {
  std::string text = fmt::format("{} ({}): {}\n", task.name, WorkloadClassName(task.workload), task.summary);
  text += "\nDimensions\n";
  size_t width = 0;
  for (const auto& [name, meaning] : task.dims) width = std::max(width, name.size());
  for (const TensorSpec& t : task.tensors) width = std::max(width, t.name.size());
  for (const ScalarSpec& s : task.scalars) width = std::max(width, s.name.size());
  for (const auto& [name, meaning] : task.dims) {
    text += fmt::format("  {:<{}}  {}{}\n", name, width, meaning, name == task.slice ? "; results along it are independent" : "");
  }
  text += "\nTensors and numbers\n";
  for (const TensorSpec& t : task.tensors) {
    text += fmt::format("  {:<{}}  {:<9} {:<9} {}\n", t.name, width, TensorRoleName(t.role), DTypeName(t.dtype), ShapeText(t));
  }
  for (const ScalarSpec& s : task.scalars) text += fmt::format("  {:<{}}  {:<9} {:<9} {:g}\n", s.name, width, "scalar", DTypeName(s.dtype), s.value);
  text += "\nTolerance (docs/precision.md)\n";
  for (const auto& [output, t] : task.tolerance) {
    text += fmt::format("  {:<{}}  largest error {:g} of the value's scale, root mean square {:g}\n", output, width, t.c_max, t.c_rms);
  }
  for (const Property& property : PropertiesOf(task)) {
    text += fmt::format("  {:<{}}  {}{}residuals of {:g} at most\n", property.name, width, property.summary, property.summary.empty() ? "" : ": ", property.bound);
  }
  text += fmt::format("\nTimed cases; no kernel takes less than moving every byte once at {:.2f} TB/s ({})\n", gpu.memory_bandwidth / 1e12, gpu.name);
  for (const Case& c : task.cases) {
    if (c.role != CaseRole::kTime) continue;
    const Result<double> bytes = CompulsoryBytes(task, c.dims);
    text += fmt::format("  {:<44} {:>10}  at least {}\n", DimsText(c.dims), bytes.ok() ? QuantityText(*bytes, "B") : "-", LeastTimeText(task, c.dims, gpu));
  }
  text += "\nChecked cases\n";
  for (const Case& c : task.cases) {
    if (c.role == CaseRole::kCheck) text += fmt::format("  {}\n", DimsText(c.dims));
  }
  for (const HiddenGroup& group : task.hidden) {
    std::string ranges;
    for (const HiddenRange& r : group.ranges) {
      ranges += fmt::format("{}{}={}..{}{}", ranges.empty() ? "" : " ", r.dim, r.low, r.high, r.multiple > 1 ? fmt::format(" by {}", r.multiple) : "");
    }
    text += fmt::format("  {} drawn afresh at each evaluation: {}\n", group.count, ranges);
  }
  text += "\nFiles\n";
  size_t longest_path = 0;
  for (const auto& [path, what] : FilesOf(task)) longest_path = std::max(longest_path, path.size());
  for (const auto& [path, what] : FilesOf(task)) text += fmt::format("  {:<{}}  {}\n", path, longest_path, what);
  if (const std::string judge = JudgeCommand(task); !judge.empty()) text += fmt::format("\nTo judge its seed:  {}\n", judge);
  // Rewrites need a kernel: without a seed, a run that starts from a module needs a model that writes one.
  const bool starts_from_module = task.seed_source.empty() && HasTorchModule(task);
  text += fmt::format("{}To look for a faster kernel:  hone optimize {}{}\n", task.seed_source.empty() ? "\n" : "", task.name,
                      starts_from_module ? " --model PROVIDER:MODEL" : "");
  return text;
}

}  // namespace hone
