// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn info GRAPH: describes a graph, and with --verify checks every byte of its container.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/describe.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/graph_progress.h"
#include "hone-gnn/load_flag.h"

namespace hone::gnn {
namespace {

using nlohmann::json;

struct InfoFlags {
  std::string graph;
  std::string load = "map";
  bool verify = false, json = false, quiet = false;
};

json ToJson(const Graph& graph, const GraphDescription& d, bool verified) {
  json out = {{"graph", graph.name()},
              {"nodes", d.num_nodes},
              {"edges", d.num_edges},
              {"self_loops", d.self_loops},
              {"isolated_nodes", d.isolated},
              {"degree",
               {{"mean", d.mean_degree},
                {"min", d.min_degree},
                {"median", d.median_degree},
                {"p90", d.p90_degree},
                {"p99", d.p99_degree},
                {"max", d.max_degree},
                {"histogram_log2", d.degree_histogram}}},
              {"components", d.components},
              {"largest_component", d.largest_component},
              {"classes", graph.num_classes()},
              {"classes_present", d.classes_present},
              {"labelled_nodes", d.labelled},
              {"train_nodes", graph.train_nodes().size()},
              {"valid_nodes", graph.valid_nodes().size()},
              {"test_nodes", graph.test_nodes().size()},
              {"bytes_in_memory", graph.resident_bytes()},
              {"verified", verified}};
  const GraphFlags flags = graph.flags();
  out["flags"] = {{"symmetric", flags.symmetric},
                  {"sorted", flags.sorted},
                  {"parallel_edges", flags.parallel_edges},
                  {"self_loops", flags.self_loops}};
  if (!graph.class_names().empty())
    out["class_names"] = std::vector(graph.class_names().begin(), graph.class_names().end());
  if (d.labelled_edges > 0) out["edge_homophily"] = d.edge_homophily;
  if (const TargetView targets = graph.targets(); targets.num_rows > 0) {
    out["targets"] = {{"kind", TargetKindName(targets.kind)},
                      {"width", targets.width},
                      {"known", d.known_targets},
                      {"mean", d.mean_target},
                      {"smallest", d.smallest_target},
                      {"largest", d.largest_target}};
  }
  const FeatureView x = graph.features();
  if (x.num_rows > 0) {
    out["features"] = {{"width", x.width}, {"dtype", FeatureDtypeName(x.dtype)}, {"stride_bytes", x.stride_bytes}};
  }
  const FeatureView edges = graph.edge_features();
  if (edges.num_rows > 0) {
    out["edge_features"] = {
        {"width", edges.width}, {"dtype", FeatureDtypeName(edges.dtype)}, {"stride_bytes", edges.stride_bytes}};
  }
  return out;
}

void Print(const Graph& graph, const GraphDescription& d, const std::string& provenance, bool verified) {
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  hone::Print("{}\n", graph.name());
  hone::Print("  nodes        {}\n", d.num_nodes);
  hone::Print("  edges        {} stored ({} self-loops; an undirected edge is stored in both directions)\n",
              d.num_edges, d.self_loops);
  const GraphFlags flags = graph.flags();
  hone::Print("  edges are    {}, {}, {} parallel edges\n", flags.symmetric ? "symmetric" : "not known to be symmetric",
              flags.sorted ? "sorted" : "not sorted", flags.parallel_edges ? "perhaps with" : "without");
  hone::Print("  degree       mean {:.2f}, median {}, 90 % up to {}, 99 % up to {}, largest {}; {} nodes have none\n",
              d.mean_degree, d.median_degree, d.p90_degree, d.p99_degree, d.max_degree, d.isolated);
  for (size_t k = 1; k < d.degree_histogram.size(); ++k) {
    const int64_t low = int64_t{1} << (k - 1);
    const double percent = share(d.degree_histogram[k], d.num_nodes);
    hone::Print("    {:>8} … {:<8} {:>6.2f} %  {}\n", low, 2 * low - 1, percent,
                std::string(static_cast<size_t>(percent / 2 + 0.5), '#'));
  }
  hone::Print("  components   {}; the largest has {:.2f} % of the nodes\n", d.components,
              share(d.largest_component, d.num_nodes));
  const FeatureView x = graph.features();
  if (x.num_rows > 0)
    hone::Print("  features     {} x {}, rows of {} bytes\n", x.width, FeatureDtypeName(x.dtype), x.stride_bytes);
  else
    hone::Print("  features     none\n");
  const FeatureView edges = graph.edge_features();
  if (edges.num_rows > 0) {
    hone::Print("  edges have   {} x {}, rows of {} bytes\n", edges.width, FeatureDtypeName(edges.dtype),
                edges.stride_bytes);
  }
  if (const TargetView targets = graph.targets(); targets.kind == TargetKind::kMultiLabel) {
    hone::Print("  labels       {} nodes, {} labels each, {:.2f} % of them known, of which {:.2f} % are true\n",
                d.labelled, targets.width, share(d.known_targets, targets.num_rows * targets.width),
                100 * d.mean_target);
  } else if (targets.kind == TargetKind::kValues) {
    hone::Print("  values       {} nodes, {} each, {:.2f} % of them known, from {:.6g} to {:.6g}, mean {:.6g}\n",
                d.labelled, targets.width, share(d.known_targets, targets.num_rows * targets.width), d.smallest_target,
                d.largest_target, d.mean_target);
  } else if (d.labelled > 0) {
    hone::Print("  labels       {} nodes, {} classes of {} to {} nodes\n", d.labelled, d.classes_present,
                d.smallest_class, d.largest_class);
  } else {
    hone::Print("  labels       none\n");
  }
  constexpr size_t kMostShown = 20;  // rows of a list
  const std::span<const std::string> names = graph.class_names();
  for (size_t c = 0; c < std::min(names.size(), kMostShown); ++c) {
    hone::Print("{}{} {}", c == 0 ? "  classes      " : ", ", c, names[c]);
  }
  if (names.size() > kMostShown) hone::Print(", and {} more, which --json lists", names.size() - kMostShown);
  if (!names.empty()) hone::Print("\n");
  hone::Print("  splits       {} train, {} valid, {} test\n", graph.train_nodes().size(), graph.valid_nodes().size(),
              graph.test_nodes().size());
  if (d.labelled_edges > 0) {
    hone::Print("  homophily    {:.4f} of {} edges between labelled nodes join equal labels\n", d.edge_homophily,
                d.labelled_edges);
  }
  hone::Print("  memory       {:.1f} MiB\n", static_cast<double>(graph.resident_bytes()) / (1 << 20));
  if (provenance != "{}") hone::Print("  made from    {}\n", provenance);
  if (verified) hone::Print("  verified     every checksum is right\n");
}

Status Run(const InfoFlags& flags) {
  OpenGraphOptions options;
  options.load = LoadOf(flags.load);
  // Without --verify the description checks the rows itself, and says which.
  options.check = flags.verify ? OpenGraphOptions::Check::kAll : OpenGraphOptions::Check::kHeader;
  std::shared_ptr<const Graph> graph;
  GraphDescription description;
  {
    GraphProgressLine line(!flags.quiet);
    options.progress = line.callback();
    HONE_ASSIGN_OR_RETURN(graph, OpenGraph(flags.graph, options));
    HONE_ASSIGN_OR_RETURN(description, DescribeGraph(*graph, options.progress));
  }
  const bool stored = !IsSyntheticName(flags.graph);
  std::string provenance = "{}";
  if (stored) {
    HONE_ASSIGN_OR_RETURN(provenance, ReadContainerProvenance(flags.graph));
  }
  const bool verified = stored && (flags.verify || options.load == OpenGraphOptions::Load::kCopy);
  if (!flags.json) {
    Print(*graph, description, provenance, verified);
    return Status::Ok();
  }
  json out = ToJson(*graph, description, verified);
  if (stored) {
    // The program that wrote the container wrote this text; it stays a string if it is no JSON.
    json parsed = ReadJsonText(provenance);
    out["provenance"] = parsed.is_discarded() ? json(provenance) : parsed;
    HONE_ASSIGN_OR_RETURN(const ContainerHeader header, ReadContainerHeader(flags.graph));
    for (const ContainerSection& s : header.sections) {
      out["sections"].push_back({{"type", SectionTypeName(static_cast<uint32_t>(s.type))},
                                 {"offset", s.offset},
                                 {"bytes", s.bytes},
                                 {"stride_bytes", s.stride_bytes}});
    }
  }
  hone::Print("{}\n", DumpJson(out, 2));
  return Status::Ok();
}

}  // namespace

void RegisterInfoCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<InfoFlags>();
  CLI::App* command = app.add_subcommand("info", "describe a graph");
  command
      ->add_option("graph", flags->graph,
                   "a graph file (container) that convert or generate wrote, or a graph that is made on the spot, such "
                   "as 'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  command->add_flag("--verify", flags->verify,
                    "compare every checksum of the file, and check that every row of edges is valid");
  AddLoadFlag(*command, flags->load);
  command->add_flag("--json", flags->json, "print the description as JSON");
  command->add_flag("--quiet", flags->quiet, "print no progress line");
  command->callback([flags, &result] { result.exit_status = ReportStatus(Run(*flags)); });
}

}  // namespace hone::gnn
