// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a model for prediction, from a checkpoint or from weights that another program saved.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/json_fields.h"
#include "gnn/infer/state_dict.h"
#include "hone/gnn/loss.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

// Returns the model's file for a path that may be a folder.
std::string ModelFile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const std::string best = path + "/best.safetensors";
  return FileExists(best) ? best : path + "/last.safetensors";
}

}  // namespace

Result<LoadedModel> LoadModel(const std::string& path, const ModelOptions& fallback) {
  const std::string file_path = ModelFile(path);
  Result<TensorFile> tensor_file = ReadTensorFile(file_path);
  if (tensor_file.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(tensor_file.status().message() +
                            "; name the folder that `hone-gnn train --checkpoint` wrote, or a safetensors file");
  }
  HONE_RETURN_IF_ERROR(tensor_file.status());
  const TensorFile file = *std::move(tensor_file);
  const std::string what = fmt::format("'{}'", file_path);
  LoadedModel loaded;
  ModelOptions options = fallback;
  const auto field = [&](std::string_view key) -> const std::string* {
    const auto found = file.metadata.find(std::string(key));
    return found == file.metadata.end() ? nullptr : &found->second;
  };
  if (const std::string* text = field(kModelKey)) {
    HONE_ASSIGN_OR_RETURN(options, ModelOptionsFromJson(*text, what));
  } else {
    ReadStockModel(file, options);
  }
  if (const std::string* text = field(kTrainKey)) {
    HONE_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(*text, what));
    std::string frontier = "all", loss = "cross-entropy";  // checkpoints of before other losses existed name none
    JsonFields fields(json, fmt::format("{}: {}", what, kTrainKey));
    fields.Require("fanouts", loaded.fanouts);
    fields.Require("eval_fanouts", loaded.eval_fanouts);
    fields.Require("seed", loaded.seed);
    fields.Require("frontier", frontier);
    fields.Read("loss", loss);
    fields.Read("target_means", loaded.target_means);
    fields.Read("target_scales", loaded.target_scales);
    HONE_RETURN_IF_ERROR(fields.status());
    // A loss that this version does not know says nothing about the targets.
    if (const Result<Loss> parsed_loss = ParseLoss(loss); parsed_loss.ok())
      loaded.targets = TargetsOfLoss(*parsed_loss);
    loaded.frontier = frontier == "new" ? FrontierRule::kNewOnly : FrontierRule::kAllSoFar;
    loaded.has_training = true;
  }
  if (const std::string* text = field(kStateKey)) {
    HONE_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(*text, what));
    JsonFields fields(json, fmt::format("{}: {}", what, kStateKey));
    fields.Require("epoch", loaded.epoch);
    HONE_RETURN_IF_ERROR(fields.status());
  }
  if (const std::string* text = field(kGraphKey)) loaded.graph_fingerprint = *text;
  loaded.file = file_path;
  loaded.has_checksum = file.has_checksum;
  HONE_ASSIGN_OR_RETURN(loaded.model, MakeModel(options));
  HONE_RETURN_IF_ERROR(LoadParameters(file, what, *loaded.model));
  const auto outputs = loaded.target_means.empty() ? size_t{0} : static_cast<size_t>(options.num_classes);
  if (loaded.target_means.size() != outputs || loaded.target_scales.size() != outputs) {
    return Status::InvalidArgument(
        fmt::format("{}: {} has {} target_means and {} target_scales, and the model {} outputs", what, kTrainKey,
                    loaded.target_means.size(), loaded.target_scales.size(), options.num_classes));
  }
  return loaded;
}

}  // namespace hone::gnn
