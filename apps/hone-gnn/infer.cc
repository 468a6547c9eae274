// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn infer GRAPH CHECKPOINT predicts classes, from samples or exactly, and reports how many are right; or it
// writes the rows of a layer, embeddings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/graph/targets.h"
#include "gnn/infer/embeddings.h"
#include "gnn/infer/npy.h"
#include "gnn/train/train_options.h"
#include "hone-gnn/checkpoint_graph.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/device.h"
#include "hone-gnn/graph_progress.h"
#include "hone-gnn/infer_output.h"
#include "hone-gnn/load_flag.h"
#include "hone-gnn/model_warnings.h"
#include "hone-gnn/target_scores.h"
#include "hone-gnn/train_flags.h"
#include "hone/gnn/metrics.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

struct InferFlags {
  ModelFlags model;
  PredictOptions predict;
  DeviceFlags device;
  FeatureRequest features;
  std::string graph, load = "auto", split, checkpoint, fanout, frontier, nodes = "test";
  InferOutput output;
  CLI::Option* seed = nullptr;
  std::vector<CLI::Option*> model_options;
  std::vector<CLI::Option*> of_samples, of_exact;  // options that only one kind of inference uses
  int64_t chunk_mib = 64;
  bool confusion = false, other_graph = false, json = false, quiet = false;
};

// Returns the nodes that --nodes chooses: a split's name, "all", or a .npy file.
Result<std::vector<NodeId>> ChooseNodes(const Graph& graph, const std::string& selection) {
  const auto split = [&](std::span<const NodeId> nodes) -> Result<std::vector<NodeId>> {
    if (nodes.empty()) {
      return Status::InvalidArgument(
          fmt::format("graph '{}' has an empty {} split; choose other --nodes", graph.name(), selection));
    }
    return std::vector<NodeId>(nodes.begin(), nodes.end());
  };
  if (selection == "train") return split(graph.train_nodes());
  if (selection == "valid") return split(graph.valid_nodes());
  if (selection == "test") return split(graph.test_nodes());
  if (selection == "all") {
    std::vector<NodeId> nodes(static_cast<size_t>(graph.structure().num_nodes));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
  }
  if (!selection.ends_with(".npy")) {
    return Status::InvalidArgument(
        fmt::format("--nodes is '{}': use all, train, valid, test or the name of a .npy file", selection));
  }
  return ReadNodeList(selection, graph.structure().num_nodes);
}

// Returns the accuracy on those of `nodes` that belong to `split`. `split` is sorted: for nodes in ascending order,
// each search starts where the last one ended.
double SplitAccuracy(const Graph& graph, std::span<const NodeId> split, std::span<const NodeId> nodes,
                     std::span<const int32_t> classes) {
  const bool ascending = std::is_sorted(nodes.begin(), nodes.end());
  std::vector<NodeId> inside;
  std::vector<int32_t> predicted;
  auto at = split.begin();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (ascending) {
      while (at != split.end() && *at < nodes[i]) ++at;
      if (at == split.end()) break;
      if (*at != nodes[i]) continue;
    } else if (!std::binary_search(split.begin(), split.end(), nodes[i])) {
      continue;
    }
    inside.push_back(nodes[i]);
    predicted.push_back(classes[i]);
  }
  return Accuracy(predicted, inside, graph.labels());
}

// Checks the options that describe a model against the checkpoint, which describes its own. An option that differs
// shows that the user took the wrong checkpoint.
Status CheckModelFlags(const InferFlags& flags, const ModelOptions& model) {
  const ModelOptions& given_options = flags.model.options;
  const auto agrees = [&](const std::string& name) {
    return name == "--model"         ? given_options.kind == model.kind  // two specs are compared below
           : name == "--hidden"      ? given_options.hidden == model.hidden
           : name == "--layers"      ? flags.model.layers == model.layers
           : name == "--heads"       ? given_options.heads == model.heads
           : name == "--aggregation" ? given_options.aggregation == model.aggregation
                                     : true;  // the rest is about training, or is the model's own unless it was given
  };
  if (given_options.spec != nullptr && model.spec != nullptr && *given_options.spec != *model.spec) {
    return Status::InvalidArgument(
        fmt::format("--model: '{}' has another spec, '{}'; first difference: {}. Leave --model out", flags.checkpoint,
                    model.spec->name, SpecDifference(*given_options.spec, *model.spec)));
  }
  for (const CLI::Option* option : flags.model_options) {
    // A file describes the whole model. Two specs were compared above; a file that became a published model is compared
    // here.
    const bool file = option->count() > 0 && option->results().front().ends_with(".toml");
    const bool options_agree =
        agrees("--model") && (given_options.spec != nullptr || (agrees("--hidden") && agrees("--layers") &&
                                                                agrees("--heads") && agrees("--aggregation")));
    if (option->count() == 0 || (file ? options_agree : agrees(option->get_name()))) continue;
    return Status::InvalidArgument(fmt::format(
        "{} {}: '{}' says that its model is another ({} of {} layers of {}); leave it out", option->get_name(),
        option->results().front(), flags.checkpoint, ModelName(model), model.layers, model.hidden));
  }
  return Status::Ok();
}

// Refuses options of one kind of inference that the other would silently ignore.
Status CheckKindFlags(const InferFlags& flags) {
  const bool exact = flags.predict.exact;
  for (const CLI::Option* option : exact ? flags.of_samples : flags.of_exact) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    return Status::InvalidArgument(
        exact ? fmt::format("{} is of samples, and --full takes every neighbor: leave {} out", name, name)
              : fmt::format("{} is of exact inference: say --full too, or leave {} out", name, name));
  }
  return Status::Ok();
}

// Sets options that were not given to the values that the run's validations used.
Status CompleteFlags(InferFlags& flags, const LoadedModel& loaded) {
  flags.predict.chunk_bytes = flags.chunk_mib << 20;
  if (loaded.has_training) HONE_RETURN_IF_ERROR(CheckModelFlags(flags, loaded.model->options()));
  if (!flags.fanout.empty()) {
    HONE_ASSIGN_OR_RETURN(flags.predict.fanouts,
                          ParseFanouts("--fanout", flags.fanout, loaded.model->options().layers));
  } else {
    flags.predict.fanouts.assign(static_cast<size_t>(loaded.model->options().layers), 20);
    if (loaded.has_training && !loaded.eval_fanouts.empty()) flags.predict.fanouts = loaded.eval_fanouts;
  }
  flags.predict.frontier = loaded.frontier;
  if (!flags.frontier.empty()) {
    HONE_ASSIGN_OR_RETURN(flags.predict.frontier, ParseFrontier(flags.frontier));
  }
  if (flags.seed->count() == 0) flags.predict.seed = loaded.seed;
  return Status::Ok();
}

// Checks whether the GPU supports these flags, as far as that can be known without the model.
Status GpuTakesFlags(const InferFlags& flags) {
  const FeatureRequest& features = flags.features;
  if (features.place == "peers") {
    return Status::InvalidArgument(
        "--features peers: inference is one process with one GPU, and shares rows with nobody; use auto, device or "
        "host");
  }
  if (flags.predict.exact) {
    if (!flags.predict.scratch.empty()) {
      return Status::InvalidArgument(
          "--scratch: a GPU keeps what it has no room for in the host's memory, not in a file");
    }
    if (features.cache_rows >= 0 && features.place != "host") {
      return Status::InvalidArgument("--full with --cache-rows: say --features host too, of which those rows are");
    }
    if (features.policy != "inclusion") {
      return Status::InvalidArgument(fmt::format(
          "--full with --cache-policy {}: every neighbor is read, so there is nothing to sample; leave it out",
          features.policy));
    }
    return Status::Ok();  // its memory is planned with the model
  }
  if (const std::string flag = flags.output.Flag(); !flag.empty()) {
    return Status::InvalidArgument(
        fmt::format("{}: from samples a GPU gives classes; with --full, or on the CPU, there are logits, probabilities "
                    "and embeddings too",
                    flag));
  }
  return Status::Ok();
}

struct Prediction {
  std::shared_ptr<const Graph> graph;
  LoadedModel loaded;
  DeviceChoice device;
  GpuRun gpu;
  // With --embeddings: the model that ends at a value of the loaded one, and that value's name.
  std::unique_ptr<Model<float>> embedding;
  std::string embedded;
  std::vector<NodeId> nodes;
  Predictions from_cpu;
  GpuPredictions from_gpu;
  std::vector<std::string> warnings;

  // Returns the model that runs, whose logits are embeddings if those were asked for.
  Model<float>& model() { return embedding != nullptr ? *embedding : *loaded.model; }
  Predictions& logits() { return device.cuda ? from_gpu.logits : from_cpu; }
  // Returns the class of each node; nothing with --embeddings.
  std::vector<int32_t> classes() const {
    if (!embedded.empty()) return {};
    return device.cuda ? from_gpu.classes : PredictedClasses(from_cpu);
  }
};

// Opens graph and model, chooses the device, and predicts.
Status MakeRawPrediction(InferFlags& flags, Prediction& p) {
  GraphProgressLine line(!flags.quiet);
  OpenGraphOptions open;
  open.threads = flags.predict.threads;
  open.load = LoadOf(flags.load);
  open.progress = line.callback();
  HONE_ASSIGN_OR_RETURN(p.device, ChooseDevice(flags.device, [&](DeviceChoice&) { return GpuTakesFlags(flags); }));
  const DeviceChoice on_cpu;
  HONE_ASSIGN_OR_RETURN(p.graph, OpenGraphFor(p.device, flags.graph, open, flags.split));
  HONE_RETURN_IF_ERROR(ReadModelFile(flags.model));
  ModelOptions fallback = flags.model.options;
  if (flags.model.layers > 0) fallback.layers = flags.model.layers;
  fallback.in_width = p.graph->features().width;
  fallback.num_classes = p.graph->num_classes();
  HONE_ASSIGN_OR_RETURN(p.loaded, LoadModel(flags.checkpoint, fallback));
  HONE_RETURN_IF_ERROR(CompleteFlags(flags, p.loaded));
  p.warnings = CheckpointWarnings(p.loaded);
  if (std::string warning = SumsWarning(p.loaded, flags.predict); !warning.empty()) {
    p.warnings.push_back(std::move(warning));
  }
  if (!flags.output.embeddings.empty()) {
    HONE_ASSIGN_OR_RETURN(EmbeddingModel embedding_model, MakeEmbeddingModel(*p.loaded.model, flags.output.embeddings));
    p.embedded = std::move(embedding_model.value);
    p.embedding = std::move(embedding_model.model);
    // Embeddings of an early layer depend on fewer hops: those next to the nodes.
    flags.predict.fanouts.resize(static_cast<size_t>(p.embedding->options().layers));
  }
  if (p.device.cuda) {
    // Check again, now that model and fanouts are known.
    HONE_ASSIGN_OR_RETURN(p.device, ChooseDevice(flags.device, [&](DeviceChoice& choice) -> Status {
                            if (p.graph->labels().empty() && !flags.predict.exact) {
                              return Status::InvalidArgument("the GPU engine takes no graph without labels");
                            }
                            const ModelOptions& model = p.model().options();
                            HONE_RETURN_IF_ERROR(GpuCanPredict(model, flags.predict));
                            if (flags.predict.exact) return Status::Ok();  // planned when it begins
                            HONE_ASSIGN_OR_RETURN(const GraphOutline outline, OutlineOf(flags.graph));
                            HONE_ASSIGN_OR_RETURN(choice.features, PlaceFeaturesOnGpu(outline, model, flags.predict,
                                                                                      choice.fp32, flags.features));
                            return Status::Ok();
                          }));
    if (!p.device.cuda && !IsWhole(*p.graph)) {
      HONE_ASSIGN_OR_RETURN(p.graph, OpenGraphFor(on_cpu, flags.graph, open, flags.split));
    }
  }
  WarnOfIgnoredOptions(p.device);
  HONE_RETURN_IF_ERROR(CheckCheckpointGraph(flags.checkpoint, p.loaded, *p.graph, flags.other_graph));
  for (const std::string& warning : p.warnings) WarnOnStderr(warning);
  HONE_ASSIGN_OR_RETURN(p.nodes, ChooseNodes(*p.graph, flags.nodes));
  if (const std::span<const int32_t> labels = p.graph->labels(); !labels.empty() && p.embedded.empty()) {
    const auto unknown = [&](NodeId v) { return labels[static_cast<size_t>(v)] == kNoLabel; };
    if (std::all_of(p.nodes.begin(), p.nodes.end(), unknown)) {
      p.warnings.push_back(fmt::format("no {} of the {} nodes is known: nothing is measured",
                                       p.graph->targets().kind == TargetKind::kValues ? "value" : "label",
                                       p.nodes.size()));
      WarnOnStderr(p.warnings.back());
    }
  }
  const GraphProgress show = line.callback();
  flags.predict.progress = [&](const std::string& step, int64_t done, int64_t total) { show(step, done, total); };
  if (p.device.cuda) {
    p.gpu.fp32 = p.device.fp32;
    p.gpu.features = p.device.features;
    GpuQuestion question{
        .options = flags.predict,
        .features = flags.features,
        .logits = !flags.output.Flag().empty() || PredictedTargets(p.loaded, *p.graph) != TargetKind::kClasses};
    if (p.loaded.has_training && !flags.other_graph && !IsWhole(*p.graph)) {
      question.fingerprint = p.loaded.graph_fingerprint;
    }
    Result<GpuPredictions> predicted = PredictOnGpu(*p.graph, p.model(), p.nodes, question, p.gpu);
    const bool gives_way = predicted.status().code() == StatusCode::kResourceExhausted &&
                           flags.device.device == "auto" && flags.device.precision != "bf16";
    if (!gives_way) {
      HONE_ASSIGN_OR_RETURN(p.from_gpu, std::move(predicted));
      p.device.features = p.gpu.features;
      return Status::Ok();
    }
    p.device = {};
    p.device.why = fmt::format("--device auto: {}", predicted.status().message());
    if (!IsWhole(*p.graph)) {
      HONE_ASSIGN_OR_RETURN(p.graph, OpenGraphFor(on_cpu, flags.graph, open, flags.split));
      HONE_RETURN_IF_ERROR(CheckCheckpointGraph(flags.checkpoint, p.loaded, *p.graph, flags.other_graph));
    }
  }
  HONE_ASSIGN_OR_RETURN(p.from_cpu, Predict(p.graph, p.model(), p.nodes, flags.predict));
  return Status::Ok();
}

// Does the same, with values in the units of the data.
Status MakePrediction(InferFlags& flags, Prediction& p) {
  HONE_RETURN_IF_ERROR(MakeRawPrediction(flags, p));
  if (p.embedded.empty()) UndoStandardization(p.loaded, p.logits().logits);
  return Status::Ok();
}

// Returns the area under the curve for two classes, where the logits are there; else NaN.
double AucOf(const Graph& graph, const Predictions& predictions, std::span<const NodeId> nodes) {
  std::vector<ScoredNode> scored;
  if (predictions.num_classes == 2 && predictions.logits.size() == 2 * nodes.size() && !graph.labels().empty()) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int32_t label = graph.labels()[static_cast<size_t>(nodes[i])];
      if (label != kNoLabel) scored.push_back({predictions.logits[2 * i + 1] - predictions.logits[2 * i], label == 1});
    }
  }
  return RocAuc(std::move(scored));
}

// How right the predictions are; NaN where none can be judged.
struct Scores {
  double accuracy = std::numeric_limits<double>::quiet_NaN();  // on the nodes asked for
  double train = accuracy, valid = accuracy, test = accuracy;  // on those of them that are in this split
  double macro_f1 = accuracy, auc = accuracy;
  std::vector<int64_t> confusion;  // [classes, classes] if it was asked for: labels in rows, predictions in columns
};
Scores ScoresOf(const Graph& graph, std::span<const NodeId> nodes, std::span<const int32_t> classes,
                const Predictions& logits, bool confusion) {
  ClassCounts counts(graph.num_classes());
  for (size_t i = 0; i < nodes.size() && !graph.labels().empty(); ++i) {
    counts.Add(graph.labels()[static_cast<size_t>(nodes[i])], classes[i]);
  }
  Scores scores;
  scores.accuracy = Accuracy(classes, nodes, graph.labels());
  scores.train = SplitAccuracy(graph, graph.train_nodes(), nodes, classes);
  scores.valid = SplitAccuracy(graph, graph.valid_nodes(), nodes, classes);
  scores.test = SplitAccuracy(graph, graph.test_nodes(), nodes, classes);
  scores.macro_f1 = MacroF1(counts);
  scores.auc = AucOf(graph, logits, nodes);
  if (confusion) scores.confusion = ConfusionMatrix(classes, nodes, graph.labels(), graph.num_classes());
  return scores;
}

constexpr int64_t kMostConfused = 1000;  // most classes for which the confusion matrix is printed

void PrintConfusion(const std::vector<int64_t>& matrix, int64_t classes, std::span<const std::string> names) {
  hone::Print("labels in rows, predictions in columns:\n{:>7}", "");
  for (int64_t c = 0; c < classes; ++c) hone::Print(" {:>7}", c);
  hone::Print("\n");
  for (int64_t label = 0; label < classes; ++label) {
    hone::Print("{:>7}", label);
    for (int64_t c = 0; c < classes; ++c) hone::Print(" {:>7}", matrix[static_cast<size_t>(label * classes + c)]);
    const auto at = static_cast<size_t>(label);
    hone::Print("{}\n", at < names.size() ? "  " + names[at] : "");
  }
}

// Refuses what only classes have.
Status CheckTargetFlags(const InferFlags& flags, TargetKind kind) {
  if (!flags.confusion && !(flags.output.probabilities && kind == TargetKind::kValues)) return Status::Ok();
  return Status::InvalidArgument(fmt::format("{}: the model predicts {}, and no classes; leave the option out",
                                             flags.confusion ? "--confusion" : "--probabilities",
                                             kind == TargetKind::kValues ? "values" : "several labels a node"));
}

Status Run(InferFlags& flags) {
  HONE_RETURN_IF_ERROR(CheckInferOutput(flags.output, flags.nodes));
  HONE_RETURN_IF_ERROR(CheckKindFlags(flags));
  Prediction prediction;
  HONE_RETURN_IF_ERROR(MakePrediction(flags, prediction));
  const std::shared_ptr<const Graph>& graph = prediction.graph;
  const std::vector<NodeId>& nodes = prediction.nodes;
  const int64_t num_classes = graph->num_classes();
  const TargetKind predicted = PredictedTargets(prediction.loaded, *graph);
  if (predicted != TargetKind::kClasses) HONE_RETURN_IF_ERROR(CheckTargetFlags(flags, predicted));
  if (flags.confusion && num_classes > kMostConfused) {
    return Status::InvalidArgument(fmt::format(
        "--confusion: a matrix of {} classes is too large to show; {} is the most", num_classes, kMostConfused));
  }
  const bool of_classes = predicted == TargetKind::kClasses, embeds = !prediction.embedded.empty();
  const std::vector<int32_t> classes = of_classes ? prediction.classes() : std::vector<int32_t>();
  const bool scores_targets = !of_classes && !embeds && !graph->labels().empty();
  const TargetCounts counts = scores_targets ? CountTargets(*graph, nodes, prediction.logits()) : TargetCounts();
  const Scores scores =
      of_classes && !embeds ? ScoresOf(*graph, nodes, classes, prediction.logits(), flags.confusion) : Scores();
  HONE_RETURN_IF_ERROR(WriteInferOutput(flags.output, *graph, predicted, nodes, classes, prediction.logits()));
  const PredictTimes& t = prediction.from_cpu.times;
  const GpuPredictions& on_gpu = prediction.from_gpu;
  const bool cuda = prediction.device.cuda;
  const std::string kind = flags.predict.exact ? "exact" : "sampled";
  if (flags.json) {
    nlohmann::json json = {{"graph", graph->name()},
                           {"checkpoint", flags.checkpoint},
                           {"model", ModelName(prediction.loaded.model->options())},
                           {"inference", kind},
                           {"nodes", nodes.size()},
                           {"accuracy",
                            {{"nodes", NumberOrNull(scores.accuracy)},
                             {"train", NumberOrNull(scores.train)},
                             {"valid", NumberOrNull(scores.valid)},
                             {"test", NumberOrNull(scores.test)}}},
                           {"macro_f1", NumberOrNull(scores.macro_f1)},
                           {"auc", NumberOrNull(scores.auc)},
                           {"output", flags.output.path},
                           {"warnings", prediction.warnings}};
    if (scores_targets) json["targets"] = TargetScoresJson(*graph, counts);
    if (!prediction.embedded.empty()) {
      json["embeddings"] = {{"value", prediction.embedded}, {"columns", prediction.logits().num_classes}};
    }
    if (cuda) {
      json["seconds"] = {{"wall", on_gpu.seconds}, {"setup", on_gpu.setup_seconds}};
      json["device_bytes"] = prediction.gpu.device_bytes;
      if (prediction.device.features.host) {
        json["cache_rows"] = prediction.device.features.cache_rows;
        json["host_bytes"] = prediction.gpu.host_bytes;
      }
    } else {
      json["seconds"] = {
          {"wall", t.wall}, {"sample", t.sample}, {"slice", t.slice}, {"compute", t.compute}, {"exposed", t.exposed}};
    }
    prediction.device.AppendTo(json);
    if (!flags.predict.exact) json["fanouts"] = flags.predict.fanouts;
    if (const auto names = graph->class_names(); !names.empty())
      json["class_names"] = std::vector(names.begin(), names.end());
    for (int64_t label = 0; flags.confusion && label < num_classes; ++label) {
      const auto row = scores.confusion.begin() + label * num_classes;
      json["confusion"].push_back(std::vector<int64_t>(row, row + num_classes));
    }
    hone::Print("{}\n", DumpJson(json, -1));
    return Status::Ok();
  }
  hone::Print("{}\n", prediction.device.Line());
  if (cuda) {
    hone::Print("{} inference of {} nodes in {:.4g} s, after {:.2f} s to set the device up\n", kind, nodes.size(),
                on_gpu.seconds, on_gpu.setup_seconds);
  } else {
    hone::Print("{} inference of {} nodes in {:.2f} s ({:.2f} s compute, {:.2f} s waiting for batches)\n", kind,
                nodes.size(), t.wall, t.compute, t.exposed);
  }
  if (scores_targets) {
    PrintTargetScores(*graph, counts);
  } else if (!of_classes && !embeds) {
    hone::Print("graph '{}' has no labels, so that nothing was measured; the model predicts {} {}\n", graph->name(),
                prediction.logits().num_classes, ColumnsInWords(predicted));
  } else if (prediction.embedded.empty()) {
    hone::Print("accuracy: {}", PercentText(scores.accuracy));
    if (flags.nodes == "all" || flags.nodes.ends_with(".npy")) {
      hone::Print(" (train {}, valid {}, test {})", PercentText(scores.train), PercentText(scores.valid),
                  PercentText(scores.test));
    }
    hone::Print("\nmacro-averaged F1: {}", PercentText(scores.macro_f1));
    if (std::isfinite(scores.auc)) hone::Print("; area under the ROC curve: {:.4f}", scores.auc);
    hone::Print("\n");
    if (flags.confusion) PrintConfusion(scores.confusion, num_classes, graph->class_names());
  } else {
    hone::Print("embeddings: {} columns, of value '{}' of model '{}'\n", prediction.logits().num_classes,
                prediction.embedded, ModelName(prediction.loaded.model->options()));
  }
  if (!flags.output.path.empty()) hone::Print("written: {}\n", flags.output.path);
  return Status::Ok();
}

}  // namespace

void RegisterInferCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<InferFlags>();
  CLI::App* command = app.add_subcommand(
      "infer", "predict the classes, labels or values of nodes with a trained model, and show how right they are");
  command
      ->add_option("graph", flags->graph,
                   "a graph file (container) that convert or generate wrote, or a graph that is made on the spot, such "
                   "as 'synthetic:arxiv?scale=0.1&seed=1'")
      ->required();
  command
      ->add_option("checkpoint", flags->checkpoint,
                   "a checkpoint: its file, or its folder (for best.safetensors); or a .safetensors file of weights "
                   "with PyTorch Geometric's names")
      ->required();
  CLI::Option* fanout =
      command->add_option("--fanout", flags->fanout,
                          "without --full: how many neighbors each hop draws; by default as in the run's validations");
  command->add_flag("--full", flags->predict.exact, "predict exactly: read every neighbor, one layer at a time");
  command->add_option("--nodes", flags->nodes, "all, train, valid, test, or a .npy file of node ids")
      ->capture_default_str();
  CLI::Option* embeddings = AddOutputFlags(*command, flags->output);
  command->add_flag("--confusion", flags->confusion, "show how many nodes of each label were predicted as each class")
      ->excludes(embeddings);
  CLI::Option* batch =
      command->add_option("--batch", flags->predict.batch, "without --full: how many nodes a batch has")
          ->capture_default_str()
          ->check(kAboveZero);
  CLI::Option* frontier = command->add_option(
      "--frontier", flags->frontier,
      "without --full: for which nodes a hop draws neighbors, all (every node reached so far) or new (only "
      "the nodes that the hop before added); by default as in training");
  flags->seed = command->add_option("--seed", flags->predict.seed,
                                    "without --full: the seed of the draws; by default that of training");
  CLI::Option* scratch =
      command->add_option("--scratch", flags->predict.scratch,
                          "with --full on the CPU: the folder for activations that do not fit in memory");
  CLI::Option* chunk = command
                           ->add_option("--chunk-mib", flags->chunk_mib,
                                        "with --full on the CPU: how many MiB of input rows are computed at a time")
                           ->capture_default_str()
                           ->check(CLI::Range(1, 1 << 20));
  flags->of_samples = {fanout, batch, frontier, flags->seed};
  flags->of_exact = {scratch, chunk};
  AddDeviceFlags(*command, flags->device);
  AddFeatureFlags(*command, flags->features);
  AddLoadFlag(*command, flags->load);
  AddSplitFlag(*command, flags->split);
  command
      ->add_option("--threads", flags->predict.threads,
                   "how many threads compute; by default as many as the process may use")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--other-graph", flags->other_graph, "accept a model that was trained on another graph");
  command->add_flag("--json", flags->json, "print the result as JSON");
  command->add_flag("--quiet", flags->quiet, "print no progress line");
  flags->model_options = AddModelFlags(*command, flags->model);
  for (CLI::Option* option : flags->model_options)
    option->group("Model (only for weights in a file that does not describe their model)");
  command->callback([flags, &result] { result.exit_status = ReportStatus(Run(*flags)); });
}

}  // namespace hone::gnn
