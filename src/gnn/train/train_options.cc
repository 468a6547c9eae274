// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/train_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/alternatives.h"
#include "base/text/json_fields.h"
#include "gnn/graph/targets.h"

namespace hone::gnn {
namespace {

Status CheckFanouts(std::string_view option, const std::vector<int32_t>& fanouts, const ModelOptions& model) {
  if (static_cast<int>(fanouts.size()) != model.layers) {
    return Status::InvalidArgument(
        fmt::format("{} {} has {} hop{} and the model {} layers; give one number a layer (or change --layers)", option,
                    fmt::join(fanouts, ","), fanouts.size(), fanouts.size() == 1 ? "" : "s", model.layers));
  }
  for (int32_t fanout : fanouts) {
    if (fanout == kAllNeighbors || (fanout >= 1 && fanout <= kMaxFanout)) continue;
    return Status::InvalidArgument(fmt::format("{} {}: {} is not a fanout; use 1 to {}, or {} for all neighbors",
                                               option, fmt::join(fanouts, ","), fanout, kMaxFanout, kAllNeighbors));
  }
  return Status::Ok();
}

Status CheckAtLeast(std::string_view option, double value, double least) {
  if (value >= least && std::isfinite(value)) return Status::Ok();
  return Status::InvalidArgument(fmt::format("{} is {}; it must be at least {}", option, value, least));
}

// Checks that loss, metric and options of the loss are for the graph's kind of targets.
Status CheckTargets(const TrainOptions& options, const Graph& graph) {
  const TargetKind kind = graph.targets().kind;
  const auto has = [](const auto& choices, auto one) {
    return std::find(choices.begin(), choices.end(), one) != choices.end();
  };
  if (options.loss != Loss::kAuto && !has(LossesFor(kind), options.loss)) {
    return Status::InvalidArgument(fmt::format(
        "--loss {}: graph '{}' has {}; use {}, or convert the graph again with other --labels", LossName(options.loss),
        graph.name(), TargetsInWords(kind), Alternatives(LossesFor(kind), LossName)));
  }
  if (options.metric != Metric::kAuto && !has(MetricsFor(kind), options.metric)) {
    return Status::InvalidArgument(fmt::format("--metric {}: graph '{}' has {}; use {}", MetricName(options.metric),
                                               graph.name(), TargetsInWords(kind),
                                               Alternatives(MetricsFor(kind), MetricName)));
  }
  const auto refuse = [&](std::string_view option, std::string_view what, TargetKind for_kind) {
    return Status::InvalidArgument(fmt::format("{}: graph '{}' has {}, and {} for {}; leave the option out", option,
                                               graph.name(), TargetsInWords(kind), what, TargetsInWords(for_kind)));
  };
  if (!options.class_weights.empty() && kind != TargetKind::kClasses) {
    return refuse("--class-weights", "class weights are", TargetKind::kClasses);
  }
  if (options.standardize && kind != TargetKind::kValues) return refuse("--standardize", "it is", TargetKind::kValues);
  const auto outputs = static_cast<size_t>(graph.num_classes());
  if ((!options.target_means.empty() && options.target_means.size() != outputs) ||
      options.target_scales.size() != options.target_means.size()) {
    return Status::InvalidArgument(fmt::format("{} target_means and {} target_scales are given for {} values a node",
                                               options.target_means.size(), options.target_scales.size(), outputs));
  }
  for (const double scale : options.target_scales) {
    if (!(scale > 0)) return Status::InvalidArgument(fmt::format("a target_scale is {}; it must be above 0", scale));
  }
  if (options.pos_weight.empty()) return Status::Ok();
  if (kind != TargetKind::kMultiLabel) return refuse("--pos-weight", "it is", TargetKind::kMultiLabel);
  if (options.pos_weight.size() != 1 && options.pos_weight.size() != outputs) {
    return Status::InvalidArgument(
        fmt::format("--pos-weight has {} numbers; graph '{}' has {} labels a node: give one "
                    "number for each label, or one for all",
                    options.pos_weight.size(), graph.name(), graph.num_classes()));
  }
  for (const double weight : options.pos_weight) HONE_RETURN_IF_ERROR(CheckAtLeast("--pos-weight", weight, 0));
  return Status::Ok();
}

// Checks that the graph has what training needs: features, labels and training nodes.
Status CheckGraph(const Graph& graph, const TrainOptions& options) {
  const auto refuse = [&](std::string_view problem) {
    return Status::InvalidArgument(fmt::format("graph '{}' {}", graph.name(), problem));
  };
  if (graph.structure().num_nodes == 0) return refuse("has no nodes");
  if (graph.features().num_rows < graph.structure().num_nodes) {
    return refuse(fmt::format("has features of {} of its {} nodes; convert it with the features of every node",
                              graph.features().num_rows, graph.structure().num_nodes));
  }
  if (graph.labels().empty() || graph.num_classes() < 1) return refuse("has no labels; convert it with labels");
  if (graph.train_nodes().empty()) {
    return refuse("has an empty training split; convert it with a split, or let convert draw one by seed");
  }
  if (graph.valid_nodes().empty() && (options.eval_every > 0 || options.early_stop > 0)) {
    return refuse("has an empty validation split; train with --eval-every 0 and without --early-stop");
  }
  bool labelled = false;
  for (NodeId v : graph.train_nodes()) labelled = labelled || graph.labels()[static_cast<size_t>(v)] != kNoLabel;
  if (!labelled) return refuse("has no label on any of its training nodes");
  return Status::Ok();
}

}  // namespace

Status ValidateTrainOptions(const TrainOptions& options, const ModelOptions& model, const Graph& graph) {
  HONE_RETURN_IF_ERROR(CheckFanouts("--fanout", options.fanouts, model));
  if (options.eval_every > 0) HONE_RETURN_IF_ERROR(CheckFanouts("--eval-fanout", options.eval_fanouts, model));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--batch", static_cast<double>(options.batch), 1));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--eval-batch", static_cast<double>(options.eval_batch), 1));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--shards", options.shards, 1));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--epochs", options.epochs, 1));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--lr", options.learning_rate, 0));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--weight-decay", options.weight_decay, 0));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--clip-norm", options.clip_norm, 0));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--plateau-factor", options.plateau_factor, 0));
  if (options.plateau_factor > 1) {
    return Status::InvalidArgument(fmt::format("--plateau-factor is {}; it must be at most 1", options.plateau_factor));
  }
  HONE_RETURN_IF_ERROR(CheckAtLeast("--plateau-patience", options.plateau_patience, 0));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--eval-every", options.eval_every, 0));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--early-stop", options.early_stop, 0));
  if (options.early_stop > 0 && options.eval_every == 0) {
    return Status::InvalidArgument("--early-stop needs validations: --eval-every must be at least 1");
  }
  HONE_RETURN_IF_ERROR(CheckAtLeast("--warmup", options.warmup, 0));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--schedule-every", options.schedule_every, 1));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--schedule-patience", options.schedule_patience, 1));
  HONE_RETURN_IF_ERROR(CheckAtLeast("--schedule-factor", options.schedule_factor, 0));
  if (options.schedule_factor > 1) {
    return Status::InvalidArgument(
        fmt::format("--schedule-factor is {}; it must be at most 1", options.schedule_factor));
  }
  if (options.plateau && options.schedule != Schedule::kConstant) {
    return Status::InvalidArgument(fmt::format("--plateau and --schedule {} both change the learning rate: choose one",
                                               ScheduleName(options.schedule)));
  }
  if (options.schedule == Schedule::kValidation && options.eval_every == 0) {
    return Status::InvalidArgument("--schedule validation needs validations: --eval-every must be at least 1");
  }
  HONE_RETURN_IF_ERROR(CheckTargets(options, graph));
  const bool classes = graph.targets().kind == TargetKind::kClasses;
  if (classes && options.metric == Metric::kRocAuc && graph.num_classes() != 2) {
    return Status::InvalidArgument(
        fmt::format("--metric auc is of two classes, and graph '{}' has {}; use accuracy or macro-f1", graph.name(),
                    graph.num_classes()));
  }
  HONE_RETURN_IF_ERROR(CheckGraph(graph, options));
  if (ReadsEdgeFeatures(model) && graph.edge_features().width != model.edge_width) {
    return Status::InvalidArgument(fmt::format("the model reads {} features of each edge, and graph '{}' has {}",
                                               model.edge_width, graph.name(), graph.edge_features().width));
  }
  if (!options.class_weights.empty()) {
    if (static_cast<int32_t>(options.class_weights.size()) != graph.num_classes()) {
      return Status::InvalidArgument(fmt::format("--class-weights has {} numbers; graph '{}' has {} classes",
                                                 options.class_weights.size(), graph.name(), graph.num_classes()));
    }
    double sum = 0;
    for (double weight : options.class_weights) {
      HONE_RETURN_IF_ERROR(CheckAtLeast("--class-weights", weight, 0));
      sum += weight;
    }
    if (sum == 0) return Status::InvalidArgument("--class-weights are all 0: there would be nothing to learn from");
  }
  return Status::Ok();
}

TrainOptions ForTargets(TrainOptions options, TargetKind kind) {
  if (options.loss == Loss::kAuto) options.loss = LossesFor(kind).front();
  if (options.metric == Metric::kAuto) options.metric = MetricsFor(kind).front();
  return options;
}

std::string_view FrontierName(FrontierRule rule) { return rule == FrontierRule::kAllSoFar ? "all" : "new"; }

Result<FrontierRule> ParseFrontier(std::string_view name) {
  if (name == "all") return FrontierRule::kAllSoFar;
  if (name == "new") return FrontierRule::kNewOnly;
  return Status::InvalidArgument(fmt::format("the frontier rule is '{}'; use all or new", name));
}

std::string_view ScheduleName(Schedule schedule) {
  switch (schedule) {
    case Schedule::kConstant:
      return "constant";
    case Schedule::kCosine:
      return "cosine";
    case Schedule::kStep:
      return "step";
    case Schedule::kValidation:
      return "validation";
  }
  return "";
}

Result<Schedule> ParseSchedule(std::string_view name) {
  for (const Schedule schedule : {Schedule::kConstant, Schedule::kCosine, Schedule::kStep, Schedule::kValidation}) {
    if (name == ScheduleName(schedule)) return schedule;
  }
  return Status::InvalidArgument(fmt::format("the schedule is '{}'; use constant, cosine, step or validation", name));
}

nlohmann::json TrainOptionsToJson(const TrainOptions& options) {
  nlohmann::json json = {{"fanouts", options.fanouts},
                         {"eval_fanouts", options.eval_fanouts},
                         {"frontier", FrontierName(options.frontier)},
                         {"batch", options.batch},
                         {"eval_batch", options.eval_batch},
                         {"shards", options.shards},
                         {"epochs", options.epochs},
                         {"learning_rate", options.learning_rate},
                         {"weight_decay", options.weight_decay},
                         {"clip_norm", options.clip_norm},
                         {"class_weights", options.class_weights},
                         {"plateau", options.plateau},
                         {"plateau_factor", options.plateau_factor},
                         {"plateau_patience", options.plateau_patience},
                         {"eval_every", options.eval_every},
                         {"early_stop", options.early_stop},
                         {"metric", MetricName(options.metric)},
                         {"loss", LossName(options.loss)},
                         {"schedule", ScheduleName(options.schedule)},
                         {"warmup", options.warmup},
                         {"schedule_every", options.schedule_every},
                         {"schedule_factor", options.schedule_factor},
                         {"schedule_patience", options.schedule_patience},
                         {"seed", SeedToJson(options.seed)}};
  // Runs without these options keep the checkpoints that they had before the options existed.
  if (!options.pos_weight.empty()) json["pos_weight"] = options.pos_weight;
  if (options.standardize) {
    json["target_means"] = options.target_means;
    json["target_scales"] = options.target_scales;
  }
  return json;
}

Result<TrainOptions> TrainOptionsFromJson(std::string_view text, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, what));
  TrainOptions options;
  // Runs older than these options do not state them; they ran with these values.
  std::string frontier, metric = "accuracy", loss = "cross-entropy", schedule = "constant";
  JsonFields fields(json, std::string(what));
  if (fields.ok()) {
    fields.Require("fanouts", options.fanouts);
    fields.Require("eval_fanouts", options.eval_fanouts);
    fields.Require("frontier", frontier);
    fields.Require("batch", options.batch);
    fields.Require("eval_batch", options.eval_batch);
    fields.Require("shards", options.shards);
    fields.Require("epochs", options.epochs);
    fields.Require("learning_rate", options.learning_rate);
    fields.Require("weight_decay", options.weight_decay);
    fields.Require("clip_norm", options.clip_norm);
    fields.Require("class_weights", options.class_weights);
    fields.Require("plateau", options.plateau);
    fields.Require("plateau_factor", options.plateau_factor);
    fields.Require("plateau_patience", options.plateau_patience);
    fields.Require("eval_every", options.eval_every);
    fields.Require("early_stop", options.early_stop);
    fields.Require("seed", options.seed);
    fields.Read("metric", metric);
    fields.Read("loss", loss);
    fields.Read("pos_weight", options.pos_weight);
    fields.Read("target_means", options.target_means);
    fields.Read("target_scales", options.target_scales);
    fields.Read("schedule", schedule);
    fields.Read("warmup", options.warmup);
    fields.Read("schedule_every", options.schedule_every);
    fields.Read("schedule_factor", options.schedule_factor);
    fields.Read("schedule_patience", options.schedule_patience);
  }
  HONE_RETURN_IF_ERROR(fields.status());
  HONE_ASSIGN_OR_RETURN(options.frontier, ParseFrontier(frontier));
  HONE_ASSIGN_OR_RETURN(options.metric, ParseMetric(metric));
  HONE_ASSIGN_OR_RETURN(options.loss, ParseLoss(loss));
  HONE_ASSIGN_OR_RETURN(options.schedule, ParseSchedule(schedule));
  options.standardize = !options.target_means.empty();
  return options;
}

}  // namespace hone::gnn
