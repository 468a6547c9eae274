// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file checks whether a model and a graph belong together, before `infer` and `serve` predict.
#pragma once

#include <fmt/format.h>

#include <string>

#include "gnn/graph/targets.h"
#include "gnn/infer/fingerprint.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {

// Returns whether the graph's rows are in memory. An outline has no rows; the device that generates them makes the
// check.
inline bool IsWhole(const Graph& graph) { return !graph.structure().row_offsets.empty(); }

// Checks that the loaded model fits the graph. `other_graph`: the user means to use a model that was trained on another
// graph.
inline Status CheckCheckpointGraph(const std::string& checkpoint, const LoadedModel& loaded, const Graph& graph,
                                   bool other_graph) {
  const ModelOptions& model = loaded.model->options();
  if (IsWhole(graph) && loaded.has_training && !other_graph) {
    HONE_RETURN_IF_ERROR(CheckPredictsOnItsGraph(fmt::format("'{}'", checkpoint), loaded.graph_fingerprint,
                                                 GraphFingerprint(graph), graph));
  }
  if (graph.labels().empty()) return Status::Ok();
  const TargetKind kind = graph.targets().kind;
  if (loaded.targets && *loaded.targets != kind) {
    return Status::InvalidArgument(
        fmt::format("'{}' was trained on a graph with {}, and graph '{}' has {}: name a graph of the model's kind",
                    checkpoint, TargetsInWords(*loaded.targets), graph.name(), TargetsInWords(kind)));
  }
  if (model.num_classes != graph.num_classes()) {
    return Status::InvalidArgument(fmt::format("'{}' predicts {} {} and graph '{}' has {}", checkpoint,
                                               model.num_classes, ColumnsInWords(kind), graph.name(),
                                               graph.num_classes()));
  }
  return Status::Ok();
}

}  // namespace hone::gnn
