// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Predicts classes of nodes with a trained model: from samples, as in training, or exactly, layer by layer.
//
// Sampled prediction draws the multi-hop neighborhood of a batch of nodes and runs the model on it, with the same code
// as training. Exact prediction uses every neighbor: it computes one layer at a time, in chunks of rows, for all nodes
// that the requested nodes depend on. Either way, the same request gives the same bits on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/graph.h"
#include "hone/gnn/model.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn {

struct PredictOptions {
  bool exact = false;  // true: from every neighbor, layer by layer; false: from samples
  std::vector<int32_t> fanouts = {20, 20,
                                  20};  // sampled: one per layer, the first next to the seeds; kAllNeighbors allowed
  FrontierRule frontier = FrontierRule::kAllSoFar;
  int64_t batch = 512;  // seeds per batch
  uint64_t seed = 0;    // sampled: keys the draws
  int64_t chunk_bytes =
      64 << 20;  // exact: bytes of input rows per chunk; a node with more neighbors than fit is a chunk of its own
  // Exact: folder for an unnamed temporary file that holds the activations of all nodes, of two layers at a time. Meant
  // for graphs whose activations do not fit in memory. Empty: activations stay in memory.
  std::string scratch;
  int threads = 0;  // 0: all that the process may use
  int workers = 0;  // sampled: threads that prepare batches; 0: as many as threads
  // Reports how many of all rows are done, from the calling thread. `step` is "sampled"; with `exact`, "layer 1" and so
  // on.
  std::function<void(const std::string& step, int64_t done, int64_t total)> progress;
  std::function<bool()> stop;  // called between batches and chunks; true ends the call with kCancelled
};

struct PredictTimes {
  double wall = 0;     // seconds
  double sample = 0;   // time to prepare batches, summed over threads: processor time if sampled, wall time if exact
  double slice = 0;    // sampled: processor time to gather feature rows, summed over threads
  double compute = 0;  // wall time of the model's forward passes
  double exposed = 0;  // wall time spent waiting for a batch
};

struct Predictions {
  int64_t num_nodes = 0;
  int64_t num_classes = 0;
  std::vector<float> logits;  // [num_nodes, num_classes], row i for the i-th requested node
  PredictTimes times;
};

// Returns the index of the largest logit of each row, the first of equals.
std::vector<int32_t> PredictedClasses(const Predictions& predictions);
// Replaces each row of logits by its softmax.
void LogitsToProbabilities(Predictions& predictions);
// Makes outputs of logits, by what they predict: probabilities of classes (softmax) or of labels that are
// each true or false (the logistic function); values are outputs already.
void LogitsToOutputs(TargetKind kind, Predictions& predictions);
// Returns the share of labelled nodes whose prediction is their label; NaN when none is labelled. classes[i] is the
// prediction for nodes[i], where `nodes` is the list given to Predict; `labels` is the graph's.
double Accuracy(std::span<const int32_t> classes, std::span<const NodeId> nodes, std::span<const int32_t> labels);

// Predicts the classes of `nodes` (global ids, repeats allowed). kInvalidArgument: an id out of range, fanouts that do
// not fit the model's layers, features of another width. The model's parameters do not change; one call at a time per
// model.
Result<Predictions> Predict(std::shared_ptr<const Graph> graph, Model<float>& model, std::span<const NodeId> nodes,
                            const PredictOptions& options);

// A model read from a checkpoint or from a plain safetensors file with PyTorch Geometric's names.
struct LoadedModel {
  std::unique_ptr<Model<float>> model;
  std::string file;                   // path that was read
  bool has_checksum = false;          // the file had a checksum, and it agreed; false: damage would go unnoticed
  bool has_training = false;          // a checkpoint of Hone; the fields below are set only then
  std::optional<TargetKind> targets;  // what it was trained to predict; empty: the file does not say
  // TrainOptions::target_means and target_scales: the outputs are standardised values; empty: they are values as they
  // are.
  std::vector<double> target_means, target_scales;
  std::string graph_fingerprint;      // fingerprint of the graph it was trained on
  std::vector<int32_t> fanouts;       // fanouts of its training
  std::vector<int32_t> eval_fanouts;  // fanouts of its validations
  FrontierRule frontier = FrontierRule::kAllSoFar;
  uint64_t seed = 0;  // seed of its training
  int epoch = 0;      // epochs that were complete when it was saved
};
// Returns what the model predicts for nodes of this graph: what the graph has, or, if it has no labels, what the model
// was trained to predict.
TargetKind PredictedTargets(const LoadedModel& loaded, const Graph& graph);
// Turns outputs [nodes, columns] of a model that was trained on standardised values into values, in place. Other
// models' outputs stay as they are.
void UndoStandardization(const LoadedModel& loaded, std::span<float> outputs);

// Loads a model from `path`: a file, or a folder with best.safetensors (else last.safetensors). `fallback` describes
// the model if the file does not, as a plain state_dict. kInvalidArgument names a tensor that is missing, unexpected or
// of another shape, or says that the file does not match its checksum.
Result<LoadedModel> LoadModel(const std::string& path, const ModelOptions& fallback);

// Hashes a graph's sizes, classes, splits and a few thousand of its rows; equal graphs have equal fingerprints. Compare
// fingerprints with CompareFingerprints (src/gnn/infer/fingerprint.h), because those in older checkpoints are shorter.
std::string GraphFingerprint(const Graph& graph);

}  // namespace hone::gnn
