// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/dump/dumped_engines.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "gnn/cuda/dump/graph_reader.h"
#include "gnn/cuda/infer/latency_mode.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

enum Kind { kSage, kSum, kMax, kGat, kFourHeads, kGin, kSageRi };
enum Between { kOwn, kEluBatch, kReluNone, kLeaky };  // which activation and norm stand between the layers
enum Fanouts { kNarrow, kWide, kAll };                // within a warp's lanes, above them, and all neighbors
enum Rows { kOnDevice, kStagedRows, kZeroCopyRows };
enum Loss { kPlain, kClip, kWeights, kClipAndWeights };

struct Row {
  Kind kind;
  bool requests;  // DumpedEngine::requests
  int layers;
  int64_t hidden;
  bool dropout;  // false: the model has no dropout
  Between between;
  bool fp32;
  Fanouts fanouts;
  int32_t shards;
  Rows rows;
  Loss loss;
};

// Rows that together contain every pair of values of two options; a test checks this. A greedy search found them once.
// They are kept, so that stored dumps stay comparable. A new option's rows are added at the end.
constexpr Row kRows[] = {
    {kSage, false, 1, 32, true, kReluNone, true, kAll, 2, kOnDevice, kPlain},
    {kSage, true, 2, 12, false, kLeaky, true, kNarrow, 2, kOnDevice, kClipAndWeights},
    {kSage, false, 3, 32, false, kOwn, false, kWide, 1, kStagedRows, kWeights},
    {kSage, false, 2, 40, true, kEluBatch, false, kWide, 1, kZeroCopyRows, kClip},
    {kSum, false, 3, 32, false, kLeaky, false, kAll, 2, kStagedRows, kClipAndWeights},
    {kSum, true, 2, 40, true, kOwn, true, kWide, 1, kStagedRows, kPlain},
    {kSum, false, 1, 12, true, kReluNone, true, kNarrow, 1, kZeroCopyRows, kWeights},
    {kSum, false, 2, 40, true, kEluBatch, true, kWide, 1, kOnDevice, kClip},
    {kMax, false, 2, 40, false, kEluBatch, false, kNarrow, 2, kZeroCopyRows, kWeights},
    {kMax, true, 1, 40, true, kOwn, false, kAll, 1, kZeroCopyRows, kClipAndWeights},
    {kMax, true, 1, 32, true, kLeaky, true, kAll, 1, kOnDevice, kClip},
    {kMax, false, 3, 12, true, kReluNone, false, kWide, 2, kStagedRows, kPlain},
    {kGat, true, 3, 40, true, kLeaky, true, kWide, 1, kZeroCopyRows, kClipAndWeights},
    {kGat, false, 1, 32, false, kEluBatch, false, kWide, 2, kStagedRows, kWeights},
    {kGat, false, 2, 12, false, kReluNone, false, kAll, 1, kOnDevice, kPlain},
    {kGat, false, 1, 12, false, kOwn, false, kNarrow, 2, kZeroCopyRows, kClip},
    {kFourHeads, true, 2, 12, true, kEluBatch, true, kAll, 1, kOnDevice, kWeights},
    {kFourHeads, false, 3, 40, false, kReluNone, false, kWide, 2, kStagedRows, kClip},
    {kFourHeads, true, 1, 32, false, kLeaky, true, kNarrow, 2, kZeroCopyRows, kPlain},
    {kFourHeads, false, 3, 12, false, kOwn, true, kNarrow, 2, kOnDevice, kClipAndWeights},
    {kGin, true, 1, 12, false, kOwn, false, kNarrow, 1, kStagedRows, kClip},
    {kGin, false, 3, 40, true, kEluBatch, true, kNarrow, 2, kOnDevice, kPlain},
    {kGin, false, 2, 32, false, kLeaky, false, kAll, 1, kZeroCopyRows, kWeights},
    {kGin, true, 3, 12, false, kReluNone, false, kWide, 1, kStagedRows, kClipAndWeights},
    {kSageRi, false, 3, 12, false, kOwn, false, kWide, 2, kOnDevice, kPlain},
    {kSageRi, true, 2, 32, true, kReluNone, true, kNarrow, 1, kZeroCopyRows, kClip},
    {kSageRi, true, 1, 40, false, kEluBatch, false, kAll, 1, kStagedRows, kClipAndWeights},
    {kSageRi, true, 1, 32, false, kLeaky, true, kWide, 1, kOnDevice, kWeights},
};

ModelOptions ModelOf(const Row& row) {
  ModelOptions model;
  switch (row.kind) {
    case kSage: break;
    case kSum: model.aggregation = "sum"; break;
    case kMax: model.aggregation = "max"; break;
    case kGat: model.kind = "gat"; break;
    case kFourHeads:
      model.kind = "gat";
      model.heads = 4;
      break;
    case kGin: model.kind = "gin"; break;
    case kSageRi: model.kind = "sage-ri"; break;
  }
  switch (row.between) {
    case kOwn: break;
    case kEluBatch:
      model.activation = "elu";
      model.norm = "batch";
      break;
    case kReluNone:
      model.activation = "relu";
      model.norm = "none";
      break;
    case kLeaky: model.activation = "leaky_relu"; break;
  }
  model.layers = row.layers;
  model.hidden = row.hidden;
  model.dropout = row.dropout ? -1 : 0;
  return model;
}

DumpedEngine EngineOf(const Row& row, size_t number) {
  constexpr int32_t kNarrowFanouts[] = {4, 3, 5}, kWideFanouts[] = {6, 35, 40};
  DumpedEngine engine;
  engine.name = fmt::format("pairs-{:02}", number + 1);
  engine.graph = "synthetic:arxiv?scale=0.001&seed=3";
  engine.model = ModelOf(row);
  engine.requests = row.requests;
  GpuEngineOptions& options = engine.options;
  options.fanouts.clear();
  for (int hop = 0; hop < row.layers; ++hop) {
    options.fanouts.push_back(row.fanouts == kAll    ? kAllNeighbors
                              : row.fanouts == kWide ? kWideFanouts[hop]
                                                     : kNarrowFanouts[hop]);
  }
  options.eval_fanouts = options.fanouts;
  options.batch = 16;
  options.eval_batch = 24;
  options.shards = row.shards;
  options.fp32 = row.fp32;
  options.clip_norm = row.loss == kClip || row.loss == kClipAndWeights ? 1 : 0;
  if (row.loss == kWeights || row.loss == kClipAndWeights) options.class_weights = {2};  // of class 0; others get 1
  if (row.rows != kOnDevice) {
    options.storage.tier = FeatureTier::kCached;
    options.storage.cache_rows = 40;
    options.storage.staging_rows = 64;
    options.storage.misses = row.rows == kStagedRows ? MissPath::kStaged : MissPath::kZeroCopy;
    options.storage.threads = 1;
  }
  return engine;
}

// Watches graphs as long as it lives, so that every return from the function ends the watching.
struct Watching {
  explicit Watching(std::function<void(cudaGraph_t)> watch) { WatchGraphs(std::move(watch)); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  ~Watching() { WatchGraphs({}); }
};

}  // namespace

std::vector<DumpedEngine> PublishedEngines(const std::string& graph, int64_t narrower) {
  const auto engine = [&](const char* kind, int64_t hidden, int32_t batch, std::vector<int32_t> fanouts) {
    DumpedEngine dumped{.name = kind, .graph = graph, .model = {}, .options = {}, .requests = true};
    dumped.model.kind = kind;
    dumped.model.hidden = hidden / narrower;
    dumped.options.fanouts = std::move(fanouts);
    dumped.options.batch = batch;
    return dumped;
  };
  return {engine("sage", 256, 1024, {15, 10, 5}), engine("gat", 256, 1024, {15, 10, 5}),
          engine("gin", 256, 512, {20, 20, 20}), engine("sage-ri", 1024, 1024, {12, 12, 12})};
}

std::vector<DumpedEngine> PairwiseEngines() {
  std::vector<DumpedEngine> engines;
  for (size_t i = 0; i < std::size(kRows); ++i) engines.push_back(EngineOf(kRows[i], i));
  return engines;
}

Result<EngineDump> DumpEngine(const DumpedEngine& wanted) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, wanted.options.storage.tier == FeatureTier::kDevice
                                                                      ? OutlineSyntheticGraph(wanted.graph)
                                                                      : OpenGraph(wanted.graph));
  DumpedEngine made = wanted;
  made.model.in_width = graph->features().width;
  made.model.num_classes = graph->num_classes();
  made.model.layers = static_cast<int>(made.options.fanouts.size());
  made.model.seed = 1;
  made.options.seed = 1;
  if (!made.options.class_weights.empty()) made.options.class_weights.resize(static_cast<size_t>(graph->num_classes()), 1);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Model<float>> model, MakeModel(made.model));

  // Each owner of graphs gets a separate text, because memory that one owner has freed may later belong to the other.
  EngineDump dump;
  const auto add = [&](const std::function<Status()>& capture) -> Status {
    GraphText text(FindMemory);
    Status read_status;
    const Watching watching([&](cudaGraph_t captured) {
      const Result<std::vector<GraphNodeFacts>> nodes = ReadGraph(captured);
      if (nodes.ok()) {
        text.Add(*nodes);
      } else if (read_status.ok()) {
        read_status = nodes.status();
      }
    });
    HONE_RETURN_IF_ERROR(capture());
    dump.text += text.Text();
    dump.graphs += text.graphs();
    dump.nodes += text.nodes();
    return read_status;
  };
  HONE_RETURN_IF_ERROR(add([&]() -> Status {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<GpuEngine> engine, MakeGpuEngine(*graph, *model, made.options));
    // Runs one step, which is enough to capture it.
    return engine->Evaluate(graph->test_nodes().first(1), nullptr).status();
  }));
  if (made.requests) {
    LatencyOptions options;
    options.fanouts = made.options.fanouts;
    options.fp32 = made.options.fp32;
    options.seed = made.options.seed;
    HONE_RETURN_IF_ERROR(add([&] { return LatencyPredictor::Make(*graph, *model, options).status(); }));
  }
  return dump;
}

}  // namespace hone::gnn::cuda
