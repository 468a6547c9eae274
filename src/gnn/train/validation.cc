// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/validation.h"

#include <algorithm>
#include <utility>

#include "gnn/infer/exact.h"
#include "gnn/ops/buffer.h"
#include "gnn/ops/convert_rows.h"
#include "hone/gnn/batch_pipeline.h"

namespace hone::gnn {

namespace {

// Counts one node's prediction; with two classes also keeps its score.
void Count(const Graph& graph, NodeId v, const float* logits, int32_t prediction, ValidationCounts& counts) {
  if (counts.targets.width > 0) return counts.targets.Add(graph.targets().Row(v), logits);
  const int32_t label = graph.labels()[static_cast<size_t>(v)];
  counts.classes.Add(label, prediction);
  if (counts.classes.actual.size() == 2 && label != kNoLabel)
    counts.scores.push_back({logits[1] - logits[0], label == 1});
}

ValidationCounts CountsFor(const Graph& graph, const ValidationOptions& o) {
  ValidationCounts counts;
  const TargetView targets = graph.targets();
  if (targets.num_rows > 0) {
    counts.targets = TargetCounts(targets, o.target_scales);
  } else {
    counts.classes = ClassCounts(graph.num_classes());
  }
  return counts;
}

// Counts with every neighbor in every hop, layer by layer, on rank 0.
Result<ValidationCounts> CountCorrectExactly(const Graph& graph, Model<float>& model, const ValidationOptions& o) {
  ValidationCounts counts = CountsFor(graph, o);
  if (o.rank != 0) return counts;
  PredictOptions options;
  options.exact = true;
  options.stop = o.stop;
  if (o.progress) {
    options.progress = [&](const std::string&, int64_t done, int64_t total) { o.progress(done, total); };
  }
  const std::span<const NodeId> nodes = graph.valid_nodes();
  const Result<Predictions> predictions = PredictExact(graph, model, nodes, options, o.threads);
  if (predictions.status().code() == StatusCode::kCancelled) {
    counts.stopped = true;
    return counts;
  }
  HONE_RETURN_IF_ERROR(predictions.status());
  const std::vector<int32_t> classes = PredictedClasses(*predictions);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const float* const logits = predictions->logits.data() + static_cast<int64_t>(i) * predictions->num_classes;
    Count(graph, nodes[i], logits, classes[i], counts);
  }
  return counts;
}

}  // namespace

Result<ValidationCounts> CountCorrect(std::shared_ptr<const Graph> graph, Model<float>& model,
                                      const ValidationOptions& o) {
  const std::span<const NodeId> nodes = graph->valid_nodes();
  const auto count = static_cast<int64_t>(nodes.size());
  const bool every_neighbor =
      std::all_of(o.fanouts.begin(), o.fanouts.end(), [](int32_t fanout) { return fanout == kAllNeighbors; });
  if (every_neighbor && count > 0 && ExactActivationBytes(model, graph->structure().num_nodes) <= o.exact_bytes) {
    return CountCorrectExactly(*graph, model, o);
  }
  const int64_t batches = (count + o.batch - 1) / o.batch;
  const int64_t begin = batches * o.rank / o.ranks;
  const int64_t end = batches * (o.rank + 1) / o.ranks;
  ValidationCounts counts = CountsFor(*graph, o);
  if (begin == end) return counts;

  BatchPipelineOptions options;
  options.sampler = {o.fanouts, o.frontier};
  options.sampler.edges = ReadsEdgeFeatures(model.options());
  options.batch = o.batch;
  options.seed = o.seed;
  options.workers = o.workers;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline, BatchPipeline::Make(graph, options));
  // A batch is keyed by its index among all batches. A rank's part is therefore chosen by the first step, and not by a
  // list that begins there.
  HONE_RETURN_IF_ERROR(pipeline->Start({.seeds = nodes.first(static_cast<size_t>(std::min(count, end * o.batch))),
                                        .shuffle = false,
                                        .first_step = begin}));
  const std::unique_ptr<Model<float>::State> state = model.MakeState();
  Buffer<float> inputs, outputs;
  const CsrView structure = graph->structure();
  const FeatureView edge_features = graph->edge_features();
  for (int64_t done = begin;;) {
    HONE_ASSIGN_OR_RETURN(const BatchLease batch, pipeline->Next());
    if (!batch) break;
    const Matrix<float> x = inputs.Resize(batch->sample.num_nodes(), batch->features.width);
    ConvertRows(batch->features, x, o.threads);
    const Matrix<float> logits = outputs.Resize(batch->sample.num_seeds(), model.options().num_classes);
    model.Forward(batch->sample, x, logits, *state,
                  {.key = batch->key,
                   .nodes = batch->sample.nodes,
                   .graph = &structure,
                   .edge_features = &edge_features,
                   .threads = o.threads});
    for (int64_t i = 0; i < logits.rows; ++i) {
      const float* const row = logits.Row(i);
      const auto prediction = static_cast<int32_t>(std::max_element(row, row + logits.cols) - row);
      Count(*graph, batch->sample.nodes[static_cast<size_t>(i)], row, prediction, counts);
    }
    ++done;
    if (o.progress) o.progress(done - begin, end - begin);
    if (o.stop && o.stop()) {
      counts.stopped = true;
      break;
    }
  }
  return counts;
}

Result<bool> SumOverRanks(Communicator& ranks, bool stopped, TargetCounts& counts) {
  std::vector<double> sums(counts.squared);
  sums.insert(sums.end(), counts.absolute.begin(), counts.absolute.end());
  for (const std::vector<int64_t>* part : {&counts.known, &counts.right}) {
    sums.insert(sums.end(), part->begin(), part->end());
  }
  HONE_RETURN_IF_ERROR(ranks.AllReduceSum("the validation's sums", std::span(sums)));
  auto from = sums.begin();
  for (std::vector<double>* part : {&counts.squared, &counts.absolute}) {
    for (double& sum : *part) sum = *from++;
  }
  for (std::vector<int64_t>* part : {&counts.known, &counts.right}) {
    for (int64_t& count : *part) count = static_cast<int64_t>(*from++);
  }
  return SumOverRanks(ranks, stopped, counts.labels);
}

Result<bool> SumOverRanks(Communicator& ranks, bool stopped, ClassCounts& counts) {
  std::vector<double> sums{stopped ? 1.0 : 0.0};
  for (const std::vector<int64_t>* part : {&counts.actual, &counts.predicted, &counts.correct}) {
    sums.insert(sums.end(), part->begin(), part->end());
  }
  HONE_RETURN_IF_ERROR(ranks.AllReduceSum("the validation's counts", std::span(sums)));
  auto from = sums.begin() + 1;
  for (std::vector<int64_t>* part : {&counts.actual, &counts.predicted, &counts.correct}) {
    for (int64_t& count : *part) count = static_cast<int64_t>(*from++);
  }
  return sums[0] > 0;
}

}  // namespace hone::gnn
