// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a registered operation gets the features of its batch's edges: in training, after a checkpoint, in sampled
// and in exact inference. In the graphs of these tests only the edges tell a node's class.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files/file.h"
#include "gnn/nn/op_plants_spec.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

// The neighbors of a node are of arbitrary classes (inside = 0), and node features are nearly all noise.
std::shared_ptr<const Graph> GraphOfEdges(int edge_width) {
  return CommunityGraph({.nodes = 900, .classes = 4, .degree = 8, .inside = 0, .noise = 5, .edge_width = edge_width});
}

class EdgeFeaturesTraining : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(RegisterOp(std::make_unique<PlantedKind>(Plant::kNone)).ok()); }
  static TrainOptions Options(int epochs) {
    return {.fanouts = {4, 4},
            .eval_fanouts = {8, 8},
            .batch = 32,
            .shards = 2,
            .epochs = epochs,
            .learning_rate = 0.01,
            .seed = 11};
  }
  // Trains for some epochs; returns the best share of the validation nodes that was right.
  static double Train(const std::shared_ptr<const Graph>& graph, int epochs, const std::string& checkpoint) {
    auto trainer = MakeTrainer(graph, PlantedModel(3), Options(epochs), {.threads = 2, .checkpoint = checkpoint});
    EXPECT_TRUE(trainer.ok()) << trainer.status().message();
    const auto result = (*trainer)->Run({});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result->best_valid;
  }
};

TEST_F(EdgeFeaturesTraining, AModelLearnsWhatOnlyTheEdgesTell) {
  const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
  const double loss_with_features = Train(GraphOfEdges(4), 6, folder.path());
  EXPECT_GT(loss_with_features, 0.85);
  // A quarter of the nodes would be right by chance.
  EXPECT_LT(Train(GraphOfEdges(0), 6, folder.path()), 0.5);
}

TEST_F(EdgeFeaturesTraining, ACheckpointGoesOnToTheBitAndPredictsAsItsGraphDemands) {
  const auto graph = GraphOfEdges(4);
  const TemporaryDirectory whole_folder = std::move(MakeTemporaryDirectory()).value();
  const TemporaryDirectory parts = std::move(MakeTemporaryDirectory()).value();
  Train(graph, 4, whole_folder.path());
  Train(graph, 2, parts.path());
  auto resumed = ResumeTrainer(graph, parts.path(), {.threads = 1, .checkpoint = parts.path()}, 4);
  ASSERT_TRUE(resumed.ok()) << resumed.status().message();
  ASSERT_TRUE((*resumed)->Run({}).ok());
  EXPECT_EQ(ReadFile(parts.path() + "/last.safetensors").value(),
            ReadFile(whole_folder.path() + "/last.safetensors").value());

  const LoadedModel loaded = LoadModel(whole_folder.path(), {}).value();
  EXPECT_EQ(loaded.model->options().edge_width, 4);
  // Every neighbor, from samples and layer by layer, are the same edges in the same order.
  PredictOptions options;
  options.fanouts = {kAllNeighbors, kAllNeighbors};
  const auto sampled = Predict(graph, *loaded.model, graph->test_nodes(), options);
  ASSERT_TRUE(sampled.ok()) << sampled.status().message();
  options.exact = true;
  options.chunk_bytes = 4096;  // many chunks
  const auto exact = Predict(graph, *loaded.model, graph->test_nodes(), options);
  ASSERT_TRUE(exact.ok()) << exact.status().message();
  ASSERT_EQ(exact->logits.size(), sampled->logits.size());
  for (size_t i = 0; i < exact->logits.size(); ++i) {
    ASSERT_NEAR(exact->logits[i], sampled->logits[i], 1e-4f * (1 + std::abs(sampled->logits[i]))) << i;
  }
  EXPECT_GT(Accuracy(PredictedClasses(*exact), graph->test_nodes(), graph->labels()), 0.85);

  const auto loss_without_features = GraphOfEdges(0);
  EXPECT_THAT(
      Predict(loss_without_features, *loaded.model, loss_without_features->test_nodes(), options).status().message(),
      HasSubstr("0 features an edge and the model was made for 4"));
  EXPECT_THAT(ResumeTrainer(loss_without_features, whole_folder.path(), {}).status().message(),
              HasSubstr("another graph"));
}

// Gradients in double, through two hops of gathered edge features, against central differences.
TEST_F(EdgeFeaturesTraining, GradientsOfAWholeModelAreThoseOfFiniteDifferences) {
  const auto graph = GraphOfEdges(3);
  ModelOptions options = PlantedModel(5);
  options.in_width = graph->features().width;
  options.num_classes = graph->num_classes();
  options.edge_width = 3;
  EXPECT_TRUE(ReadsEdgeFeatures(options));
  const auto model = std::move(MakeDoubleModel(options)).value();
  NeighborSample sample;
  const CsrView structure = graph->structure();
  const auto sampler = std::move(MakeNeighborSampler(structure, {.fanouts = {3, 2}, .edges = true})).value();
  ASSERT_TRUE(sampler->Sample(std::vector<NodeId>{5, 9, 100, 0}, {.seed = 2}, sample).ok());
  std::vector<double> x;
  for (const NodeId v : sample.nodes) {
    const auto* row = reinterpret_cast<const float*>(graph->features().Row(v));
    x.insert(x.end(), row, row + options.in_width);
  }
  const Matrix<double> rows{x.data(), sample.num_nodes(), options.in_width, options.in_width};
  const FeatureView edge_features = graph->edge_features();
  const LayerContext context{
      .training = true, .nodes = sample.nodes, .graph = &structure, .edge_features = &edge_features};
  const auto state = model->MakeState();
  std::vector<double> logits(4 * 4), weights;
  for (size_t i = 0; i < logits.size(); ++i) weights.push_back(static_cast<double>(i % 5) - 1.5);
  const auto objective = [&] {
    model->Forward(sample, rows, {logits.data(), 4, 4, 4}, *state, context);
    double sum = 0;
    for (size_t i = 0; i < logits.size(); ++i) sum += weights[i] * logits[i];
    return sum;
  };
  objective();
  std::vector<double> grad = weights;
  model->Backward(sample, rows, {grad.data(), 4, 4, 4}, *state, context);
  for (Parameter<double>* p : model->parameters()) {
    if (!p->trainable()) continue;
    for (size_t i = 0; i < p->value.size(); i += 7) {
      const double before = p->value[i], step = 1e-6;
      p->value[i] = before + step;
      const double above = objective();
      p->value[i] = before - step;
      const double below = objective();
      p->value[i] = before;
      const double expected = (above - below) / (2 * step);
      EXPECT_NEAR(p->gradient[i], expected, 1e-4 * (1 + std::abs(expected))) << p->name << " " << i;
    }
  }
}

TEST_F(EdgeFeaturesTraining, AnOperationThatCannotDoWithoutIsRefusedByName) {
  class Needs final : public OpKind {
   public:
    std::string_view name() const override { return "needs_edges"; }
    bool aggregates() const override { return true; }
    EdgeFeatureUse edge_features() const override { return EdgeFeatureUse::kNeeded; }
    Result<int64_t> Width(int64_t in, int64_t, const OpOptions&) const override { return in; }
    std::unique_ptr<Layer<float>> MakeLayer(const OpPlace& place) const override {
      return std::make_unique<PlantedSum<float>>(place, Plant::kNone);
    }
    std::unique_ptr<Layer<double>> MakeDoubleLayer(const OpPlace& place) const override {
      return std::make_unique<PlantedSum<double>>(place, Plant::kNone);
    }
  };
  class ByRow final : public OpKind {
   public:
    std::string_view name() const override { return "by_row"; }
    bool aggregates() const override { return false; }
    EdgeFeatureUse edge_features() const override { return EdgeFeatureUse::kIfThere; }
    Result<int64_t> Width(int64_t in, int64_t, const OpOptions&) const override { return in; }
    std::unique_ptr<Layer<float>> MakeLayer(const OpPlace&) const override { return nullptr; }
    std::unique_ptr<Layer<double>> MakeDoubleLayer(const OpPlace&) const override { return nullptr; }
  };
  EXPECT_THAT(RegisterOp(std::make_unique<ByRow>()).message(), HasSubstr("only an aggregation has edges"));
  ASSERT_TRUE(RegisterOp(std::make_unique<Needs>()).ok());
  const ModelSpec spec = ParseModelSpec(R"(name = "mine"
values = [
  {name = "s", op = "needs_edges", of = "x"},
  {name = "h", op = "linear", of = "s", width = "classes"},
])",
                                        "mine.toml")
                             .value();
  const ModelOptions options = SpecOptions(std::make_shared<const ModelSpec>(spec), 1);
  TrainOptions train = Options(1);
  train.fanouts = train.eval_fanouts = {4};
  EXPECT_THAT(MakeTrainer(GraphOfEdges(0), options, train, {}).status().message(),
              testing::AllOf(HasSubstr("value 's' (needs_edges)"), HasSubstr("--edge-features")));
  EXPECT_TRUE(MakeTrainer(GraphOfEdges(2), options, train, {}).ok());
}

}  // namespace
}  // namespace hone::gnn
