// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs sampled inference, and the checks for both kinds.
#include "hone/gnn/predictor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "gnn/graph/parallel.h"
#include "gnn/infer/exact.h"
#include "gnn/ops/buffer.h"
#include "gnn/ops/convert_rows.h"
#include "hone/gnn/batch_pipeline.h"

namespace hone::gnn {
namespace {

// Checks the arguments of Predict against the graph and the model.
Status CheckArguments(const Graph& graph, const ModelOptions& model, std::span<const NodeId> nodes,
                      const PredictOptions& options) {
  const FeatureView features = graph.features();
  if (features.num_rows < graph.structure().num_nodes) {
    return Status::InvalidArgument(fmt::format("graph '{}' has features of {} of its {} nodes", graph.name(),
                                               features.num_rows, graph.structure().num_nodes));
  }
  if (features.width != model.in_width) {
    return Status::InvalidArgument(
        fmt::format("graph '{}' has {} features a node and the model was made for {}: they do not belong together",
                    graph.name(), features.width, model.in_width));
  }
  if (ReadsEdgeFeatures(model) && graph.edge_features().width != model.edge_width) {
    return Status::InvalidArgument(
        fmt::format("graph '{}' has {} features an edge and the model was made for {}: they do not belong together",
                    graph.name(), graph.edge_features().width, model.edge_width));
  }
  for (NodeId v : nodes) {
    if (v < 0 || v >= graph.structure().num_nodes) {
      return Status::InvalidArgument(fmt::format("node {} is not in graph '{}', which has nodes 0 to {}", v,
                                                 graph.name(), graph.structure().num_nodes - 1));
    }
  }
  if (!options.exact && static_cast<int>(options.fanouts.size()) != model.layers) {
    return Status::InvalidArgument(fmt::format(
        "--fanout {} has {} hop{} and the model {} layers; give one number a layer", fmt::join(options.fanouts, ","),
        options.fanouts.size(), options.fanouts.size() == 1 ? "" : "s", model.layers));
  }
  return Status::Ok();
}

// Predicts from samples. `seeds` must be distinct.
Result<Predictions> PredictSampled(std::shared_ptr<const Graph> graph, Model<float>& model,
                                   std::span<const NodeId> seeds, const PredictOptions& options, int threads) {
  const Stopwatch wall;
  const CsrView structure = graph->structure();
  const FeatureView edge_features = graph->edge_features();
  BatchPipelineOptions pipeline_options;
  pipeline_options.sampler = {options.fanouts, options.frontier};
  pipeline_options.sampler.edges = ReadsEdgeFeatures(model.options());
  pipeline_options.batch = options.batch;
  pipeline_options.seed = options.seed;
  pipeline_options.workers = options.workers > 0 ? options.workers : threads;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<BatchPipeline> pipeline,
                        BatchPipeline::Make(std::move(graph), pipeline_options));
  HONE_RETURN_IF_ERROR(pipeline->Start({.seeds = seeds, .shuffle = false}));

  Predictions result;
  result.num_nodes = static_cast<int64_t>(seeds.size());
  result.num_classes = model.options().num_classes;
  result.logits.resize(static_cast<size_t>(result.num_nodes * result.num_classes));
  const std::unique_ptr<Model<float>::State> state = model.MakeState();
  Buffer<float> inputs;
  for (int64_t done = 0;;) {
    HONE_ASSIGN_OR_RETURN(const BatchLease batch, pipeline->Next());
    if (!batch) break;
    const Stopwatch compute;
    const Matrix<float> x = inputs.Resize(batch->sample.num_nodes(), batch->features.width);
    ConvertRows(batch->features, x, threads);
    const int64_t rows = batch->sample.num_seeds();
    const Matrix<float> logits{result.logits.data() + done * result.num_classes, rows, result.num_classes,
                               result.num_classes};
    model.Forward(batch->sample, x, logits, *state,
                  {.key = batch->key,
                   .nodes = batch->sample.nodes,
                   .graph = &structure,
                   .edge_features = &edge_features,
                   .threads = threads});
    result.times.compute += compute.Seconds();
    done += rows;
    if (options.progress) options.progress("sampled", done, result.num_nodes);
    if (options.stop && options.stop()) return Status::Cancelled("inference was stopped");
  }
  const PipelineTimes times = pipeline->TakeTimes();
  result.times.sample = times.sample_seconds;
  result.times.slice = times.slice_seconds;
  result.times.exposed = times.wait_seconds;
  result.times.wall = wall.Seconds();
  return result;
}

}  // namespace

Result<Predictions> Predict(std::shared_ptr<const Graph> graph, Model<float>& model, std::span<const NodeId> nodes,
                            const PredictOptions& options) {
  HONE_RETURN_IF_ERROR(CheckArguments(*graph, model.options(), nodes, options));
  const int threads = ThreadCount(options.threads);
  if (options.exact) return PredictExact(*graph, model, nodes, options, threads);

  // A batch needs distinct seeds. A list with repeats (or out of order) is therefore predicted as a sorted set, whose
  // results are then copied to the list's order.
  if (std::is_sorted(nodes.begin(), nodes.end(), std::less_equal<NodeId>())) {
    return PredictSampled(std::move(graph), model, nodes, options, threads);
  }
  std::vector<NodeId> distinct(nodes.begin(), nodes.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  HONE_ASSIGN_OR_RETURN(const Predictions predictions,
                        PredictSampled(std::move(graph), model, distinct, options, threads));
  Predictions result{static_cast<int64_t>(nodes.size()), predictions.num_classes, {}, predictions.times};
  result.logits.reserve(nodes.size() * static_cast<size_t>(predictions.num_classes));
  for (NodeId v : nodes) {
    const auto row = std::lower_bound(distinct.begin(), distinct.end(), v) - distinct.begin();
    const auto first = predictions.logits.begin() + row * predictions.num_classes;
    result.logits.insert(result.logits.end(), first, first + predictions.num_classes);
  }
  return result;
}

}  // namespace hone::gnn
