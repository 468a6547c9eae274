// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/infer_output.h"

#include <fmt/format.h>

#include <filesystem>

#include "gnn/infer/csv.h"
#include "gnn/infer/npy.h"

namespace hone::gnn {
namespace {

bool IsCsv(const std::string& path) { return path.ends_with(".csv"); }

// Returns the headings of the columns: names of classes, numbers where a class has none, or the columns' numbers behind
// an e where they are no classes.
std::vector<std::string> ColumnHeadings(const InferOutput& output, const Graph& graph, TargetKind kind,
                                        int64_t columns) {
  std::vector<std::string> headings;
  for (int64_t c = 0; c < columns; ++c) {
    const auto at = static_cast<size_t>(c);
    const bool has_class_name = output.embeddings.empty() && at < graph.class_names().size();
    const std::string_view word = !output.embeddings.empty()        ? "e"
                                  : kind == TargetKind::kClasses    ? "class"
                                  : kind == TargetKind::kMultiLabel ? "label"
                                                                    : "value";
    headings.push_back(has_class_name ? graph.class_names()[at] : fmt::format("{}{}", word, c));
  }
  return headings;
}

}  // namespace

std::string InferOutput::Flag() const {
  return logits ? "--logits" : probabilities ? "--probabilities" : embeddings.empty() ? "" : "--embeddings";
}

CLI::Option* AddOutputFlags(CLI::App& command, InferOutput& output) {
  command.add_option(
      "--output", output.path,
      "write the predicted classes to this file, one for each of the requested nodes, in their order: "
      "an .npy file, int32 [nodes], or a .csv file with the columns node, class and, where classes have "
      "names, name; without it, only the accuracy is shown. A graph with several labels or values a node "
      "has probabilities or values instead: float32 [nodes, columns]");
  CLI::Option* probabilities =
      command.add_flag("--probabilities", output.probabilities,
                       "with --output: write probabilities instead of classes: float32 [nodes, classes]");
  CLI::Option* logits =
      command
          .add_flag("--logits", output.logits,
                    "with --output: write the model's outputs (logits) instead of classes: float32 [nodes, classes]")
          ->excludes(probabilities);
  return command
      .add_option("--embeddings", output.embeddings,
                  "with --output: write the rows of a layer, 1 for the first, or of a value that `hone-gnn models` "
                  "lists, instead of classes: float32 [nodes, columns]; no accuracy is computed")
      ->excludes(probabilities)
      ->excludes(logits);
}

Status CheckInferOutput(const InferOutput& output, const std::string& nodes) {
  if (const std::string flag = output.Flag(); output.path.empty() && !flag.empty()) {
    return Status::InvalidArgument(fmt::format("{}: say with --output which file they go to", flag));
  }
  if (output.path.empty()) return Status::Ok();
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(output.path).parent_path();
  if (!folder.empty() && std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found) {
    return Status::InvalidArgument(fmt::format(
        "--output '{}': there is no folder '{}'; make it first, or name another one", output.path, folder.string()));
  }
  HONE_RETURN_IF_ERROR(IsCsv(output.path) ? CheckCsvOutput(output.path) : CheckNpyOutput(output.path));
  if (std::filesystem::equivalent(output.path, nodes, error)) {
    return Status::InvalidArgument(
        fmt::format("--output '{}' is the file of --nodes, which it would replace: name another file", output.path));
  }
  return Status::Ok();
}

Status WriteInferOutput(const InferOutput& output, const Graph& graph, TargetKind kind, std::span<const NodeId> nodes,
                        std::span<const int32_t> classes, Predictions& rows) {
  if (output.path.empty()) return Status::Ok();
  if (output.Flag().empty() && kind == TargetKind::kClasses) {
    return IsCsv(output.path) ? WriteCsv(output.path, nodes, classes, graph.class_names())
                              : WriteNpy(output.path, classes);
  }
  // Without an option, several labels or values a node have outputs in place of classes.
  if (output.probabilities || output.Flag().empty()) LogitsToOutputs(kind, rows);
  if (!IsCsv(output.path)) return WriteNpy(output.path, rows.logits, rows.num_classes);
  return WriteCsv(output.path, nodes, rows.logits, ColumnHeadings(output, graph, kind, rows.num_classes));
}

}  // namespace hone::gnn
