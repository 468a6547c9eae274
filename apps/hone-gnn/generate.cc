// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn generate SHAPE OUT: writes a synthetic graph to a container.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/graph_progress.h"

namespace hone::gnn {
namespace {

struct GenerateFlags {
  std::string shape, out, dtype;
  double scale = 0;
  int64_t nodes = 0;
  uint64_t seed = 1;
  int threads = 0;
  bool json = false, quiet = false;
  std::vector<const CLI::Option*> of_shapes;  // options that describe a shape, which a whole synthetic name replaces
};

// Returns the synthetic name that the flags describe. A whole name leaves nothing open, so options of a shape given
// beside it are an error: they would have no effect.
Result<std::string> NameOf(const GenerateFlags& flags) {
  if (IsSyntheticName(flags.shape)) {
    for (const CLI::Option* option : flags.of_shapes) {
      if (option->count() == 0) continue;
      return Status::InvalidArgument(fmt::format("'{}' is a whole name: write {}=… into it, and leave {} out",
                                                 flags.shape, option->get_name().substr(2), option->get_name()));
    }
    return flags.shape;
  }
  std::string name = fmt::format("synthetic:{}?seed={}", flags.shape, flags.seed);
  if (flags.scale > 0) name += fmt::format("&scale={}", flags.scale);
  if (flags.nodes > 0) name += fmt::format("&nodes={}", flags.nodes);
  if (!flags.dtype.empty()) name += fmt::format("&dtype={}", flags.dtype);
  return name;
}

Status Run(const GenerateFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::string name, NameOf(flags));
  const auto start = std::chrono::steady_clock::now();
  {
    GraphProgressLine line(!flags.quiet);
    HONE_RETURN_IF_ERROR(GenerateContainer(name, flags.out, flags.threads, line.callback()));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  HONE_ASSIGN_OR_RETURN(const ContainerHeader header, ReadContainerHeader(flags.out));
  if (flags.json) {
    hone::Print("{}\n", DumpJson(nlohmann::json{{"graph", flags.out},
                                                {"name", name},
                                                {"nodes", header.num_nodes},
                                                {"edges", header.num_edges},
                                                {"bytes", header.file_bytes},
                                                {"seconds", seconds}},
                                 2));
  } else {
    hone::Print("{}: {} nodes, {} edges, {} MiB, made from {} in {:.1f} s\n", flags.out, header.num_nodes,
                header.num_edges, header.file_bytes >> 20, name, seconds);
  }
  return Status::Ok();
}

}  // namespace

void RegisterGenerateCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<GenerateFlags>();
  CLI::App* command =
      app.add_subcommand("generate", "make a synthetic graph, and write it to a graph file (container)");
  command
      ->add_option("shape", flags->shape,
                   "the dataset that the graph shall resemble: arxiv, products or papers100M; or a whole name such as "
                   "'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  command->add_option("out", flags->out, "the graph file (container) to write")->required();
  CLI::Option* scale =
      command
          ->add_option("--scale", flags->scale,
                       "the size relative to the real dataset: 0.1 makes a tenth of its nodes; 1 by default")
          ->check(kAboveZero);
  flags->of_shapes = {
      scale,
      command->add_option("--nodes", flags->nodes, "make a graph with this many nodes")
          ->check(kAboveZero)
          ->excludes(scale),
      command->add_option("--seed", flags->seed, "the seed of every random choice")->capture_default_str(),
      command->add_option("--dtype", flags->dtype,
                          "the type of the features' numbers: float16 (default), float32 or bfloat16"),
  };
  command
      ->add_option("--threads", flags->threads, "how many threads compute; by default as many as the process may use")
      ->check(kZeroOrMore);
  command->add_flag("--json", flags->json, "print the result as JSON");
  command->add_flag("--quiet", flags->quiet, "print no progress line");
  command->callback([flags, &result] { result.exit_status = ReportStatus(Run(*flags)); });
}

}  // namespace hone::gnn
