// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes logits from embeddings by hand, and compares. (Built into the training tests, whose graphs it uses.)
#include "gnn/infer/embeddings.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "gnn/train/test_graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

std::unique_ptr<Model<float>> PublishedModel(const char* kind, const Graph& graph, int layers) {
  ModelOptions options;
  options.kind = kind;
  options.in_width = graph.features().width;
  options.hidden = 24;
  options.num_classes = graph.num_classes();
  options.layers = layers;
  options.seed = 5;
  return MakeModel(options).value();
}
std::unique_ptr<Model<float>> ExampleModel(const std::string& name, const Graph& graph) {
  auto spec = std::make_shared<const ModelSpec>(
      ReadModelSpec(HONE_SOURCE_DIR "/examples/gnn_models/" + name + ".toml").value());
  ModelOptions options = SpecOptions(spec, LayersOf(*spec).value());
  options.in_width = graph.features().width;
  options.num_classes = graph.num_classes();
  options.seed = 5;
  return MakeModel(options).value();
}
const std::vector<float>& WeightNamed(Model<float>& model, const std::string& name) {
  for (const Parameter<float>* parameter : model.parameters()) {
    if (parameter->name == name) return parameter->value;
  }
  ADD_FAILURE() << "no parameter " << name;
  static const std::vector<float> none;
  return none;
}
std::vector<NodeId> EveryNode(const Graph& graph) {
  std::vector<NodeId> nodes(static_cast<size_t>(graph.structure().num_nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}
Predictions PredictExactly(const std::shared_ptr<const Graph>& graph, Model<float>& model) {
  return Predict(graph, model, EveryNode(*graph), {.exact = true}).value();
}
// Returns row * weight^T, where `weight` is [columns, row.size()].
std::vector<double> TimesTransposed(const std::vector<double>& row, const std::vector<float>& weight) {
  std::vector<double> out(weight.size() / row.size());
  for (size_t c = 0; c < out.size(); ++c) {
    for (size_t i = 0; i < row.size(); ++i) out[c] += row[i] * static_cast<double>(weight[c * row.size() + i]);
  }
  return out;
}
std::vector<double> RowOf(const Predictions& rows, NodeId node) {
  const auto begin = rows.logits.begin() + node * rows.num_classes;
  return {begin, begin + rows.num_classes};
}
// Sums of a few dozen floats in another order; one wrong neighbor changes a logit by much more.
void ExpectNear(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t c = 0; c < a.size(); ++c) ASSERT_NEAR(a[c], b[c], 1e-4 * (1 + std::abs(b[c]))) << what << " class " << c;
}

TEST(Embeddings, OfTheLayerBeforeTheLastGiveTheLogitsOfGraphSage) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  const auto model = PublishedModel("sage", *graph, 3);
  EmbeddingModel embedding_model = MakeEmbeddingModel(*model, "2").value();
  EXPECT_EQ(embedding_model.value, "act1");
  EXPECT_EQ(embedding_model.model->options().layers, 2);
  const Predictions rows = PredictExactly(graph, *embedding_model.model), logits = PredictExactly(graph, *model);
  ASSERT_EQ(rows.num_classes, 24);
  for (const NodeId v : {0, 1, 17, 299}) {
    std::vector<double> mean(24);
    const auto neighbors = graph->structure().Neighbors(v);
    for (const NodeId u : neighbors) {
      const std::vector<double> row = RowOf(rows, u);
      for (size_t c = 0; c < mean.size(); ++c) mean[c] += row[c] / static_cast<double>(neighbors.size());
    }
    std::vector<double> expected = TimesTransposed(mean, WeightNamed(*model, "convs.2.lin_l.weight"));
    const std::vector<double> own = TimesTransposed(RowOf(rows, v), WeightNamed(*model, "convs.2.lin_r.weight"));
    for (size_t c = 0; c < expected.size(); ++c) expected[c] += own[c];
    ExpectNear(expected, RowOf(logits, v), "node " + std::to_string(v));
  }
}

TEST(Embeddings, OfTheLastLayerAreWhatTheHeadReads) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  struct {
    std::unique_ptr<Model<float>> model;
    const char* value;
    std::string head;
  } cases[] = {{PublishedModel("gin", *graph, 3), "head-act", "lin2"},
               {PublishedModel("sage-ri", *graph, 3), "middle", "mlp.module_list.1"},
               {ExampleModel("mixed", *graph), "rows", "logits"},
               {ExampleModel("residual_gat", *graph), "jump", "logits"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.value);
    EmbeddingModel embedding_model =
        MakeEmbeddingModel(*one.model, std::to_string(one.model->options().layers)).value();
    EXPECT_EQ(embedding_model.value, one.value);
    const Predictions rows = PredictExactly(graph, *embedding_model.model), logits = PredictExactly(graph, *one.model);
    const std::vector<float>& bias = WeightNamed(*one.model, one.head + ".bias");
    for (const NodeId v : {0, 1, 17, 299}) {
      std::vector<double> expected = TimesTransposed(RowOf(rows, v), WeightNamed(*one.model, one.head + ".weight"));
      for (size_t c = 0; c < expected.size(); ++c) expected[c] += static_cast<double>(bias[c]);
      ExpectNear(expected, RowOf(logits, v), "node " + std::to_string(v));
    }
  }
}

TEST(Embeddings, FromSamplesOfAllNeighborsAreTheExactOnes) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    SCOPED_TRACE(kind);
    const auto model = PublishedModel(kind, *graph, 3);
    for (const char* layer : {"1", "2"}) {
      EmbeddingModel embedding_model = MakeEmbeddingModel(*model, layer).value();
      const int hops = embedding_model.model->options().layers;
      EXPECT_EQ(hops, layer[0] - '0');
      const Predictions exact = PredictExactly(graph, *embedding_model.model);
      PredictOptions options;
      options.fanouts.assign(static_cast<size_t>(hops), kAllNeighbors);
      const Predictions sampled = Predict(graph, *embedding_model.model, EveryNode(*graph), options).value();
      ExpectNear(std::vector<double>(sampled.logits.begin(), sampled.logits.end()),
                 std::vector<double>(exact.logits.begin(), exact.logits.end()), layer);
    }
  }
}

TEST(Embeddings, OfAFileAreNamedByLayerOrByValue) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 200});
  const auto gcn = ExampleModel("gcn", *graph);
  // h1 narrows the rows for the second layer's neighbors; d0 does nothing in inference.
  EXPECT_EQ(MakeEmbeddingModel(*gcn, "1")->value, "r0");
  EXPECT_EQ(MakeEmbeddingModel(*gcn, "d0")->value, "r0");
  EXPECT_EQ(MakeEmbeddingModel(*gcn, "h1")->model->options().num_classes, graph->num_classes());
  const auto refusal = [&](Model<float>& model, const char* which) {
    const Result<EmbeddingModel> embedding_model = MakeEmbeddingModel(model, which);
    EXPECT_EQ(embedding_model.status().code(), StatusCode::kInvalidArgument);
    return embedding_model.status().message();
  };
  EXPECT_THAT(refusal(*gcn, "0"), HasSubstr("model 'gcn' has layers 1 to 2"));
  EXPECT_THAT(refusal(*gcn, "3"), HasSubstr("model 'gcn' has layers 1 to 2"));
  EXPECT_THAT(refusal(*gcn, "2"), HasSubstr("gives the logits, with no head behind it: say --logits"));
  EXPECT_THAT(refusal(*gcn, "a1"), HasSubstr("these are the logits"));
  EXPECT_THAT(refusal(*gcn, "r1"), HasSubstr("has no such value (did you mean 'r0'?); it has a0, h0, r0, d0, h1, a1"));
  EXPECT_THAT(refusal(*ExampleModel("residual_gat", *graph), "in"), HasSubstr("a node's own features alone"));
}

}  // namespace
}  // namespace hone::gnn
