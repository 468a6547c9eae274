// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts a model's weights and shape from and to a safetensors file. docs/formats/checkpoint.md describes the bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "gnn/infer/safetensors.h"
#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn {

inline constexpr std::string_view kModelKey = "hone.model";    // metadata: ModelOptions as JSON
inline constexpr std::string_view kTrainKey = "hone.train";    // metadata: TrainOptions as JSON
inline constexpr std::string_view kStateKey = "hone.state";    // metadata: how far the run has come
inline constexpr std::string_view kGraphKey = "hone.graph";    // metadata: GraphFingerprint of the training graph
inline constexpr std::string_view kFormatKey = "hone.format";  // metadata: "1"
inline constexpr std::string_view kFormatVersion = "1";
inline constexpr std::string_view kOptimizerPrefix = "optimizer.";  // prefix of tensors that are not weights

// Appends every parameter and buffer of the model, under its own name.
void AppendParameters(Model<float>& model, std::vector<StoredTensor>& tensors);

// Replaces the model's parameters and buffers by the file's. A prefix common to all of the file's names ("model.",
// "module.") is dropped when the names do not match otherwise; "norms.0.module.weight", as in PyTorch Geometric's stock
// models, means "bns.0.weight"; num_batches_tracked may be missing or extra, and names that start with kOptimizerPrefix
// are ignored. kInvalidArgument names a tensor that is missing, left over or of another shape; the model is then
// unchanged.
Status LoadParameters(const TensorFile& file, std::string_view what, Model<float>& model);

// Sets what `file`, which another program saved, shows of its model: whether its sage or gat layers have biases, and
// whether there are norms between them.
void ReadStockModel(const TensorFile& file, ModelOptions& options);

nlohmann::json ModelOptionsToJson(const ModelOptions& options);
Result<ModelOptions> ModelOptionsFromJson(std::string_view text, std::string_view what);

}  // namespace hone::gnn
