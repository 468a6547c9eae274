// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers small requests on one GPU with little delay: classes and logits of 1 to 64 nodes at a time.
//
// Everything is prepared when the predictor is made: the graph and the model are on the device, and for each of the
// sizes 1, 2, 4, … 64 the whole way from node ids to logits is one captured CUDA graph. A call writes its ids into
// memory that the device reads in place, launches the graph of the next size up, and finds the answer in memory of its
// own: one launch, no copy, no other call of the driver.
//
// Sampled inference: each node's neighborhood is drawn with the given fanouts, keyed by the seed and by node (the
// draws of GpuEngine::Evaluate's and Predict's first batch). So a node has the same neighborhood in every request,
// whoever it is asked with, and the same request gets the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

struct LatencyOptions {
  // One a layer, first next to the seeds; each 1 to kMaxFanout, or kAllNeighbors (hone/gnn/neighbor_sampler.h); up to 32 is
  // faster.
  std::vector<int32_t> fanouts = {20, 20, 20};
  bool fp32 = false;                            // activations and products in fp32 instead of bf16
  uint64_t seed = 0;                            // of the draws
  // While it waits, a call looks at the answer's memory again and again, which is fast and keeps a core busy. false: it
  // lets the driver wait.
  bool spin = true;
  // Nodes the buffers of a size hold, over the mean and five standard deviations of what requests of arbitrary nodes need.
  // Results do not depend on it: what does not fit is done again in buffers for the worst case, in about twice the time.
  double envelope = 1;
  // Neighbors that the buffers for the worst case of several nodes may hold in a hop, and the usual ones four times as many. A
  // size that needs more has none (with all neighbors the worst case is nodes with as many as any has): what does not fit
  // its usual buffers, if it has those, is answered in halves.
  int64_t most_slots = int64_t{1} << 26;
};

struct LatencyAnswer {
  std::vector<int32_t> classes;  // [seeds] of the largest logit, the first of equals
  std::vector<float> logits;     // [seeds, num_classes]; empty when they were not asked for
};

class LatencyPredictor {
 public:
  static constexpr int kMostSeeds = 64;

  // Copies the graph (structure, features, labels) and the model's weights to the device; neither is kept. A synthetic
  // graph that was opened as an outline is made there. kInvalidArgument: fanouts that do not fit the model's layers or
  // with which one node may need more neighbors in a hop than can be numbered; a model or graph that the GPU engine does
  // not take. kResourceExhausted: memory. kUnavailable: no GPU.
  static Result<std::unique_ptr<LatencyPredictor>> Make(const Graph& graph, Model<float>& model,
                                                        const LatencyOptions& options);
  virtual ~LatencyPredictor() = default;

  // `nodes`: 1 to kMostSeeds global ids, in any order, repeats allowed. Any number of threads may call; one call at a
  // time is on the device, the others wait for it. kInvalidArgument: too many, or an id out of range, naming it.
  virtual Result<LatencyAnswer> Predict(std::span<const NodeId> nodes, bool logits = true) = 0;

  virtual int64_t num_classes() const = 0;
  virtual int64_t device_bytes() const = 0;
  virtual int64_t repeated() const = 0;  // requests that were done again in the worst case's buffers, or in halves
};

}  // namespace hone::gnn::cuda
