// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the classes that a model predicts for the validation nodes; each rank counts its part of the batches.
//
// The batches are those of sampled inference (hone/gnn/predictor.h), with the same nodes and draws on any rank, so the
// counts of all ranks add up to those of a single process.
//
// If every hop uses every neighbor, there is nothing to draw, and the neighborhoods of batches overlap nearly
// completely. All validation nodes are then predicted at once, layer by layer, as in exact inference. Rank 0 does that
// alone, because the rows of any part depend on nearly all nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/communicator.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/metrics.h"
#include "hone/gnn/model.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct ValidationOptions {
  std::vector<int32_t> fanouts;
  FrontierRule frontier = FrontierRule::kAllSoFar;
  int64_t batch = 512;  // nodes per batch
  uint64_t seed = 0;
  int threads = 1;
  int workers = 1;  // threads that prepare batches
  int rank = 0, ranks = 1;
  std::span<const double> target_scales;                      // TrainOptions::target_scales
  std::function<bool()> stop;                                 // called after each batch or chunk
  std::function<void(int64_t done, int64_t total)> progress;  // batches of this rank's part, or rows of a layer
  // Limit on the activations of all nodes, in bytes, above which validation is not layer by layer. The limit does not
  // depend on the machine: the two ways round differently, and a run's result must not depend on where it runs.
  int64_t exact_bytes = int64_t{8} << 30;
};

struct ValidationCounts {
  ClassCounts classes;             // of a graph with classes
  TargetCounts targets;            // of a graph with several labels or values a node
  std::vector<ScoredNode> scores;  // of the labelled nodes, if there are two classes
  bool stopped = false;            // true: stopped before the end; the counts are then meaningless
};

// Counts over graph->valid_nodes(). The model is only read.
Result<ValidationCounts> CountCorrect(std::shared_ptr<const Graph> graph, Model<float>& model,
                                      const ValidationOptions& options);

// Sums `counts` over all ranks, in place. Returns whether any rank was stopped. Errors are the communicator's.
// Scores of nodes are not summed.
Result<bool> SumOverRanks(Communicator& ranks, bool stopped, ClassCounts& counts);
Result<bool> SumOverRanks(Communicator& ranks, bool stopped, TargetCounts& counts);

}  // namespace hone::gnn
