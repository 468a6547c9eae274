// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/write_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/files/file.h"

namespace hone::gnn {
namespace {

using Kind = HotOperation::Kind;

// A task's table of feature rows holds at most so many bytes. It need not be the graph's: beyond the caches of a GPU, a
// larger table costs the same.
constexpr int64_t kMostTableBytes = int64_t{1} << 30;

int64_t TableRows(const TuneSource& source, int64_t width) {
  const int64_t row = std::max<int64_t>(width, 1) * FeatureDtypeBytes(source.dtypes.features);
  return std::min(source.graph_nodes, kMostTableBytes / row);
}

TaskDims DimsOf(const TuneSource& source, const HotOperation& operation, const BatchShape& batch) {
  switch (operation.kind) {
    case Kind::kGather:
      return {{"num_src", TableRows(source, operation.in_width)},
              {"rows", batch.Rows(operation.hop)},
              {"dim", operation.in_width}};
    case Kind::kAggregate:
    case Kind::kAggregateBackward:
    case Kind::kAttention:
    case Kind::kAttentionBackward:
    case Kind::kAttentionRowsBackward: {
      const auto h = static_cast<size_t>(operation.hop);
      const HopShape& hop = batch.hops[h];
      const int32_t fanout = source.measured.fanouts[h];
      const double slots = static_cast<double>(hop.num_dst) * fanout;
      TaskDims dims = {{"num_src", operation.of_features ? TableRows(source, operation.in_width) : hop.num_src},
                       {"num_dst", hop.num_dst},
                       {"fanout", fanout}};
      const bool rows = operation.kind == Kind::kAttentionRowsBackward;
      if (operation.kind == Kind::kAggregateBackward || rows) dims.emplace_back("edges", hop.edges);
      if (!rows && (operation.kind != Kind::kAggregateBackward || operation.symmetric ||
                    operation.how == AggregateSpec::How::kMean)) {
        dims.emplace_back("degree_bound", DegreeBound(static_cast<double>(hop.edges) / slots, fanout));
      }
      if (operation.kind == Kind::kAttention || operation.kind == Kind::kAttentionBackward || rows) {
        dims.emplace_back("heads", operation.heads);
      }
      dims.emplace_back("dim", operation.in_width);
      return dims;
    }
    default:
      return {
          {"rows", batch.Rows(operation.hop)}, {"in_width", operation.in_width}, {"out_width", operation.out_width}};
  }
}

std::string SizesText(const TaskDims& dims) {
  std::string text;
  for (const auto& [name, size] : dims) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, size);
  return text;
}

void AddShape(ModelTask& task, const TaskDims& dims, const std::string& what) {
  for (TimedShape& timed_shape : task.timed) {
    if (timed_shape.dims != dims) continue;
    if (timed_shape.what.find(what) == std::string::npos) timed_shape.what += "; " + what;
    return;
  }
  task.timed.push_back({dims, what});
}

std::string SampledText(const TuneSource& source) {
  return fmt::format("{} batches of {} seeds over {}, fanouts {}, frontier {}, seed {}", source.measured.batches,
                     source.measured.batch, source.graph, fmt::join(source.measured.fanouts, ","),
                     source.measured.frontier == FrontierRule::kNewOnly ? "new" : "all", source.measured.seed);
}

std::string TaskReadme(const TuneSource& source, const ModelTask& task) {
  std::string text = fmt::format(
      "# {}\n\nThis task was made of model `{}` by `hone-gnn tune-model`, from {}.\n\n## Where it stands in the "
      "model\n\n",
      task.name, source.model, SampledText(source));
  for (const TaskPlace& place : task.places) {
    text += fmt::format("* {}\n  Median batch: {}. Largest batch: {}.\n", place.where, SizesText(place.median),
                        SizesText(place.largest));
  }
  if (!source.gpu_program.empty()) {
    text += fmt::format(
        "\nA GPU runs this model whole, as the program of `{}`, which fuses operations with what stands beside them. "
        "This task "
        "judges the operation by itself.\n",
        source.gpu_program);
  }
  text += fmt::format(
      "\n## The files\n\n`oracle.cu` is the CPU's form of the operation, in double. {}\n\nNeighbors are drawn evenly "
      "from all sources, "
      "and degrees evenly below `degree_bound`, where the task has one: on average as many slots are filled as in the "
      "measured batches, but a graph's few nodes that many others draw are not imitated.\n\n## Try it\n\n"
      "```sh\nhone tasks check {} --device sim\nhone eval {} {}/seed.cu --device sim\nhone tune {} {}/seed.cu --device "
      "sim --out tuned.cu\n"
      "hone optimize {} --model builtin --device sim\n```\n\n"
      "{}A kernel that is faster alone can be slower inside a training step, where it runs beside others. Only epochs "
      "that are "
      "timed in pairs on a GPU say whether the model gains.\n",
      task.texts.seed_is, task.name, task.name, task.name, task.name, task.name, task.name,
      task.texts.engine.empty()
          ? std::string()
          : fmt::format("`engine.cu` is the engine's own kernel, with what the engine can choose from as its tunables. "
                        "Its winners on a GPU can go back into the engine (`hone-gnn tune-model --apply`):\n\n"
                        "```sh\nhone tune {0} {0}/engine.cu --baseline {0}/engine.cu --out {0}/winner.json\n```\n\n",
                        task.name));
  return text;
}

Status WriteFolder(const std::string& folder, const std::vector<ModelTask>& tasks, const std::string& readme,
                   const std::string& index) {
  HONE_RETURN_IF_ERROR(MakeDirectories(folder));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(folder + "/README.md", readme));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(folder + "/tasks.json", index));
  for (const ModelTask& task : tasks) {
    const std::string inside = folder + "/" + task.name + "/";
    HONE_RETURN_IF_ERROR(MakeDirectories(inside));
    HONE_RETURN_IF_ERROR(WriteFileAtomically(inside + "task.toml", task.texts.task));
    HONE_RETURN_IF_ERROR(WriteFileAtomically(inside + "oracle.cu", task.texts.oracle));
    HONE_RETURN_IF_ERROR(WriteFileAtomically(inside + "seed.cu", task.texts.seed));
    HONE_RETURN_IF_ERROR(WriteFileAtomically(inside + "README.md", task.readme));
    if (!task.texts.engine.empty()) {
      HONE_RETURN_IF_ERROR(WriteFileAtomically(inside + "engine.cu", task.texts.engine));
    }
    if (!task.texts.baseline.empty()) {
      HONE_RETURN_IF_ERROR(WriteFileAtomically(inside + "baseline.toml", task.texts.baseline));
    }
  }
  return Status::Ok();
}

}  // namespace

std::vector<ModelTask> MakeTasks(const TuneSource& source, const std::vector<HotOperation>& operations,
                                 const MeasuredBatches& batches) {
  const BatchShape &median = batches.median(), &largest = batches.largest();
  const bool both = 20 * largest.edges() >= 21 * median.edges();
  std::vector<ModelTask> tasks;
  std::vector<HotOperation> first;  // indexed by task: an operation of its name
  for (const HotOperation& operation : operations) {
    const std::string name = TaskName(operation);
    auto task = std::find_if(tasks.begin(), tasks.end(), [&](const ModelTask& known) { return known.name == name; });
    if (task == tasks.end()) {
      first.push_back(operation);
      task = tasks.insert(tasks.end(), ModelTask{.name = name});
    }
    TaskPlace place{operation.value, operation.where, DimsOf(source, operation, median),
                    DimsOf(source, operation, largest)};
    AddShape(*task, place.median, fmt::format("'{}' in the median batch", operation.value));
    if (both) AddShape(*task, place.largest, fmt::format("'{}' in the largest batch", operation.value));
    task->places.push_back(std::move(place));
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].texts = MakeTaskTexts(first[i], source.model, source.dtypes, tasks[i].timed);
    tasks[i].readme = TaskReadme(source, tasks[i]);
  }
  return tasks;
}

std::string FolderText(const TuneSource& source, const std::vector<ModelTask>& tasks, const HotOperations& operations,
                       const MeasuredBatches& batches) {
  std::string text = fmt::format("# Tasks of model {}\n\nThese tasks were made by `hone-gnn tune-model`, from {}.\n\n",
                                 source.model, SampledText(source));
  text += "| task | values of the model | timed shapes |\n|---|---|---|\n";
  for (const ModelTask& task : tasks) {
    std::vector<std::string> values;
    for (const TaskPlace& place : task.places) values.push_back("`" + place.value + "`");
    text += fmt::format("| [{}]({}/README.md) | {} | {} |\n", task.name, task.name, fmt::join(values, ", "),
                        task.timed.size());
  }
  text +=
      "\n## What was measured\n\nSmallest, median and largest over the batches. Hop 0 is next to the seeds.\n\n"
      "| hop | fanout | destinations | sources | edges | slots filled | most draws of one source "
      "|\n|---|---|---|---|---|---|---|\n";
  const auto spread = [&](int hop, int64_t HopShape::*size) {
    const Spread s = batches.Of(hop, size);
    return fmt::format("{} / {} / {}", s.least, s.median, s.most);
  };
  for (size_t h = 0; h < source.measured.fanouts.size(); ++h) {
    const int hop = static_cast<int>(h);
    const int32_t fanout = source.measured.fanouts[h];
    text += fmt::format("| {} | {} | {} | {} | {} | {:.1f} % | {} |\n", h, fanout, spread(hop, &HopShape::num_dst),
                        spread(hop, &HopShape::num_src), spread(hop, &HopShape::edges),
                        100 * batches.ShareOfFilledSlots(hop, fanout), spread(hop, &HopShape::most_uses));
  }
  if (!operations.left_out.empty()) {
    text += "\n## For which no task is written\n\n";
    for (const LeftOut& left_out_value : operations.left_out)
      text += fmt::format("* `{}`: {}.\n", left_out_value.value, left_out_value.why);
  }
  return text;
}

Status WriteTasks(const std::string& folder, const std::vector<ModelTask>& tasks, const std::string& readme,
                  const std::string& index) {
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
    return Status::InvalidArgument(path + " exists: remove it, or name another folder with --out");
  }
  const std::string temporary = fmt::format("{}.partial.{}", path, getpid());
  Status status = WriteFolder(temporary, tasks, readme, index);
  if (status.ok()) {
    std::filesystem::rename(temporary, path, error);
    if (error) status = Status::Io(fmt::format("rename {} to {}: {}", temporary, path, error.message()));
  }
  if (!status.ok()) std::filesystem::remove_all(temporary, error);
  return status;
}

}  // namespace hone::gnn
