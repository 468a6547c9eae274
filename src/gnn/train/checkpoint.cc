// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_fields.h"
#include "gnn/infer/fingerprint.h"
#include "gnn/train/train_options.h"
#include "hone/gnn/communicator.h"

namespace hone::gnn {
namespace {

nlohmann::json StateToJson(const CheckpointHeader& header) {
  const RunPosition& p = header.position;
  return {{"epoch", p.epoch},
          {"step", p.step},
          {"loss_sum", NumberToJson(p.loss_sum)},
          {"weight_sum", NumberToJson(p.weight_sum)},
          {"labelled", p.labelled},
          {"correct", p.correct},
          {"sampled_nodes", p.sampled_nodes},
          {"sampled_edges", p.sampled_edges},
          {"plateau_best", NumberToJson(p.plateau.best)},
          {"plateau_bad_steps", p.plateau.bad_steps},
          {"plateau_cooldown", p.plateau.cooldown_left},
          {"best_accuracy", NumberToJson(p.best_accuracy)},
          {"best_epoch", p.best_epoch},
          {"worse_validations", p.worse_validations},
          {"ended_early", p.ended_early},
          {"learning_rate", header.learning_rate},
          {"optimizer_steps", header.optimizer_steps}};
}

Status StateFromJson(std::string_view text, const std::string& what, CheckpointHeader& header) {
  HONE_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, what));
  RunPosition& p = header.position;
  JsonFields fields(json, what);
  if (!fields.ok()) return fields.status();
  fields.Require("epoch", p.epoch);
  fields.Require("step", p.step);
  fields.Require("loss_sum", p.loss_sum);
  fields.Require("weight_sum", p.weight_sum);
  fields.Require("labelled", p.labelled);
  fields.Require("correct", p.correct);
  fields.Require("sampled_nodes", p.sampled_nodes);
  fields.Require("sampled_edges", p.sampled_edges);
  fields.Require("plateau_best", p.plateau.best);
  fields.Require("plateau_bad_steps", p.plateau.bad_steps);
  fields.Require("plateau_cooldown", p.plateau.cooldown_left);
  fields.Require("best_accuracy", p.best_accuracy);
  fields.Require("best_epoch", p.best_epoch);
  fields.Require("worse_validations", p.worse_validations);
  fields.Require("ended_early", p.ended_early);
  fields.Require("learning_rate", header.learning_rate);
  fields.Require("optimizer_steps", header.optimizer_steps);
  if (fields.ok() && (p.epoch < 0 || p.step < 0 || header.optimizer_steps < 0)) {
    fields.Fail("epoch", "and step and optimizer_steps must not be negative");
  }
  return fields.status();
}

}  // namespace

Result<TensorFile> ReadFromRank0(const std::string& path, const RunOptions& run) {
  const bool is_only_rank = run.communicator == nullptr || run.communicator->size() == 1;
  const bool reads = is_only_rank || run.communicator->rank() == 0;
  std::string bytes;
  if (reads) {
    Result<std::string> file_bytes = ReadFile(path);
    if (file_bytes.status().code() == StatusCode::kNotFound) {
      return Status::NotFound(file_bytes.status().message() +
                              "; name the folder that `hone-gnn train --checkpoint` wrote, or a safetensors file");
    }
    HONE_ASSIGN_OR_RETURN(bytes, std::move(file_bytes));
  }
  if (!is_only_rank) HONE_RETURN_IF_ERROR(run.communicator->Broadcast("a checkpoint", bytes, 0));
  const std::string what = fmt::format("'{}'", path);
  Result<TensorFile> file = ParseTensorFile(bytes, what);
  if (reads && file.ok() && !file->has_checksum && run.note) run.note(NoChecksumNote(what));
  return file;
}

std::string LastCheckpoint(const std::string& folder) { return folder + "/last.safetensors"; }

std::string BestCheckpoint(const std::string& folder) { return folder + "/best.safetensors"; }

std::string CheckpointFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? LastCheckpoint(path) : path;
}

Status CheckFingerprint(const CheckpointHeader& header, std::string_view what, const Graph& graph,
                        const std::string& found) {
  const FingerprintMatch match = CompareFingerprints(header.graph_fingerprint, found);
  if (match == FingerprintMatch::kSame) return Status::Ok();
  if (match == FingerprintMatch::kOtherSplit) {
    return Status::InvalidArgument(fmt::format(
        "{} was trained on '{}' with another split: give the --split that it was trained with, or the container "
        "with its split, or start a new run from its weights with --init",
        what, graph.name()));
  }
  return Status::InvalidArgument(fmt::format(
      "{} was trained on another graph than '{}'{}: resume with the graph it was made with{}, or start a new run from "
      "its "
      "weights with --init",
      what, graph.name(), match == FingerprintMatch::kOther ? "" : ", or on the same one with another split",
      match == FingerprintMatch::kOther ? "" : " and its --split"));
}

Status CheckStep(const RunPosition& position, std::string_view what, int64_t steps) {
  if (position.step <= steps) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("{} stands at step {} of an epoch of {}; the checkpoint is damaged", what, position.step, steps));
}

void ChangeOnResume(int epochs, double learning_rate, CheckpointHeader& header) {
  if (epochs > 0) header.train.epochs = epochs;
  if (learning_rate <= 0) return;
  header.train.learning_rate = learning_rate;
  header.learning_rate = RateOfEpoch(header.train, header.position, /*validated=*/false, learning_rate);
}

Status CheckMetric(Metric metric, const RunOptions& run) {
  const bool ranked = metric == Metric::kRocAuc || metric == Metric::kAveragePrecision;
  if (!ranked || run.communicator == nullptr || run.communicator->size() == 1) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("--metric {}: several ranks cannot measure it, for it orders all nodes; use {} or macro-f1",
                  MetricName(metric), metric == Metric::kRocAuc ? "accuracy" : "micro-f1"));
}

Status CheckShards(int shards, const RunOptions& run) {
  const int ranks = run.communicator == nullptr ? 1 : run.communicator->size();
  if (shards % ranks == 0) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("--shards is {}; with {} ranks it must be a multiple of {}, for each rank "
                  "runs as many shards (a resumed run keeps its shards)",
                  shards, ranks, ranks));
}

Status NotANumber(std::string_view what, double value, const RunPosition& position, double learning_rate,
                  const RunOptions& run) {
  return Status::InvalidArgument(fmt::format(
      "the {} is {} in epoch {} at step {} (learning rate {}): try a lower --lr, or --clip-norm 1; if it "
      "happens at step 1, look for features that are NaN or very large{}",
      what, value, position.epoch + 1, position.step + 1, learning_rate,
      run.checkpoint.empty() ? "" : fmt::format("; the last good state is {}", LastCheckpoint(run.checkpoint))));
}

TrainResult ResultOf(const RunPosition& position, bool stopped, const RunOptions& run) {
  TrainResult result;
  result.end = stopped                ? TrainResult::End::kStopped
               : position.ended_early ? TrainResult::End::kEarlyStop
                                      : TrainResult::End::kFinished;
  result.epochs = position.epoch;
  result.best_valid = position.best_accuracy;
  result.best_epoch = position.best_epoch;
  if (!run.checkpoint.empty()) result.checkpoint = LastCheckpoint(run.checkpoint);
  return result;
}

Status SavedAfterLoss(const Status& loss, const Status& saved, const RunPosition& position, const RunOptions& run) {
  if (!saved.ok()) return Status(loss.code(), loss.message() + "; and the state was not saved: " + saved.message());
  return Status(loss.code(),
                fmt::format("{}; the state in epoch {} after step {} is in '{}', to go on from with --resume",
                            loss.message(), position.epoch + 1, position.step, LastCheckpoint(run.checkpoint)));
}

void RemoveLeftovers(const std::string& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> leftovers;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.starts_with("last.safetensors.aside-") || name.starts_with("best.safetensors.aside-")) {
      leftovers.push_back(it->path());
    }
  }
  for (const std::filesystem::path& path : leftovers) std::filesystem::remove(path, error);
}

TensorFile MakeCheckpoint(const CheckpointHeader& header, Model<float>& model, Adam<float>& optimizer) {
  TensorFile file;
  file.metadata["format"] = "pt";  // other readers of safetensors files expect this
  file.metadata[std::string(kFormatKey)] = kFormatVersion;
  file.metadata[std::string(kModelKey)] = DumpJson(ModelOptionsToJson(header.model));
  file.metadata[std::string(kTrainKey)] = DumpJson(TrainOptionsToJson(header.train));
  file.metadata[std::string(kGraphKey)] = header.graph_fingerprint;
  file.metadata[std::string(kStateKey)] = DumpJson(StateToJson(header));
  AppendParameters(model, file.tensors);
  for (const Parameter<float>* moment : optimizer.moments()) {
    file.tensors.push_back(MakeFloatTensor(std::string(kOptimizerPrefix) + moment->name, moment->shape, moment->value));
  }
  return file;
}

Result<CheckpointHeader> ReadCheckpointHeader(const TensorFile& file, std::string_view what) {
  const auto field = [&](std::string_view key) -> std::string {
    const auto found = file.metadata.find(std::string(key));
    return found == file.metadata.end() ? std::string() : found->second;
  };
  const std::string version = field(kFormatKey);
  if (version.empty()) {
    return Status::InvalidArgument(fmt::format(
        "{} has weights but no state of a run: only what `hone-gnn train --checkpoint` wrote can be resumed; start "
        "from its weights with --init",
        what));
  }
  if (version != kFormatVersion) {
    return Status::InvalidArgument(
        fmt::format("{} is a checkpoint of format {}; this program reads format {}", what, version, kFormatVersion));
  }
  CheckpointHeader header;
  HONE_ASSIGN_OR_RETURN(header.model, ModelOptionsFromJson(field(kModelKey), fmt::format("{}: {}", what, kModelKey)));
  HONE_ASSIGN_OR_RETURN(header.train, TrainOptionsFromJson(field(kTrainKey), fmt::format("{}: {}", what, kTrainKey)));
  HONE_RETURN_IF_ERROR(StateFromJson(field(kStateKey), fmt::format("{}: {}", what, kStateKey), header));
  header.graph_fingerprint = field(kGraphKey);
  return header;
}

Status RestoreCheckpoint(const TensorFile& file, std::string_view what, const CheckpointHeader& header,
                         Model<float>& model, Adam<float>& optimizer) {
  HONE_RETURN_IF_ERROR(LoadParameters(file, what, model));
  for (Parameter<float>* moment : optimizer.moments()) {
    const std::string name = std::string(kOptimizerPrefix) + moment->name;
    const StoredTensor* stored = file.Find(name);
    if (stored == nullptr || stored->shape != moment->shape || stored->dtype != "F32") {
      return Status::InvalidArgument(fmt::format("{}: the optimizer's tensor '{}' is {}; the checkpoint is damaged",
                                                 what, name, stored == nullptr ? "missing" : "of another shape"));
    }
    HONE_ASSIGN_OR_RETURN(moment->value, FloatValues(*stored));
  }
  optimizer.set_steps(header.optimizer_steps);
  optimizer.set_learning_rate(header.learning_rate);
  return Status::Ok();
}

}  // namespace hone::gnn
