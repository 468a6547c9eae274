// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests users' own models on small graphs. They learn what needs edges, resume from a checkpoint to the bit, are read
// back with their spec, and predict exactly. A checkpoint of another spec is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"
#include "hone/gnn/trainer.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

ModelSpec Example(const std::string& name) {
  return ReadModelSpec(HONE_SOURCE_DIR "/examples/gnn_models/" + name + ".toml").value();
}

ModelOptions OptionsOf(ModelSpec spec, uint64_t seed = 3) {
  const int layers = LayersOf(spec).value();
  ModelOptions options = SpecOptions(std::make_shared<const ModelSpec>(std::move(spec)), layers);
  options.seed = seed;
  return options;
}

TrainOptions Options(int epochs) {
  return {
      .fanouts = {5, 5}, .eval_fanouts = {10, 10}, .batch = 128, .epochs = epochs, .learning_rate = 0.01, .seed = 11};
}

std::vector<float> ModelWeights(Trainer& trainer) {
  std::vector<float> parameter_values;
  for (const Parameter<float>* p : trainer.model().parameters())
    parameter_values.insert(parameter_values.end(), p->value.begin(), p->value.end());
  return parameter_values;
}

TEST(SpecTraining, LearnsWhatTheFeaturesAloneDoNotTellAndGoesOnToTheBit) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 1200, .classes = 4, .noise = 4});
  std::vector<int32_t> nearest;
  for (const NodeId v : graph->test_nodes()) nearest.push_back(NearestCentroid(*graph, v));
  const double without_edges = Accuracy(nearest, graph->test_nodes(), graph->labels());
  for (const char* name : {"gcn", "residual_gat", "mixed"}) {
    SCOPED_TRACE(name);
    const ModelOptions options = OptionsOf(Example(name));
    const TemporaryDirectory whole_folder = std::move(MakeTemporaryDirectory()).value();
    const TemporaryDirectory parts = std::move(MakeTemporaryDirectory()).value();
    auto trainer = MakeTrainer(graph, options, Options(6), {.threads = 2, .checkpoint = whole_folder.path()});
    ASSERT_TRUE(trainer.ok()) << trainer.status().message();
    ASSERT_TRUE((*trainer)->Run({}).ok());

    // Trains half of the epochs, and the rest from the checkpoint, on another number of threads.
    auto half_trained = MakeTrainer(graph, options, Options(3), {.threads = 1, .checkpoint = parts.path()});
    ASSERT_TRUE(half_trained.ok());
    ASSERT_TRUE((*half_trained)->Run({}).ok());
    auto resumed = ResumeTrainer(graph, parts.path(), {.threads = 2, .checkpoint = parts.path()}, 6);
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    ASSERT_TRUE((*resumed)->Run({}).ok());
    EXPECT_EQ(ModelWeights(**resumed), ModelWeights(**trainer));
    EXPECT_EQ(ReadFile(parts.path() + "/last.safetensors").value(),
              ReadFile(whole_folder.path() + "/last.safetensors").value());

    const Result<LoadedModel> loaded = LoadModel(whole_folder.path() + "/last.safetensors", {});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    ASSERT_NE(loaded->model->options().spec, nullptr);
    EXPECT_EQ(*loaded->model->options().spec, *options.spec);
    const Result<Predictions> exact = Predict(graph, *loaded->model, graph->test_nodes(), {.exact = true});
    ASSERT_TRUE(exact.ok()) << exact.status().message();
    const double with_edges = Accuracy(PredictedClasses(*exact), graph->test_nodes(), graph->labels());
    EXPECT_GT(with_edges, without_edges + 0.1);
    // Samples with every neighbor give the same values, summed in another order.
    const Result<Predictions> sampled =
        Predict(graph, *loaded->model, graph->test_nodes(), {.fanouts = {kAllNeighbors, kAllNeighbors}});
    ASSERT_TRUE(sampled.ok());
    for (size_t i = 0; i < exact->logits.size(); ++i) {
      ASSERT_NEAR(exact->logits[i], sampled->logits[i], 1e-4 * (1 + std::abs(exact->logits[i])));
    }
  }
}

TEST(SpecTraining, InitialWeightsOfAnotherSpecAreNamed) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
  auto trainer = MakeTrainer(graph, OptionsOf(Example("gcn")), Options(1), {.checkpoint = folder.path()});
  ASSERT_TRUE(trainer.ok());
  ASSERT_TRUE((*trainer)->Save(folder.path() + "/gcn.safetensors").ok());
  const std::string init = folder.path() + "/gcn.safetensors";
  // Weights that fit are accepted.
  auto again = MakeTrainer(graph, OptionsOf(Example("gcn"), 99), Options(1), {}, init);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(ModelWeights(**again), ModelWeights(**trainer));

  ModelSpec wider = Example("gcn");
  std::get<LinearSpec>(wider.values[1].operation).width = 40;
  const Status width = MakeTrainer(graph, OptionsOf(wider), Options(1), {}, init).status();
  EXPECT_EQ(width.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(width.message(), HasSubstr("a checkpoint of another spec, 'gcn'"));
  EXPECT_THAT(width.message(), HasSubstr("value 2 ('h0'): width = 32 in the one, width = 40 in the other"));
  ModelOptions sage;
  sage.layers = 2;
  EXPECT_THAT(MakeTrainer(graph, sage, Options(1), {}, init).status().message(),
              HasSubstr("It is a checkpoint of model 'gcn', not of 'sage'"));
}

}  // namespace
}  // namespace hone::gnn
