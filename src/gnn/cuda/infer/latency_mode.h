// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers small requests on one GPU with little delay: classes and logits of 1 to 64 nodes at a time.
//
// Everything is prepared when the predictor is made. The graph and the model are on the device, and for each of the
// sizes 1, 2, 4, … 64 the whole way from node ids to logits is one captured CUDA graph. A call writes its ids into
// memory that the device reads in place, launches the graph of the smallest size that is large enough, and reads the
// answer from host memory: one launch, no copy, and no other call of the driver.
//
// Inference is sampled: each node's neighborhood is drawn with the given fanouts, keyed by the seed and by node (the
// draws of GpuEngine::Evaluate's and Predict's first batch). So a node has the same neighborhood in every request,
// whatever other nodes are in it, and the same request gives the same bits.
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
  // Neighbors drawn per hop, one value per layer, the first for the hop next to the seeds. Each is 1 to kMaxFanout, or
  // kAllNeighbors (hone/gnn/neighbor_sampler.h). Fanouts up to 32 are faster.
  std::vector<int32_t> fanouts = {20, 20, 20};
  bool fp32 = false;                            // activations and products in fp32 instead of bf16
  uint64_t seed = 0;                            // seed of the draws
  // true: a waiting call polls the answer's memory, which is fast and keeps a core busy. false: the driver waits.
  bool spin = true;
  // The capacity of a size's usual buffers, in nodes, relative to what requests of arbitrary nodes need: the mean plus
  // five standard deviations. Results do not depend on the capacity. A request that does not fit is repeated in
  // worst-case buffers, which takes about twice the time.
  double envelope = 1;
  // The largest number of neighbors per hop in worst-case buffers for several nodes; the usual buffers may hold four
  // times as many. A size that needs more has no worst-case buffers (with all neighbors, the worst case is nodes of the
  // largest degree). A request of that size that does not fit its usual buffers, or has none, is split in halves.
  int64_t most_slots = int64_t{1} << 26;
};

struct LatencyAnswer {
  std::vector<int32_t> classes;  // [seeds] class of the largest logit; the lowest class among equals
  std::vector<float> logits;     // [seeds, num_classes]; empty if not requested
};

class LatencyPredictor {
 public:
  static constexpr int kMostSeeds = 64;

  // Copies the graph (structure, features, labels) and the model's weights to the device; neither is kept. A synthetic
  // graph opened as an outline is generated there. Errors: kInvalidArgument for fanouts that do not match the model's
  // layers or that give one node more neighbors in a hop than can be numbered, and for a model or graph that the GPU
  // engine does not support; kResourceExhausted for lack of memory; kUnavailable without a GPU.
  static Result<std::unique_ptr<LatencyPredictor>> Make(const Graph& graph, Model<float>& model,
                                                        const LatencyOptions& options);
  virtual ~LatencyPredictor() = default;

  // Answers a request for 1 to kMostSeeds nodes: global ids, in any order, repeats allowed. Thread-safe: one call at a
  // time is on the device, the others wait. kInvalidArgument for too many nodes, or for an id out of range, naming it.
  virtual Result<LatencyAnswer> Predict(std::span<const NodeId> nodes, bool logits = true) = 0;

  virtual int64_t num_classes() const = 0;
  virtual int64_t device_bytes() const = 0;
  virtual int64_t repeated() const = 0;  // how many requests were repeated in worst-case buffers, or in halves
};

}  // namespace hone::gnn::cuda
