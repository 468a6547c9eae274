// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/batch_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hone/gnn/batch_pipeline.h"

namespace hone::gnn {
namespace {

HopShape Measure(const BlockView& block, std::vector<int32_t>& uses_of_source) {
  HopShape shape{.num_dst = block.num_dst, .num_src = block.num_src, .edges = block.num_edges()};
  uses_of_source.assign(static_cast<size_t>(block.num_src), 0);
  for (const int32_t source : block.columns) ++uses_of_source[static_cast<size_t>(source)];
  if (!uses_of_source.empty()) shape.most_uses = *std::max_element(uses_of_source.begin(), uses_of_source.end());
  return shape;
}

}  // namespace

int64_t BatchShape::edges() const {
  int64_t sum = 0;
  for (const HopShape& hop : hops) sum += hop.edges;
  return sum;
}

int64_t BatchShape::Rows(int hop) const {
  return hop == 0 ? hops[0].num_dst : hops[static_cast<size_t>(hop) - 1].num_src;
}

Spread MeasuredBatches::Of(int hop, int64_t HopShape::*size) const {
  std::vector<int64_t> values;
  for (const BatchShape& batch : batches) values.push_back(batch.hops[static_cast<size_t>(hop)].*size);
  std::sort(values.begin(), values.end());
  return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

double MeasuredBatches::ShareOfFilledSlots(int hop, int32_t fanout) const {
  double edges = 0, slots = 0;
  for (const BatchShape& batch : batches) {
    edges += static_cast<double>(batch.hops[static_cast<size_t>(hop)].edges);
    slots += static_cast<double>(batch.hops[static_cast<size_t>(hop)].num_dst) * fanout;
  }
  return slots > 0 ? edges / slots : 0;
}

Result<MeasuredBatches> MeasureBatches(std::shared_ptr<const Graph> graph, const MeasureOptions& options) {
  for (const int32_t fanout : options.fanouts) {
    if (fanout == kAllNeighbors) {
      return Status::InvalidArgument(
          "--fanout all: a hop with every neighbor has no number of slots, which a kernel's shape needs; give one "
          "number a hop, as in 15,10,5");
    }
  }
  const std::span<const NodeId> train = graph->train_nodes();
  if (train.empty()) {
    return Status::InvalidArgument(graph->name() +
                                   " has no training nodes to sample for; give it a split when converting");
  }
  BatchPipelineOptions pipeline_options;
  pipeline_options.sampler = {.fanouts = options.fanouts, .frontier = options.frontier};
  pipeline_options.batch = options.batch;
  pipeline_options.seed = options.seed;
  pipeline_options.workers = options.workers;
  pipeline_options.features = false;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline, BatchPipeline::Make(graph, pipeline_options));
  MeasuredBatches measured;
  std::vector<int32_t> uses_of_source;
  for (uint32_t epoch = 0; static_cast<int>(measured.batches.size()) < options.batches; ++epoch) {
    HONE_RETURN_IF_ERROR(pipeline->Start({.seeds = train, .epoch = epoch}));
    while (true) {
      HONE_ASSIGN_OR_RETURN(BatchLease lease, pipeline->Next());
      if (!lease) break;
      BatchShape shape;
      for (int hop = 0; hop < lease->sample.hops(); ++hop) {
        shape.hops.push_back(Measure(lease->sample.Block(lease->sample.hops() - 1 - hop), uses_of_source));
      }
      measured.batches.push_back(std::move(shape));
      if (static_cast<int>(measured.batches.size()) == options.batches) {
        lease.Return();
        pipeline->Cancel();
        break;
      }
    }
  }
  std::stable_sort(measured.batches.begin(), measured.batches.end(),
                   [](const BatchShape& a, const BatchShape& b) { return a.edges() < b.edges(); });
  return measured;
}

int64_t DegreeBound(double filled, int32_t fanout) {
  const double f = fanout, wanted = filled * f;
  // Returns the mean of min(d, f) for degrees d drawn evenly from [0, bound).
  const auto mean = [&](double bound) { return bound <= f ? (bound - 1) / 2 : f - f * (f + 1) / (2 * bound); };
  const double bound = 2 * wanted + 1 <= f ? 2 * wanted + 1 : f * (f + 1) / (2 * std::max(f - wanted, 1e-9));
  const double below = std::floor(std::clamp(bound, 1.0, 1000 * f));
  return static_cast<int64_t>(wanted - mean(below) <= mean(below + 1) - wanted ? below : below + 1);
}

}  // namespace hone::gnn
