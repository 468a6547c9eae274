// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles `--output` of infer and the options that choose what goes there: classes, probabilities, logits, or the rows
// of a layer (embeddings), as .npy or as .csv.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/gnn/graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {

struct InferOutput {
  std::string path;                            // empty: nothing is written
  bool probabilities = false, logits = false;  // what is written in place of classes
  std::string embeddings;                      // the layer or value whose rows are written; empty: none

  // Returns the option that asks for something other than classes; empty: none was given.
  std::string Flag() const;
};

// Adds --output, --probabilities, --logits and --embeddings. Returns the last one, which other options may exclude.
CLI::Option* AddOutputFlags(CLI::App& command, InferOutput& output);

// Checks before the prediction that its result can be written. `nodes` is the value of --nodes, whose file is not
// replaced. kInvalidArgument names the option, the file and the remedy.
Status CheckInferOutput(const InferOutput& output, const std::string& nodes);

// Writes the file, if one was asked for. `rows` has the logits or the embeddings; it becomes probabilities if those are
// wanted. `kind`: what the model predicts. `classes` is empty with embeddings. Errors are those of WriteOutput.
Status WriteInferOutput(const InferOutput& output, const Graph& graph, TargetKind kind, std::span<const NodeId> nodes,
                        std::span<const int32_t> classes, Predictions& rows);

}  // namespace hone::gnn
