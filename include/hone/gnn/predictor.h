// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicts classes of nodes with a trained model: from samples, as in training, or exactly, layer by layer.
//
// Sampled: the multi-hop neighborhood of a batch of nodes is drawn and the model is run on it, the very code that
// training runs. Exact: every neighbor counts; one layer at a time is computed for all nodes that the wanted ones
// depend on, in chunks of rows. Either way the same question gets the same bits, on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/model.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct PredictOptions {
  bool exact = false;
  std::vector<int32_t> fanouts = {20, 20, 20};  // sampled: first next to the seeds; kAllNeighbors allowed
  FrontierRule frontier = FrontierRule::kAllSoFar;
  int64_t batch = 512;  // seeds a batch
  uint64_t seed = 0;
  int64_t chunk_bytes = 64 << 20;  // exact: input rows of a chunk; one node of larger degree is a chunk of its own
  // Exact: the activations of all nodes (two layers' at a time) lie in an unnamed file in this folder instead of in
  // memory, for graphs whose activations memory cannot hold. Empty: memory.
  std::string scratch;
  int threads = 0;  // 0: all the process may use
  int workers = 0;  // sampled: that prepare batches; 0: as many as threads
  // Rows done and in all; called from the calling thread. "sampled", or "layer 1" and on when exact.
  std::function<void(const std::string& step, int64_t done, int64_t total)> progress;
  std::function<bool()> stop;  // asked between batches and chunks; true ends the call with kCancelled
};

struct PredictTimes {
  double wall = 0;    // seconds
  double sample = 0;  // of the preparing threads together
  double slice = 0;
  double compute = 0;  // wall
  double exposed = 0;  // wall spent waiting for a batch
};

struct Predictions {
  int64_t num_nodes = 0;
  int64_t num_classes = 0;
  std::vector<float> logits;  // [num_nodes, num_classes], row i for the i-th node asked for
  PredictTimes times;
};

// Index of the largest logit of each row, the first of equals.
std::vector<int32_t> PredictedClasses(const Predictions& predictions);
// Softmax of each row, in place.
void LogitsToProbabilities(Predictions& predictions);
// Share of labelled nodes whose class is predicted; NaN when none is labelled. `nodes` as given to Predict.
double Accuracy(std::span<const int32_t> classes, std::span<const NodeId> nodes, std::span<const int32_t> labels);

// `nodes`: global ids, repeats allowed. kInvalidArgument: an id out of range, fanouts that do not fit the model's
// layers, features of another width. The model is used, not changed; one call at a time.
Result<Predictions> Predict(std::shared_ptr<const Graph> graph, Model<float>& model, std::span<const NodeId> nodes,
                            const PredictOptions& options);

// A model read from a checkpoint or from a plain safetensors file with PyTorch Geometric's names.
struct LoadedModel {
  std::unique_ptr<Model<float>> model;
  std::string file;               // that was read
  bool has_checksum = false;      // the file had one, and it agreed; false: damage would go unseen
  bool has_training = false;      // a checkpoint of ours; the rest is set only then
  std::string graph_fingerprint;  // of the graph it was trained on
  std::vector<int32_t> fanouts;   // of its training
  std::vector<int32_t> eval_fanouts;
  FrontierRule frontier = FrontierRule::kAllSoFar;
  uint64_t seed = 0;
  int epoch = 0;
};
// `path`: a file, or a folder with best.safetensors (else last.safetensors). `fallback` describes the model where the
// file does not (a plain state_dict). kInvalidArgument names the tensor that is missing, extra or of another shape, or
// says that the file's checksum disagrees.
Result<LoadedModel> LoadModel(const std::string& path, const ModelOptions& fallback);

// Names a graph by its sizes, classes, splits and a few thousand of its rows; equal graphs have equal ones.
std::string GraphFingerprint(const Graph& graph);

}  // namespace hone::gnn
