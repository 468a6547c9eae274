// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// gnn_own_operation MODEL.toml [cpu|cuda] shows a model with an operation of your own (gatv2.h), which reads the
// features of edges. The operation is checked against the rules of hone/gnn/op.h. The model is trained on a graph whose
// edges have no features and on one whose edges have some: in steps of two shards, continued from its checkpoint, and
// asked for predictions: exactly on the CPU, and with cuda also from samples and by a request on the GPU. Exit status 1
// if a check finds something, a model does not learn, or the GPU's answers differ from the CPU's.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gatv2.h"
#include "hone/gnn/op_conformance.h"
#include "hone/gnn/predictor.h"
#include "hone/gnn/trainer.h"
#ifdef EXAMPLE_HAS_CUDA
#include "hone/gnn/device.h"
#endif

using namespace hone::gnn;  // NOLINT: an example, not a header

namespace {

int Fail(const hone::Status& status) {
  std::fprintf(stderr, "gnn_own_operation: %s\n", status.message().c_str());
  return status.code() == hone::StatusCode::kInvalidArgument ? 2 : 3;
}

int Report(const char* where, const std::vector<OpFinding>& findings) {
  std::printf("rules of an operation, %s: %s\n", where, findings.empty() ? "kept" : "broken");
  for (const OpFinding& finding : findings) std::printf("  %s: %s\n", finding.rule.c_str(), finding.what.c_str());
  return findings.empty() ? 0 : 1;
}

hone::Result<std::unique_ptr<Trainer>> NewTrainer(bool cuda, const std::shared_ptr<const Graph>& graph,
                                                  const ModelOptions& model, const TrainOptions& options,
                                                  const RunOptions& run) {
#ifdef EXAMPLE_HAS_CUDA
  if (cuda) return MakeDeviceTrainer(graph, model, options, run, {.fp32 = true});
#endif
  (void)cuda;
  return MakeTrainer(graph, model, options, run);
}
hone::Result<std::unique_ptr<Trainer>> GoOn(bool cuda, const std::shared_ptr<const Graph>& graph, const RunOptions& run,
                                            int epochs) {
#ifdef EXAMPLE_HAS_CUDA
  if (cuda) return ResumeDeviceTrainer(graph, run.checkpoint, run, {.fp32 = true}, epochs);
#endif
  (void)cuda;
  return ResumeTrainer(graph, run.checkpoint, run, epochs);
}

// Compares the GPU's classes with the CPU's for the same draws, in one batch and in a request. Returns the exit status.
int CompareOnDevice(const std::shared_ptr<const Graph>& graph, Model<float>& model, uint64_t seed) {
#ifdef EXAMPLE_HAS_CUDA
  PredictOptions options;
  options.fanouts = {6, 6};
  options.seed = seed;
  std::vector<NodeId> nodes(graph->test_nodes().begin(), graph->test_nodes().end());
  nodes.resize(std::min<size_t>(nodes.size(), DeviceServer::kMostNodes));
  const auto cpu = Predict(graph, model, nodes, options);
  if (!cpu.ok()) return Fail(cpu.status());
  const auto gpu = PredictOnDevice(*graph, model, nodes, options, {.fp32 = true});
  if (!gpu.ok()) return Fail(gpu.status());
  const auto server = MakeDeviceServer(*graph, model, options, {.fp32 = true});
  if (!server.ok()) return Fail(server.status());
  const auto answer = (*server)->Ask(nodes);
  if (!answer.ok()) return Fail(answer.status());
  const std::vector<int32_t> expected = PredictedClasses(*cpu);
  size_t sampled = 0, asked = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    sampled += expected[i] == (*gpu)[i] ? 1 : 0;
    asked += expected[i] == answer->classes[i] ? 1 : 0;
  }
  std::printf("of %zu nodes, %zu have the CPU's class from a batch on the GPU, and %zu from a request\n", nodes.size(),
              sampled, asked);
  return sampled == nodes.size() && asked == nodes.size() ? 0 : 1;
#else
  (void)graph, (void)model, (void)seed;
  return 0;
#endif
}

// A graph with features of its edges. Programs that read a container with edge features (docs/graphs.md) have them in
// the Graph that OpenGraph returns; here they are computed, two for each edge: the dot product of its nodes' features,
// and the mean of their absolute difference.
class WithEdgeFeatures final : public Graph {
 public:
  explicit WithEdgeFeatures(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {
    const CsrView csr = graph_->structure();
    const FeatureView x = graph_->features();
    const auto row = [&](NodeId v) { return reinterpret_cast<const float*>(x.Row(v)); };
    values_.resize(static_cast<size_t>(csr.num_edges() + kRowsOfALine) * kWidth);
    while (reinterpret_cast<uintptr_t>(values_.data() + first_) % 64 != 0) ++first_;
    float* to = values_.data() + first_;
    for (NodeId v = 0; v < csr.num_nodes; ++v) {
      for (const NodeId u : csr.Neighbors(v)) {
        float dot = 0, difference = 0;
        for (int64_t c = 0; c < x.width; ++c) {
          dot += row(u)[c] * row(v)[c];
          difference += std::abs(row(u)[c] - row(v)[c]);
        }
        *to++ = dot;
        *to++ = difference / static_cast<float>(x.width);
      }
    }
  }
  FeatureView edge_features() const override {
    return {reinterpret_cast<const std::byte*>(values_.data() + first_), FeatureDtype::kFloat32,
            graph_->structure().num_edges(), kWidth, kWidth * static_cast<int64_t>(sizeof(float))};
  }
  const std::string& name() const override { return graph_->name(); }
  CsrView structure() const override { return graph_->structure(); }
  FeatureView features() const override { return graph_->features(); }
  std::span<const int32_t> labels() const override { return graph_->labels(); }
  int32_t num_classes() const override { return graph_->num_classes(); }
  std::span<const NodeId> train_nodes() const override { return graph_->train_nodes(); }
  std::span<const NodeId> valid_nodes() const override { return graph_->valid_nodes(); }
  std::span<const NodeId> test_nodes() const override { return graph_->test_nodes(); }
  GraphFlags flags() const override { return graph_->flags(); }
  int64_t resident_bytes() const override {
    return graph_->resident_bytes() + static_cast<int64_t>(values_.size() * sizeof(float));
  }

 private:
  static constexpr int64_t kWidth = 2, kRowsOfALine = 8;  // a cache line of 64 bytes has 8 rows
  std::shared_ptr<const Graph> graph_;
  std::vector<float> values_;
  size_t first_ = 0;  // the first row, which is aligned to 64 bytes
};

// Trains, continues and predicts. Returns the exit status.
int TrainAndPredict(bool cuda, const std::shared_ptr<const Graph>& graph, const ModelOptions& model, const char* file) {
  TrainOptions options;
  options.fanouts = {5, 5};
  options.eval_fanouts = {10, 10};
  options.batch = 64;
  options.shards = 2;
  options.epochs = 3;
  options.learning_rate = 0.02;
  options.seed = 7;
  RunOptions run;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("gnn_own_operation." + std::to_string(std::filesystem::hash_value(file)) + "." +
                                        std::to_string(reinterpret_cast<uintptr_t>(&run) % 1000003));
  run.checkpoint = folder.string();

  std::vector<double> losses;
  TrainEvents events;
  events.epoch = [&](const EpochReport& epoch) {
    losses.push_back(epoch.loss);
    std::printf("epoch %d  loss %.4f  valid accuracy %.3f\n", epoch.epoch + 1, epoch.loss, epoch.valid_accuracy);
  };
  {
    auto trainer = NewTrainer(cuda, graph, model, options, run);
    if (!trainer.ok()) return Fail(trainer.status());
    const auto trained = (*trainer)->Run(events);
    if (!trained.ok()) return Fail(trained.status());
  }
  double best = 0;
  {
    auto trainer = GoOn(cuda, graph, run, 5);
    if (!trainer.ok()) return Fail(trainer.status());
    const auto trained = (*trainer)->Run(events);
    if (!trained.ok()) return Fail(trained.status());
    best = trained->best_valid;
  }
  const auto loaded = LoadModel(run.checkpoint, {});
  if (!loaded.ok()) return Fail(loaded.status());
  std::vector<NodeId> nodes(graph->test_nodes().begin(), graph->test_nodes().end());
  PredictOptions exact;
  exact.exact = true;
  const auto predicted = Predict(graph, *loaded->model, nodes, exact);
  if (!predicted.ok()) return Fail(predicted.status());
  std::printf("exactly, on the CPU: accuracy %.3f on the test nodes\n",
              Accuracy(PredictedClasses(*predicted), nodes, graph->labels()));
  int wrong = cuda ? CompareOnDevice(graph, *loaded->model, 7) : 0;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  // There are five classes: a model that has learned nothing is right for about a fifth of the nodes.
  if (losses.size() != 5 || losses.back() >= 0.9 * losses.front() || best < 0.4) {
    std::printf("the model did not learn\n");
    wrong = 1;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: gnn_own_operation MODEL.toml [cpu|cuda]\n"), 2;
  const bool cuda = argc > 2 && std::strcmp(argv[2], "cuda") == 0;
#ifdef EXAMPLE_HAS_CUDA
  const MakeDevice device = MakeGatV2OnDevice;
#else
  const MakeDevice device = nullptr;
  if (cuda) return std::fprintf(stderr, "gnn_own_operation: this program was built without CUDA: use cpu\n"), 2;
#endif
  if (const hone::Status status = RegisterOp(MakeGatV2(device)); !status.ok()) return Fail(status);

  // The rules are checked first, because an operation that breaks one may train well for a while.
  int wrong = 0;
  for (const int64_t edge_columns : {0, 3}) {
    const OpCheck check{.in = 2 * 3 * 5, .edge_columns = edge_columns, .options = {{"heads", 3}, {"dropout", 0.3}}};
    const auto findings = CheckOp(*FindOp("gatv2"), check);
    if (!findings.ok()) return Fail(findings.status());
    wrong |= Report("CPU", *findings);
#ifdef EXAMPLE_HAS_CUDA
    if (cuda) {
      const auto on_device = CheckOpOnDevice(*FindOp("gatv2"), check);
      if (!on_device.ok()) return Fail(on_device.status());
      wrong |= Report("GPU", *on_device);
    }
#endif
  }

  const auto graph = OpenGraph("synthetic:arxiv?nodes=1000&seed=3&features=16&classes=5&dtype=float32");
  if (!graph.ok()) return Fail(graph.status());
  auto spec = ReadModelSpec(argv[1]);
  if (!spec.ok()) return Fail(spec.status());
  const auto layers = LayersOf(*spec);
  if (!layers.ok()) return Fail(layers.status());
  ModelOptions model = SpecOptions(std::make_shared<const ModelSpec>(std::move(*spec)), *layers);
  model.seed = 1;
  for (const bool edge_features : {false, true}) {
    std::printf("%s\n",
                edge_features ? "the same graph, whose edges have two features" : "a graph whose edges have none");
    const std::shared_ptr<const Graph> used =
        edge_features ? std::make_shared<const WithEdgeFeatures>(*graph) : std::shared_ptr<const Graph>(*graph);
    const int status = TrainAndPredict(cuda, used, model, argv[1]);
    if (status > 1) return status;
    wrong |= status;
  }
  return wrong;
}
