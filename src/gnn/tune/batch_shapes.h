// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the sizes that a training run's batches have over a graph: rows, edges and filled slots of each hop.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct MeasureOptions {
  std::vector<int32_t> fanouts;  // the first for the hop next to the seeds; each a number, not kAllNeighbors
  FrontierRule frontier = FrontierRule::kAllSoFar;
  int64_t batch = 1024;  // seeds of a batch
  int batches = 16;      // how many batches are drawn, in the order of a training run
  uint64_t seed = 0;     // seed of the seed order and of every draw, as in TrainOptions
  int workers = 1;       // threads
};

// The sizes of one hop of one batch. Destinations are the first rows of the sources.
struct HopShape {
  int64_t num_dst = 0;
  int64_t num_src = 0;
  int64_t edges = 0;      // filled slots
  int64_t most_uses = 0;  // the largest number of destinations that drew one source
};

// The sizes of one batch, by hop: hop 0 is next to the seeds.
struct BatchShape {
  std::vector<HopShape> hops;
  int64_t edges() const;
  // Returns the number of nodes within `hop` hops of the seeds.
  int64_t Rows(int hop) const;
};

// Order statistics of a size over the batches.
struct Spread {
  int64_t least = 0, median = 0, most = 0;
};

struct MeasuredBatches {
  std::vector<BatchShape> batches;  // ascending by edges()
  const BatchShape& median() const { return batches[(batches.size() - 1) / 2]; }
  const BatchShape& largest() const { return batches.back(); }
  // Returns the spread of one of HopShape's members over the batches.
  Spread Of(int hop, int64_t HopShape::*size) const;
  // Returns the share of the slots of a hop that are filled, over all batches.
  double ShareOfFilledSlots(int hop, int32_t fanout) const;
};

// Draws batches of the graph's training nodes as training does, epoch by epoch. kInvalidArgument: a fanout of
// kAllNeighbors (which has no number of slots), an option out of range, or a graph without training nodes.
Result<MeasuredBatches> MeasureBatches(std::shared_ptr<const Graph> graph, const MeasureOptions& options);

// Returns the bound B for which degrees that are drawn evenly from [0, B) fill `filled` of `fanout` slots on average,
// when min(degree, fanout) slots of a row are filled. At least 1, and at most 1000 * fanout + 1.
int64_t DegreeBound(double filled, int32_t fanout);

}  // namespace hone::gnn
