// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn serve GRAPH CHECKPOINT answers requests for what a model predicts for a few nodes, one line each, until
// there are no more.
//
// Graph and model are loaded once; on a GPU a request is then one launch (src/gnn/cuda/infer/latency_mode.h). A request
// that cannot be answered gets an error in its place and does not affect the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/train/train_options.h"
#include "hone-gnn/checkpoint_graph.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/device.h"
#include "hone-gnn/graph_progress.h"
#include "hone-gnn/load_flag.h"
#include "hone-gnn/model_warnings.h"
#include "hone-gnn/train_flags.h"

namespace hone::gnn {
namespace {

struct ServeFlags {
  PredictOptions predict;
  DeviceFlags device;
  std::string graph, load = "auto", checkpoint, fanout;
  CLI::Option* seed = nullptr;
  bool probabilities = false, names = false, other_graph = false, json = false, quiet = false;
};

// A Server answers on the CPU or on a GPU.
struct Server {
  std::shared_ptr<const Graph> graph;
  LoadedModel loaded;
  TargetKind predicts = TargetKind::kClasses;
  DeviceChoice device;
  std::unique_ptr<RequestsOnGpu> on_gpu;

  Result<RequestAnswer> Answer(const std::vector<NodeId>& nodes, const ServeFlags& flags) {
    const bool needs_outputs = flags.probabilities || predicts != TargetKind::kClasses;
    RequestAnswer answer;
    if (on_gpu != nullptr) {
      HONE_ASSIGN_OR_RETURN(answer, on_gpu->Answer(nodes, needs_outputs));
    } else {
      HONE_ASSIGN_OR_RETURN(Predictions predictions, Predict(graph, *loaded.model, nodes, flags.predict));
      answer.classes = PredictedClasses(predictions);
      if (needs_outputs) answer.logits = std::move(predictions.logits);
    }
    UndoStandardization(loaded, answer.logits);
    return answer;
  }
};

// Checks the options that say what an answer has, against what the model predicts.
Status CheckAnswerFlags(const ServeFlags& flags, TargetKind predicts) {
  if (predicts != TargetKind::kClasses && (flags.names || (flags.probabilities && predicts == TargetKind::kValues))) {
    return Status::InvalidArgument(fmt::format(
        "{}: the model predicts {}, and no classes; leave the option out: an answer has the {} of each node",
        flags.names ? "--names" : "--probabilities",
        predicts == TargetKind::kValues ? "values" : "several labels a node",
        predicts == TargetKind::kValues ? "values" : "labels' probabilities"));
  }
  if (predicts == TargetKind::kClasses && flags.probabilities && !flags.json) {
    return Status::InvalidArgument("--probabilities: say --json too, for a line of text has classes alone");
  }
  return Status::Ok();
}

// Returns what an answer says about each node, for the line that says that the server is ready.
std::string AnswerInWords(const Server& server, const ServeFlags& flags) {
  const int64_t columns = server.loaded.model->options().num_classes;
  if (server.predicts == TargetKind::kClasses) return flags.names ? "the name of its class" : "its class";
  std::string text = server.predicts == TargetKind::kValues
                         ? fmt::format("{} value{}", columns, columns == 1 ? "" : "s")
                         : fmt::format("the probabilities of {} label{}", columns, columns == 1 ? "" : "s");
  constexpr size_t kMostNamed = 8;
  const auto names = server.graph->class_names();
  if (names.empty() || names.size() > kMostNamed) return text;
  return fmt::format("{} ({})", text, fmt::join(names, ", "));
}

// Opens graph and model, and prepares the device for requests.
Status OpenAndPrepare(ServeFlags& flags, Server& server) {
  GraphProgressLine line(!flags.quiet);
  OpenGraphOptions open;
  open.threads = flags.predict.threads;
  open.load = LoadOf(flags.load);
  open.progress = line.callback();
  HONE_ASSIGN_OR_RETURN(server.graph, OpenGraph(flags.graph, open));
  const Graph& graph = *server.graph;
  if (flags.names && graph.targets().kind == TargetKind::kClasses && graph.class_names().empty()) {
    return Status::InvalidArgument(fmt::format(
        "--names: graph '{}' has no names of classes; leave the option out, or convert a folder that has them "
        "(classes.txt beside labels.npy, or a NAME_target.csv)",
        flags.graph));
  }
  HONE_ASSIGN_OR_RETURN(server.loaded, LoadModel(flags.checkpoint, {.in_width = graph.features().width,
                                                                    .num_classes = graph.num_classes()}));
  const LoadedModel& loaded = server.loaded;
  HONE_RETURN_IF_ERROR(CheckCheckpointGraph(flags.checkpoint, loaded, graph, flags.other_graph));
  server.predicts = PredictedTargets(loaded, graph);
  HONE_RETURN_IF_ERROR(CheckAnswerFlags(flags, server.predicts));
  for (const std::string& warning : CheckpointWarnings(loaded)) WarnOnStderr(warning);
  PredictOptions& predict = flags.predict;
  predict.batch = kMostRequestNodes;
  predict.workers = 1;  // a request is one batch
  predict.fanouts.assign(static_cast<size_t>(loaded.model->options().layers), 20);
  if (loaded.has_training && !loaded.eval_fanouts.empty()) predict.fanouts = loaded.eval_fanouts;
  if (!flags.fanout.empty()) {
    HONE_ASSIGN_OR_RETURN(predict.fanouts, ParseFanouts("--fanout", flags.fanout, loaded.model->options().layers));
  }
  if (const std::string warning = SumsWarning(loaded, predict); !warning.empty()) WarnOnStderr(warning);
  predict.frontier = loaded.frontier;
  if (flags.seed->count() == 0) predict.seed = loaded.seed;
  HONE_ASSIGN_OR_RETURN(server.device, ChooseDevice(flags.device, [&](DeviceChoice& choice) -> Status {
                          HONE_RETURN_IF_ERROR(GpuCanPredict(loaded.model->options(), predict));
                          HONE_ASSIGN_OR_RETURN(server.on_gpu,
                                                MakeRequestsOnGpu(graph, *loaded.model, predict, choice.fp32));
                          return Status::Ok();
                        }));
  // A request on the CPU is tried now, so that errors are reported before the first request.
  return server.on_gpu != nullptr ? Status::Ok() : server.Answer({0}, flags).status();
}

// Parses a line of node ids, separated by blanks or commas.
Result<std::vector<NodeId>> ParseRequest(std::string_view unparsed) {
  std::vector<NodeId> nodes;
  while (true) {
    unparsed.remove_prefix(std::min(unparsed.size(), unparsed.find_first_not_of(", \t\r")));
    if (unparsed.empty()) break;
    const std::string_view word = unparsed.substr(0, unparsed.find_first_of(", \t\r"));
    NodeId node = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), node);
    if (error != std::errc() || end != word.data() + word.size()) {
      return Status::InvalidArgument(
          fmt::format("'{}' is no node id; write node ids, with blanks or commas between them", word));
    }
    nodes.push_back(node);
    unparsed.remove_prefix(word.size());
  }
  if (nodes.empty()) {
    return Status::InvalidArgument(
        fmt::format("an empty line asks for nothing; write 1 to {} node ids", kMostRequestNodes));
  }
  if (nodes.size() > kMostRequestNodes) {
    return Status::InvalidArgument(fmt::format("{} nodes: a request has at most {}", nodes.size(), kMostRequestNodes));
  }
  return nodes;
}

// Returns the name of each class, or its number where it has no name.
std::vector<std::string> ClassNamesOf(std::span<const int32_t> classes, std::span<const std::string> names) {
  std::vector<std::string> class_names;
  for (const int32_t c : classes) {
    const auto index = static_cast<size_t>(c);
    class_names.push_back(index < names.size() ? names[index] : std::to_string(c));
  }
  return class_names;
}

// Prints an answer with several labels or values a node: as text, a node's outputs with commas between
// them, and blanks between nodes.
void PrintOutputs(const ServeFlags& flags, TargetKind kind, const std::vector<NodeId>& nodes,
                  const RequestAnswer& answer, double seconds) {
  const auto width = static_cast<int64_t>(answer.logits.size() / nodes.size());
  Predictions predictions{
      .num_nodes = static_cast<int64_t>(nodes.size()), .num_classes = width, .logits = answer.logits};
  LogitsToOutputs(kind, predictions);
  std::vector<std::vector<float>> rows;
  for (auto row = predictions.logits.begin(); row != predictions.logits.end(); row += width)
    rows.emplace_back(row, row + width);
  if (flags.json) {
    const char* const name = kind == TargetKind::kValues ? "values" : "probabilities";
    const nlohmann::json json = {{"nodes", nodes}, {name, rows}, {"seconds", seconds}};
    hone::Print("{}\n", DumpJson(json, -1));
    return;
  }
  for (size_t i = 0; i < rows.size(); ++i) hone::Print("{}{:.6g}", i == 0 ? "" : " ", fmt::join(rows[i], ","));
  hone::Print("\n");
}

// Prints one line for a request: its answer or its error, as text or JSON.
void Print(const ServeFlags& flags, const Server& server, const std::vector<NodeId>& nodes,
           const Result<RequestAnswer>& answer, double seconds) {
  const Graph& graph = *server.graph;
  if (server.predicts != TargetKind::kClasses && answer.ok()) {
    return PrintOutputs(flags, server.predicts, nodes, *answer, seconds);
  }
  const std::vector<std::string> names =
      flags.names && answer.ok() ? ClassNamesOf(answer->classes, graph.class_names()) : std::vector<std::string>();
  if (!flags.json) {
    if (answer.ok() && flags.names) hone::Print("{}\n", fmt::join(names, "\t"));
    if (answer.ok() && !flags.names) hone::Print("{}\n", fmt::join(answer->classes, " "));
    if (!answer.ok()) hone::Print("error: {}\n", answer.status().message());
    return;
  }
  nlohmann::json json;
  if (!answer.ok()) {
    json = {{"error", answer.status().message()}};
  } else {
    json = {{"nodes", nodes}, {"classes", answer->classes}, {"seconds", seconds}};
    if (flags.names) json["names"] = names;
  }
  if (answer.ok() && flags.probabilities) {
    Predictions predictions{.num_nodes = static_cast<int64_t>(nodes.size()), .logits = answer->logits};
    predictions.num_classes = static_cast<int64_t>(answer->logits.size() / nodes.size());
    LogitsToProbabilities(predictions);
    json["probabilities"] = nlohmann::json::array();
    for (auto row = predictions.logits.begin(); row != predictions.logits.end(); row += predictions.num_classes) {
      json["probabilities"].push_back(std::vector<float>(row, row + predictions.num_classes));
    }
  }
  hone::Print("{}\n", DumpJson(json, -1));
}

Status Run(ServeFlags& flags, int& exit_status) {
  Server server;
  HONE_RETURN_IF_ERROR(OpenAndPrepare(flags, server));
  if (!flags.quiet) {
    hone::PrintError(
        "{}\nready: node ids on standard input, 1 to {} a line, each line a request; an answer has {} for each node\n",
        server.device.Line(), kMostRequestNodes, AnswerInWords(server, flags));
  }
  std::vector<double> request_micros;
  int64_t refused = 0;
  for (std::string text; std::getline(std::cin, text);) {
    Result<std::vector<NodeId>> nodes = ParseRequest(text);
    const Stopwatch watch;
    const Result<RequestAnswer> answer =
        nodes.ok() ? server.Answer(*nodes, flags) : Result<RequestAnswer>(nodes.status());
    const double seconds = watch.Seconds();
    // Only kInvalidArgument is the request's own error; any other comes from the machine, and ends the server.
    if (!answer.ok() && answer.status().code() != StatusCode::kInvalidArgument) return answer.status();
    if (answer.ok()) request_micros.push_back(1e6 * seconds);
    refused += answer.ok() ? 0 : 1;
    Print(flags, server, nodes.ok() ? *nodes : std::vector<NodeId>(), answer, seconds);
    if (std::fflush(stdout) != 0) break;  // reported when the program ends
  }
  exit_status = refused > 0 ? 1 : 0;
  if (flags.quiet || request_micros.empty()) return Status::Ok();
  std::sort(request_micros.begin(), request_micros.end());
  const auto micros_at = [&](double fraction) {
    return request_micros[static_cast<size_t>(fraction * static_cast<double>(request_micros.size() - 1))];
  };
  hone::PrintError("{} requests answered, {} refused; {:.0f} us at the median, {:.0f} us for 99 of 100\n",
                   request_micros.size(), refused, micros_at(0.5), micros_at(0.99));
  return Status::Ok();
}

}  // namespace

void RegisterServeCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand(
      "serve",
      "predict classes, labels or values on request: each line of node ids on standard input gets one line of answers");
  command
      ->add_option("graph", flags->graph,
                   "a graph file (container) that convert or generate wrote, or a graph that is made on the spot, such "
                   "as 'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  command->add_option("checkpoint", flags->checkpoint, "a checkpoint: its file, or its folder (for best.safetensors)")
      ->required();
  command->add_option("--fanout", flags->fanout,
                      "how many neighbors each hop draws; by default as in the run's validations");
  flags->seed =
      command->add_option("--seed", flags->predict.seed, "the seed of the draws; by default that of training");
  command->add_flag(
      "--probabilities", flags->probabilities,
      "also print the probability of each class (with --json); answers of several labels a node have them anyway");
  command->add_flag("--names", flags->names,
                    "print names of classes, separated by tabs; with --json names and numbers");
  AddDeviceFlags(*command, flags->device);
  AddLoadFlag(*command, flags->load);
  command
      ->add_option("--threads", flags->predict.threads,
                   "how many threads compute; by default as many as the process may use")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--other-graph", flags->other_graph, "accept a model that was trained on another graph");
  command->add_flag("--json", flags->json, "answer each request with a JSON object");
  command->add_flag("--quiet", flags->quiet, "print nothing on standard error except errors");
  command->callback([flags, &result] {
    int exit_status = 0;
    const Status status = Run(*flags, exit_status);
    result.exit_status = status.ok() ? exit_status : ReportStatus(status);
  });
}

}  // namespace hone::gnn
