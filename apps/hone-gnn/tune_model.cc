// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn tune-model MODEL --graph GRAPH writes tasks for `hone tune` and `hone optimize`: a model's gathers,
// aggregations and products, at the shapes that the model's batches have over the graph. With --apply, it brings what
// `hone tune` found on them back into the engine, if epochs gain by it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/nn/spec_units.h"
#include "gnn/tune/write_tasks.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/graph_progress.h"
#include "hone-gnn/load_flag.h"
#include "hone-gnn/train_flags.h"
#include "hone-gnn/tuned.h"

namespace hone::gnn {
namespace {

using nlohmann::json;

struct TuneModelFlags {
  TrainFlags train;  // the model, and how its batches are drawn
  std::string graph, out, load = "auto", precision = "bf16";
  int batches = 16;
  bool json = false, quiet = false;
  ApplyFlags apply;
};

json ToJson(const TaskDims& dims) {
  json out = json::object();
  for (const auto& [name, size] : dims) out[name] = size;
  return out;
}

json ToJson(const Spread& spread) {
  return {{"least", spread.least}, {"median", spread.median}, {"most", spread.most}};
}

json ToJson(const TuneSource& source, const std::string& folder, const std::vector<ModelTask>& tasks,
            const HotOperations& operations, const MeasuredBatches& batches) {
  json hops = json::array();
  for (size_t h = 0; h < source.measured.fanouts.size(); ++h) {
    const int hop = static_cast<int>(h);
    hops.push_back({{"fanout", source.measured.fanouts[h]},
                    {"destinations", ToJson(batches.Of(hop, &HopShape::num_dst))},
                    {"sources", ToJson(batches.Of(hop, &HopShape::num_src))},
                    {"edges", ToJson(batches.Of(hop, &HopShape::edges))},
                    {"most_draws_of_a_source", ToJson(batches.Of(hop, &HopShape::most_uses))},
                    {"slots_filled", batches.ShareOfFilledSlots(hop, source.measured.fanouts[h])}});
  }
  json written = json::array();
  for (const ModelTask& task : tasks) {
    json places = json::array(), timed = json::array();
    for (const TaskPlace& place : task.places) {
      places.push_back({{"value", place.value},
                        {"where", place.where},
                        {"median_batch", ToJson(place.median)},
                        {"largest_batch", ToJson(place.largest)}});
    }
    for (const TimedShape& shape : task.timed) timed.push_back({{"dims", ToJson(shape.dims)}, {"of", shape.what}});
    written.push_back({{"name", task.name},
                       {"folder", folder + "/" + task.name},
                       {"places", places},
                       {"timed", timed},
                       {"seed", task.texts.seed_is}});
  }
  json left_out = json::array();
  for (const LeftOut& left_out_value : operations.left_out)
    left_out.push_back({{"value", left_out_value.value}, {"why", left_out_value.why}});
  return {{"model", source.model},
          {"gpu_program", source.gpu_program.empty() ? json(nullptr) : json(source.gpu_program)},
          {"graph", source.graph},
          {"precision", source.dtypes.fp32 ? "fp32" : "bf16"},
          {"batch", source.measured.batch},
          {"batches", batches.batches.size()},
          {"seed", source.measured.seed},
          {"hops", hops},
          {"folder", folder},
          {"tasks", written},
          {"left_out", left_out}};
}

Status Run(TuneModelFlags& flags, int& exit_status) {
  const std::string given_kind = flags.train.model.options.kind;
  HONE_RETURN_IF_ERROR(CompleteTrainFlags(flags.train));
  ModelOptions& options = flags.train.model.options;
  if (!flags.apply.folder.empty()) {
    flags.apply.out = flags.out.empty() ? ModelName(options) + ".tuned.json" : flags.out;
    flags.apply.json = flags.json;
    flags.apply.quiet = flags.quiet;
    return ApplyWinners(flags.apply, flags.graph, options, flags.train.train, flags.precision == "fp32", exit_status);
  }
  OpenGraphOptions open;
  open.load = LoadOf(flags.load);
  std::shared_ptr<const Graph> graph;
  {
    GraphProgressLine line(!flags.quiet);
    open.progress = line.callback();
    HONE_ASSIGN_OR_RETURN(graph, OpenGraph(flags.graph, open));
  }
  if (graph->features().num_rows == 0 || graph->num_classes() == 0) {
    return Status::InvalidArgument(flags.graph + " has no " + (graph->num_classes() == 0 ? "classes" : "features") +
                                   ", which a model's widths depend on; give it some when converting");
  }
  options.in_width = graph->features().width;
  options.num_classes = graph->num_classes();
  HONE_ASSIGN_OR_RETURN(const ModelSpec spec,
                        given_kind.ends_with(".toml") ? ReadModelSpec(given_kind) : PublishedSpec(options));
  HONE_ASSIGN_OR_RETURN(const SpecShapes shapes, CheckModelSpec(spec, options.in_width, options.num_classes));
  if (static_cast<int>(flags.train.train.fanouts.size()) != shapes.layers) {
    return Status::InvalidArgument(fmt::format("--fanout {}: model '{}' aggregates over {} hops; give one number a hop",
                                               fmt::join(flags.train.train.fanouts, ","), spec.name, shapes.layers));
  }
  TuneSource source;
  source.model = spec.name;
  source.gpu_program = options.spec == nullptr && !options.bias ? options.kind : std::string();
  source.graph = graph->name();
  source.graph_nodes = graph->structure().num_nodes;
  source.dtypes = {graph->features().dtype, flags.precision == "fp32"};
  source.measured = {.fanouts = flags.train.train.fanouts,
                     .frontier = flags.train.train.frontier,
                     .batch = flags.train.train.batch,
                     .batches = flags.batches,
                     .seed = flags.train.train.seed,
                     .workers = 1};
  const HotOperations operations = FindHotOperations(spec, shapes, LowerToUnits(spec, shapes));
  if (operations.operations.empty()) {
    return Status::InvalidArgument(fmt::format(
        "model '{}' has no gather, aggregation, attention or product, for which tasks are written", spec.name));
  }
  HONE_ASSIGN_OR_RETURN(const MeasuredBatches batches, MeasureBatches(graph, source.measured));
  const std::vector<ModelTask> tasks = MakeTasks(source, operations.operations, batches);
  std::string folder = flags.out.empty() ? spec.name + "-tasks" : flags.out;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  HONE_RETURN_IF_ERROR(
      WriteTasks(folder, tasks, FolderText(source, tasks, operations, batches),
                 TasksText(PlaceOf(options, flags.train.train, *graph, source.dtypes.fp32, ""), tasks)));
  if (flags.json) {
    hone::Print("{}\n", DumpJson(ToJson(source, folder, tasks, operations, batches), 2));
    return Status::Ok();
  }
  hone::Print("{}: {} tasks of model {}, from {} batches of {} seeds over {}\n", folder, tasks.size(), spec.name,
              batches.batches.size(), source.measured.batch, graph->name());
  for (const ModelTask& task : tasks) {
    hone::Print("  {}\n", task.name);
    for (const TimedShape& shape : task.timed) {
      std::string sizes;
      for (const auto& [name, size] : shape.dims)
        sizes += fmt::format("{}{} {}", sizes.empty() ? "" : ", ", name, size);
      hone::Print("    {}: {}\n", shape.what, sizes);
    }
  }
  for (const LeftOut& left_out_value : operations.left_out)
    hone::Print("  no task for {}: {}\n", left_out_value.value, left_out_value.why);
  hone::Print("Try one: hone eval {0}/{1} {0}/{1}/seed.cu --device sim\n", folder, tasks.front().name);
  return Status::Ok();
}

}  // namespace

void RegisterTuneModelCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<TuneModelFlags>();
  CLI::App* command = app.add_subcommand(
      "tune-model",
      "write tasks for `hone tune` and `hone optimize`: a model's operations at the shapes of its batches; and bring "
      "winners back into the engine");
  TrainFlags& train = flags->train;
  train.command = command;
  ModelOptions& model = train.model.options;
  train.model.all = {
      command->add_option("model", model.kind, "sage, gat, gin, sage-ri, or the .toml file of a model of your own")
          ->required(),
      command->add_option("--hidden", model.hidden, "the width of the hidden layers; not for a .toml file")
          ->capture_default_str()
          ->check(kAboveZero),
      command
          ->add_option("--layers", train.model.layers,
                       "the number of layers; by default as many as --fanout has numbers, or as a .toml file states")
          ->check(kAboveZero),
      command->add_option("--heads", model.heads, "the number of attention heads (gat)")->capture_default_str(),
      command->add_option("--aggregation", model.aggregation, "how neighbors are aggregated (sage): mean, sum or max")
          ->capture_default_str(),
  };
  command->add_option("--graph", flags->graph, "the graph: a graph file (container), or a synthetic graph's name")
      ->required();
  command->add_option("--fanout", train.fanout,
                      "how many neighbors each hop draws, one number a hop, the hop next to the seed nodes first: "
                      "15,10,5 by default");
  command
      ->add_option(
          "--frontier", train.frontier,
          "for which nodes a hop draws neighbors: all (every node reached so far, with new draws) or new (only "
          "the nodes that the hop before added)")
      ->capture_default_str();
  command->add_option("--batch", train.train.batch, "how many training nodes (seeds) a batch has")
      ->capture_default_str()
      ->check(kAboveZero);
  command->add_option("--batches", flags->batches, "how many batches are drawn and measured")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", train.train.seed, "the random seed of the batches, as in train")->capture_default_str();
  command
      ->add_option("--precision", flags->precision,
                   "the number type of the rows between operations, as in train: bf16 or fp32; features keep the "
                   "graph's own type")
      ->capture_default_str()
      ->check(CLI::IsMember({"bf16", "fp32"}));
  AddLoadFlag(*command, flags->load);
  command->add_option(
      "--out", flags->out,
      "the folder to write, which must not exist; MODEL-tasks by default. With --apply, the file to write; "
      "MODEL.tuned.json by default");
  command
      ->add_option(
          "--apply", flags->apply.folder,
          "time epochs with and without the winners in this folder, in turn, on a GPU; if epochs are surely faster, "
          "write "
          "a file for `train --tuned`. The folder is one that an earlier call wrote, in which hone tune has since put "
          "a winner.json into tasks; give the same model and --graph as then")
      ->group("Back into the engine");
  command->add_option("--device", flags->apply.device, "with --apply: the GPU, cuda or cuda:N")
      ->group("Back into the engine")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const bool number = text.starts_with("cuda:") && text.size() > 5 && text.size() < 9 &&
                            text.find_first_not_of("0123456789", 5) == std::string::npos;
        return text == "cuda" || number ? std::string() : std::string("use cuda or cuda:N: the engine is a GPU's");
      });
  command->add_option("--epochs", flags->apply.epochs, "with --apply: how many pairs of epochs are timed")
      ->group("Back into the engine")
      ->capture_default_str()
      ->check(CLI::Range(4, 10000));
  command->add_flag("--json", flags->json, "print what was written, with its shapes, as one JSON object");
  command->add_flag("--quiet", flags->quiet, "print no progress line");
  command->callback([flags, &result] {
    int exit_status = 0;
    const Status status = Run(*flags, exit_status);
    result.exit_status = status.ok() ? exit_status : ReportStatus(status);
  });
}

}  // namespace hone::gnn
