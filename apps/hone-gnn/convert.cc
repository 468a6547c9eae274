// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn convert SOURCE OUT: makes a container of a graph in another format.
#include "gnn/graph/convert/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/targets.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/graph_progress.h"

namespace hone::gnn {
namespace {

struct ConvertFlags {
  std::string source, out;
  ConvertOptions options;
  std::string self_loops = "keep", dtype = "float32", labels;
  std::vector<double> split;
  int64_t split_seed = -1;
  double replace_nan = 0;
  bool replace = false;
  int64_t memory_mib = 1024;
  bool json = false, quiet = false;
};

nlohmann::json ToJson(const ConvertFlags& flags, const ConvertReport& r, double seconds) {
  nlohmann::json unread = nlohmann::json::array();
  for (const UnreadPart& part : r.unread) unread.push_back({{"name", part.name}, {"meaning", part.meaning}});
  return {{"graph", flags.out},
          {"format", r.format},
          {"nodes", r.num_nodes},
          {"edges_read", r.edges_read},
          {"edges", r.num_edges},
          {"self_loops_dropped", r.self_loops_dropped},
          {"parallel_edges_dropped", r.parallel_dropped},
          {"features", r.feature_width},
          {"edge_features", r.edge_feature_width},
          {"nan_replaced", r.nan_replaced},
          {"classes", r.num_classes},
          {"labels", TargetKindName(r.labels)},
          {"labelled_nodes", r.labelled},
          {"train_nodes", r.split_sizes[0]},
          {"valid_nodes", r.split_sizes[1]},
          {"test_nodes", r.split_sizes[2]},
          {"nodes_in_no_split", r.in_no_split},
          {"splits_made_by_seed", r.splits_made},
          {"splits_meaning", r.splits_meaning},
          {"split_count", r.split_count},
          {"split_index", r.split_index},
          {"flags",
           {{"symmetric", r.flags.symmetric},
            {"sorted", r.flags.sorted},
            {"parallel_edges", r.flags.parallel_edges},
            {"self_loops", r.flags.self_loops}}},
          {"perhaps_counted_from_1", r.perhaps_from_one},
          {"used_temporary_file", r.spilled},
          {"notes", r.notes},
          {"unread", std::move(unread)},
          {"seconds", seconds}};
}

void PrintUnread(const std::vector<UnreadPart>& unread) {
  constexpr size_t kMostShown = 20;  // unread parts that are listed
  if (!unread.empty()) hone::Print("  not read:\n");
  for (size_t i = 0; i < std::min(unread.size(), kMostShown); ++i) {
    hone::Print("    {}: {}\n", unread[i].name, unread[i].meaning);
  }
  if (unread.size() > kMostShown) hone::Print("    and {} more, which --json lists\n", unread.size() - kMostShown);
}

Status Run(ConvertFlags& flags) {
  ConvertOptions& options = flags.options;
  HONE_ASSIGN_OR_RETURN(options.dtype, ParseFeatureDtype(flags.dtype));
  if (!flags.labels.empty()) {
    HONE_ASSIGN_OR_RETURN(options.labels, ParseTargetKind(flags.labels));
  }
  options.self_loops = flags.self_loops == "add"      ? SelfLoops::kAdd
                       : flags.self_loops == "remove" ? SelfLoops::kRemove
                                                      : SelfLoops::kKeep;
  if (!flags.split.empty() && flags.split.size() != 3) {
    return Status::InvalidArgument(
        fmt::format("--split {}: write three fractions, of training, validation and test nodes, as in 0.6,0.2,0.2",
                    fmt::join(flags.split, ",")));
  }
  if (!flags.split.empty()) options.split = SplitFractions{flags.split[0], flags.split[1], flags.split[2]};
  if (flags.split_seed >= 0) options.split_seed = static_cast<uint64_t>(flags.split_seed);
  if (flags.replace) options.replace_nan = static_cast<float>(flags.replace_nan);
  options.memory_bytes = flags.memory_mib << 20;
  const auto start = std::chrono::steady_clock::now();
  ConvertReport report;
  {
    GraphProgressLine line(!flags.quiet);
    options.progress = line.callback();
    HONE_ASSIGN_OR_RETURN(report, ConvertGraph(flags.source, flags.out, options));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.json) {
    hone::Print("{}\n", DumpJson(ToJson(flags, report, seconds), 2));
    return Status::Ok();
  }
  hone::Print("{}: {} nodes, {} edges ({} read from the {}), {} features{}, {} {}, {:.1f} s\n", flags.out,
              report.num_nodes, report.num_edges, report.edges_read, report.format, report.feature_width,
              report.edge_feature_width > 0 ? fmt::format(" and {} an edge", report.edge_feature_width) : "",
              report.num_classes,
              report.labels == TargetKind::kClasses      ? "classes"
              : report.labels == TargetKind::kMultiLabel ? "labels a node"
              : report.num_classes == 1                  ? "value a node"
                                                         : "values a node",
              seconds);
  if (report.split_sizes[0] + report.split_sizes[1] + report.split_sizes[2] > 0) {
    hone::Print("  splits {}: {} train, {} valid, {} test, {} in none{}\n",
                report.splits_made ? "made by seed" : "of the source", report.split_sizes[0], report.split_sizes[1],
                report.split_sizes[2], report.in_no_split,
                report.splits_meaning.empty() ? "" : fmt::format(" ({})", report.splits_meaning));
  } else {
    hone::Print("  no splits: to train, a graph needs labels and features (splits are then made by seed)\n");
  }
  if (report.self_loops_dropped + report.parallel_dropped > 0) {
    hone::Print("  dropped {} self-loops and {} parallel edges\n", report.self_loops_dropped, report.parallel_dropped);
  }
  if (!report.flags.symmetric) {
    hone::Print("  edges are directed: messages go from source to destination only; --symmetrize adds the reverse\n");
  }
  if (report.nan_replaced > 0) hone::Print("  replaced {} features that were not finite\n", report.nan_replaced);
  for (const std::string& note : report.notes) hone::Print("  {}\n", note);
  PrintUnread(report.unread);
  return Status::Ok();
}

}  // namespace

void RegisterConvertCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command =
      app.add_subcommand("convert", "convert a graph from another format into Hone's graph file (container)");
  command
      ->add_option("source", flags->source,
                   "an OGB folder; a folder of .npy files; an .npz file of scipy, or of a heterophilous graph; a "
                   "folder laid out like facebook_large; or an edge list (docs/graphs.md describes each)")
      ->required();
  command->add_option("out", flags->out, "the graph file (container) to write")->required();
  command->add_flag("--symmetrize", flags->options.symmetrize, "add the reverse of every edge");
  command->add_flag("--coalesce", flags->options.coalesce, "keep only the first of several parallel edges");
  command
      ->add_option("--self-loops", flags->self_loops,
                   "what happens to self-loops: keep, remove, or add (exactly one at every node)")
      ->check(CLI::IsMember({"keep", "remove", "add"}))
      ->capture_default_str();
  command->add_option("--dtype", flags->dtype, "the dtype of stored features: float32, float16 or bfloat16")
      ->capture_default_str();
  command->add_option(
      "--edge-features", flags->options.edge_features,
      "read features of edges from this .npy array [E, F], a row for each edge in the order of the source's "
      "edges; by default from edge_features.npy beside edges.npy, if it is there");
  command
      ->add_option("--split", flags->split,
                   "make a new split: which shares of each class become training, validation and test nodes, drawn at "
                   "random, as in 0.6,0.2,0.2")
      ->delimiter(',')
      ->expected(1, 3);
  command
      ->add_option("--split-seed", flags->split_seed,
                   "draw new splits with this seed, even where the source has splits; without it, new splits are drawn "
                   "with seed 0")
      ->check(kZeroOrMore);
  command
      ->add_option("--split-index", flags->options.split_index,
                   "take this one of several official splits, counted from 0; by default the first")
      ->check(kZeroOrMore);
  command->add_option("--nodes", flags->options.num_nodes, "the number of nodes, if the source does not state it")
      ->check(kAboveZero);
  command
      ->add_option("--first-id", flags->options.first_id,
                   "the id that edges give the first node: 1 if the source counts from 1")
      ->check(kZeroOrMore)
      ->capture_default_str();
  command->add_flag("--allow-isolated", flags->options.allow_isolated,
                    "convert an edge list even if most ids up to the largest have no edge");
  command->add_option("--classes", flags->options.num_classes, "number of classes; by default the largest label + 1")
      ->check(kAboveZero);
  command
      ->add_option("--labels", flags->labels,
                   "what the labels are: classes (one a node), multi-label (each is true or false, 0 or 1), or values "
                   "(numbers to predict: regression); by default an array with several columns is multi-label")
      ->check(CLI::IsMember({"classes", "multi-label", "values"}));
  command->add_option("--replace-nan", flags->replace_nan, "replace features that are not finite by this value")
      ->each([flags](const std::string&) { flags->replace = true; });
  command
      ->add_option("--memory", flags->memory_mib,
                   "how many MiB of edges are kept in memory; more go to a temporary file")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
  command
      ->add_option("--threads", flags->options.threads,
                   "how many threads compute; by default as many as the process may use")
      ->check(kZeroOrMore);
  command->add_flag("--json", flags->json, "print the result as JSON");
  command->add_flag("--quiet", flags->quiet, "print no progress line");
  command->callback([flags, &result] { result.exit_status = ReportStatus(Run(*flags)); });
}

}  // namespace hone::gnn
