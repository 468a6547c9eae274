// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/train_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers/hash.h"
#include "common/command_line.h"
#include "gnn/train/train_options.h"
#include "hone-gnn/presets.h"

namespace hone::gnn {
namespace {

// Returns the parts between commas.
std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

constexpr int kMostLayers = 64;  // the most that any model (model.cc) and any sample may have

template <typename T>
bool ParseNumber(const std::string& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Parses numbers with commas between them, if there are any. kInvalidArgument names `option`; `each` says in words what
// has a number.
Status ParseNumbers(std::string_view option, std::string_view each, const std::string& text,
                    std::vector<double>& numbers) {
  if (text.empty()) return Status::Ok();
  for (const std::string& part : SplitCommas(text)) {
    double number = 0;
    if (!ParseNumber(part, number)) {
      return Status::InvalidArgument(fmt::format("{} {}: '{}' is not a number; give one {}", option, text, part, each));
    }
    numbers.push_back(number);
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<int32_t>> ParseFanouts(std::string_view option, const std::string& text, int layers) {
  if (text == "all") return std::vector<int32_t>(static_cast<size_t>(std::max(layers, 1)), kAllNeighbors);
  std::vector<int32_t> fanouts;
  for (const std::string& part : SplitCommas(text)) {
    int32_t fanout = kAllNeighbors;
    if (part != "all" && !ParseNumber(part, fanout)) {
      return Status::InvalidArgument(
          fmt::format("{} {}: '{}' is not a number; give one a layer, as in 15,10,5, or all", option, text, part));
    }
    fanouts.push_back(fanout);
  }
  return fanouts;
}

std::vector<CLI::Option*> AddModelFlags(CLI::App& command, ModelFlags& flags) {
  ModelOptions& options = flags.options;
  flags.all = {
      command
          .add_option("--model", options.kind,
                      "the model: sage (GraphSAGE), gat, gin, sage-ri (GraphSAGE with residual connections), or the "
                      ".toml file of a model of your own")
          ->capture_default_str(),
      command.add_option("--hidden", options.hidden, "the width of the hidden layers")->capture_default_str(),
      command.add_option("--layers", flags.layers, "the number of layers; by default as many as --fanout has numbers")
          ->check(kAboveZero),
      command.add_option("--heads", options.heads, "the number of attention heads (gat)")->capture_default_str(),
      command.add_option("--aggregation", options.aggregation, "how neighbors are aggregated (sage): mean, sum or max")
          ->capture_default_str(),
      command
          .add_option("--dropout", options.dropout,
                      "the probability of dropout; by default the model's own (0.5; sage-ri 0.1)")
          ->check(kZeroOrMore),
      command.add_option("--activation", options.activation,
                         "the activation: relu, leaky_relu or elu; by default the model's own"),
      command.add_option("--norm", options.norm,
                         "the normalisation between layers: none or batch; by default the model's own"),
      command.add_flag("--bias", options.bias,
                       "add a bias in each layer, as PyTorch Geometric's own models do (sage, gat)"),
  };
  return flags.all;
}

Status ReadModelFile(ModelFlags& flags) {
  const std::string path = flags.options.kind;
  if (!path.ends_with(".toml")) return Status::Ok();
  for (const CLI::Option* option : flags.all) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--model" || name == "model" || name == "--layers") continue;
    return Status::InvalidArgument(fmt::format(
        "{} and --model {}: the file says all of its model; change it there, and leave {} out", name, path, name));
  }
  Result<ModelSpec> spec = ReadModelSpec(path);
  if (spec.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(spec.status().message() + "; `hone-gnn models` shows how such a file is written");
  }
  HONE_RETURN_IF_ERROR(spec.status());
  HONE_ASSIGN_OR_RETURN(const int layers, LayersOf(*spec));
  if (flags.layers > 0 && flags.layers != layers) {
    return Status::InvalidArgument(fmt::format(
        "--layers {}: the model of {} aggregates over {} hops; leave --layers out", flags.layers, path, layers));
  }
  flags.layers = layers;
  // A file that describes a published model becomes that model, and gets its GPU programs. sage-ri's spec fixes the
  // number of classes, which only the graph can confirm.
  if (std::optional<ModelOptions> published = AsPublished(*spec); published && published->num_classes == 0) {
    flags.options = *published;
    return Status::Ok();
  }
  flags.options = SpecOptions(std::make_shared<const ModelSpec>(std::move(*spec)), layers);
  return Status::Ok();
}

std::vector<CLI::Option*> AddTrainFlags(CLI::App& command, TrainFlags& flags) {
  TrainOptions& options = flags.train;
  flags.command = &command;
  std::vector<CLI::Option*> model_options = AddModelFlags(command, flags.model);
  model_options.push_back(command
                              .add_option("--preset", flags.preset,
                                          "take the settings of a published experiment; other options override them")
                              ->check(CLI::IsMember(PresetNames())));
  CLI::Option* plateau =
      command.add_flag("--plateau", options.plateau,
                       "lower the learning rate when the training loss stops falling; only with --schedule constant");
  CLI::Option* schedule =
      command
          .add_option("--schedule", flags.schedule,
                      "how the learning rate changes from epoch to epoch: constant, cosine (to 0 at the end), step "
                      "(falls every few epochs) or validation (falls when validations stop improving)")
          ->capture_default_str();
  const std::vector<CLI::Option*> sampling_options = {
      command.add_option("--fanout", flags.fanout,
                         "how many neighbors each hop draws, one number a hop, the hop next to the seed nodes first: "
                         "15,10,5 by default; all: every neighbor"),
      command
          .add_option("--frontier", flags.frontier,
                      "for which nodes a hop draws neighbors: all (every node reached so far, with new draws) or new "
                      "(only the nodes that the hop before added)")
          ->capture_default_str(),
      command.add_option("--batch", options.batch, "how many training nodes (seeds) each shard takes in a step")
          ->capture_default_str(),
      command
          .add_option("--shards", options.shards,
                      "add up the gradients of so many batches (shards) in each step, as data-parallel training on so "
                      "many devices does; with several ranks, by default one for each")
          ->capture_default_str(),
      command.add_option("--lr", options.learning_rate, "the learning rate of Adam")->capture_default_str(),
      command
          .add_option("--weight-decay", options.weight_decay,
                      "the weight decay of Adam, which is added to the gradient")
          ->capture_default_str(),
      command
          .add_option("--clip-norm", options.clip_norm,
                      "scale the whole gradient down to this norm if it is larger; 0: never")
          ->capture_default_str(),
      command.add_option("--class-weights", flags.class_weights,
                         "weigh the classes in the loss: one number a class, as in 1,0.5,2"),
      plateau,
      command
          .add_option("--plateau-factor", options.plateau_factor,
                      "multiply the learning rate by this number each time --plateau lowers it")
          ->capture_default_str()
          ->needs(plateau),
      command
          .add_option("--plateau-patience", options.plateau_patience,
                      "lower the learning rate after so many steps without a better loss")
          ->capture_default_str()
          ->needs(plateau),
      schedule,
      command
          .add_option("--warmup", options.warmup,
                      "first raise the learning rate in even steps, epoch by epoch, over so many epochs")
          ->capture_default_str(),
      command.add_option("--schedule-every", options.schedule_every, "step: lower the rate after every so many epochs")
          ->capture_default_str()
          ->needs(schedule),
      command
          .add_option("--schedule-factor", options.schedule_factor,
                      "step, validation: multiply the rate by this number each time it falls")
          ->capture_default_str()
          ->needs(schedule),
      command
          .add_option("--schedule-patience", options.schedule_patience,
                      "validation: lower the rate after so many validations in a row without a better one")
          ->capture_default_str()
          ->needs(schedule),
      command
          .add_option(
              "--metric", flags.metric,
              "what the best epoch is chosen by. Classes: accuracy (auto), macro-f1, or auc (two classes, on the "
              "CPU); several labels a node: micro-f1 (auto), macro-f1, accuracy, auc or average-precision; "
              "values: rmse (auto) or mae")
          ->capture_default_str(),
      command
          .add_option("--loss", flags.loss,
                      "what training minimizes. Classes: cross-entropy; several labels a node: bce (binary "
                      "cross-entropy); values: mse, l1 or huber. auto: the first of these for the graph")
          ->capture_default_str(),
      command.add_option("--pos-weight", flags.pos_weight,
                         "with several labels a node: the weight in the loss of labels that are true, one number for "
                         "all or one for each, as in 3,1,10"),
      command.add_flag("--standardize", options.standardize,
                       "with values: train on values brought to mean 0 and standard deviation 1 in the training "
                       "split; predictions and metrics are in the units of the data"),
      command.add_option("--eval-fanout", flags.eval_fanout,
                         "how many neighbors validation draws in each hop: 20 by default"),
      command.add_option("--eval-batch", options.eval_batch, "how many nodes a batch of validation has")
          ->capture_default_str(),
      command.add_option("--eval-every", options.eval_every, "validate after every so many epochs; 0: never")
          ->capture_default_str(),
      command
          .add_option("--early-stop", options.early_stop,
                      "end the run after so many validations without a better one; 0: never")
          ->capture_default_str(),
      command.add_option("--seed", options.seed, "the seed of weights, order, samples and dropout")
          ->capture_default_str()
          ->check(kZeroOrMore),
  };
  model_options.insert(model_options.end(), sampling_options.begin(), sampling_options.end());
  return model_options;
}

Status CompleteTrainFlags(TrainFlags& flags) {
  TrainOptions& options = flags.train;
  ApplyPreset(flags);
  const std::string given_kind = flags.model.options.kind;
  HONE_RETURN_IF_ERROR(ReadModelFile(flags.model));
  int& layers = flags.model.options.layers;
  const bool model_file_given = flags.model.options.kind != given_kind;  // a model file has set the number of layers
  if (flags.model.layers > kMostLayers) {                // checked before that many fanouts are allocated
    return Status::InvalidArgument(fmt::format("--layers is {}: use 1 to {}", flags.model.layers, kMostLayers));
  }
  if (!flags.fanout.empty()) {
    HONE_ASSIGN_OR_RETURN(options.fanouts, ParseFanouts("--fanout", flags.fanout, flags.model.layers));
    layers = flags.model.layers > 0 ? flags.model.layers : static_cast<int>(options.fanouts.size());
  } else if (flags.model.layers > 0) {
    layers = flags.model.layers;
    options.fanouts.resize(static_cast<size_t>(layers), 5);  // fanouts 15,10,5, then 5 for every further layer
  }
  options.eval_fanouts.assign(static_cast<size_t>(layers), 20);
  if (model_file_given && static_cast<int>(options.fanouts.size()) != layers) {
    return Status::InvalidArgument(fmt::format("--fanout {}: model '{}' aggregates over {} hops; give one number a hop",
                                               flags.fanout, ModelName(flags.model.options), layers));
  }
  if (!flags.eval_fanout.empty()) {
    HONE_ASSIGN_OR_RETURN(options.eval_fanouts, ParseFanouts("--eval-fanout", flags.eval_fanout, layers));
  }
  HONE_ASSIGN_OR_RETURN(options.frontier, ParseFrontier(flags.frontier));
  HONE_ASSIGN_OR_RETURN(options.metric, ParseMetric(flags.metric));
  HONE_ASSIGN_OR_RETURN(options.loss, ParseLoss(flags.loss));
  HONE_ASSIGN_OR_RETURN(options.schedule, ParseSchedule(flags.schedule));
  flags.model.options.seed = options.seed;
  HONE_RETURN_IF_ERROR(
      ParseNumbers("--class-weights", "a class, as in 1,0.5,2", flags.class_weights, options.class_weights));
  return ParseNumbers("--pos-weight", "a label, as in 3,1,10, or one for all", flags.pos_weight, options.pos_weight);
}

void AppendSettings(const TrainFlags& flags, std::vector<Setting>& settings) {
  const ModelOptions& m = flags.model.options;
  const TrainOptions& options = flags.train;
  const auto add = [&](const char* name, const auto& value) { settings.push_back({name, fmt::format("{}", value)}); };
  add("--model", m.spec == nullptr
                     ? m.kind
                     : fmt::format("{} ({})", m.spec->name, Sha256Hex(ModelSpecText(*m.spec)).substr(0, 16)));
  add("--hidden", m.hidden);
  add("--layers", m.layers);
  add("--heads", m.heads);
  add("--aggregation", m.aggregation);
  add("--dropout", m.dropout);
  add("--activation", m.activation);
  add("--norm", m.norm);
  add("--bias", m.bias);
  add("--fanout", fmt::format("{}", fmt::join(options.fanouts, ",")));
  add("--eval-fanout", fmt::format("{}", fmt::join(options.eval_fanouts, ",")));
  add("--frontier", flags.frontier);
  add("--batch", options.batch);
  add("--eval-batch", options.eval_batch);
  add("--shards", options.shards);
  add("--lr", options.learning_rate);
  add("--weight-decay", options.weight_decay);
  add("--clip-norm", options.clip_norm);
  add("--class-weights", flags.class_weights);
  add("--plateau", options.plateau);
  add("--plateau-factor", options.plateau_factor);
  add("--plateau-patience", options.plateau_patience);
  add("--schedule", flags.schedule);
  add("--warmup", options.warmup);
  add("--schedule-every", options.schedule_every);
  add("--schedule-factor", options.schedule_factor);
  add("--schedule-patience", options.schedule_patience);
  add("--metric", flags.metric);
  add("--loss", flags.loss);
  add("--pos-weight", flags.pos_weight);
  add("--standardize", options.standardize);
  add("--eval-every", options.eval_every);
  add("--early-stop", options.early_stop);
  add("--seed", options.seed);
}

nlohmann::json NumberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

std::string MetricText(Metric metric, double value) {
  if (!SmallerIsBetter(metric)) return PercentText(value);
  return std::isfinite(value) ? fmt::format("{:.5g}", value) : "-";
}

std::string PercentText(double share) { return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "-"; }

}  // namespace hone::gnn
