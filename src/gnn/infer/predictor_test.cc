// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares sampled and exact inference. (Built into the training tests, whose graphs it uses.)
#include "hone/gnn/predictor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/files/file.h"
#include "gnn/infer/state_dict.h"
#include "gnn/train/test_graph.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {
namespace {

ModelOptions SmallModel(const char* kind, const Graph& graph, int layers = 3) {
  return {.kind = kind,
          .in_width = graph.features().width,
          .hidden = 24,
          .num_classes = graph.num_classes(),
          .layers = layers,
          .heads = 1,
          .seed = 5};
}

std::vector<NodeId> AllNodes(const Graph& graph) {
  std::vector<NodeId> nodes(static_cast<size_t>(graph.structure().num_nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

class Predicting : public testing::TestWithParam<const char*> {};

// The same few dozen floats are summed in another order, through three layers: 1e-4 of the largest logit is generous to
// rounding (about 3 * sqrt(50) * 6e-8) and far below the effect of one missing edge.
TEST_P(Predicting, SamplesOfAllNeighborsAreExact) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 400});
  for (int layers : {1, 3}) {
    const std::unique_ptr<Model<float>> model = MakeModel(SmallModel(GetParam(), *graph, layers)).value();
    const std::vector<NodeId> nodes = AllNodes(*graph);
    PredictOptions options;
    options.fanouts.assign(static_cast<size_t>(layers), kAllNeighbors);
    options.batch = 64;
    const Predictions sampled = Predict(graph, *model, nodes, options).value();
    options.exact = true;
    options.chunk_bytes = 10000;
    const Predictions exact = Predict(graph, *model, nodes, options).value();
    ASSERT_EQ(sampled.logits.size(), exact.logits.size());
    ASSERT_EQ(exact.logits.size(), static_cast<size_t>(400 * graph->num_classes()));
    const float largest_magnitude = std::abs(*std::max_element(
        exact.logits.begin(), exact.logits.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
    ASSERT_GT(largest_magnitude, 0);
    for (size_t i = 0; i < exact.logits.size(); ++i) {
      ASSERT_NEAR(sampled.logits[i], exact.logits[i], 1e-4 * largest_magnitude) << GetParam() << " " << i;
    }
  }
}

TEST_P(Predicting, DoesNotDependOnThreadsChunksOrWhatElseIsAsked) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 500});
  const std::unique_ptr<Model<float>> model = MakeModel(SmallModel(GetParam(), *graph)).value();
  const Predictions predictions_of_all =
      Predict(graph, *model, AllNodes(*graph), {.exact = true, .threads = 1}).value();
  const float scale =
      1 + *std::max_element(predictions_of_all.logits.begin(), predictions_of_all.logits.end());  // GIN's sums grow
  const std::vector<NodeId> node_ids = {499, 0, 7, 7, 123};
  const Predictions predictions_of_few =
      Predict(graph, *model, node_ids, {.exact = true, .chunk_bytes = 4000, .threads = 3}).value();
  for (size_t i = 0; i < node_ids.size(); ++i) {
    for (int64_t c = 0; c < predictions_of_all.num_classes; ++c) {
      ASSERT_NEAR(
          predictions_of_few.logits[i * static_cast<size_t>(predictions_of_all.num_classes) + static_cast<size_t>(c)],
          predictions_of_all.logits[static_cast<size_t>(node_ids[i] * predictions_of_all.num_classes + c)],
          1e-5 * scale)
          << GetParam() << " node " << node_ids[i];
    }
  }
  const PredictOptions sampled{.fanouts = {4, 4, 4}, .batch = 100, .seed = 3, .threads = 1};
  PredictOptions more_options = sampled;
  more_options.threads = 3;
  EXPECT_EQ(Predict(graph, *model, AllNodes(*graph), sampled)->logits,
            Predict(graph, *model, AllNodes(*graph), more_options)->logits);
}

INSTANTIATE_TEST_SUITE_P(Models, Predicting, testing::Values("sage", "gat", "gin", "sage-ri"),
                         [](const auto& i) { return std::string(i.param) == "sage-ri" ? "sage_ri" : i.param; });

TEST(Predict, DealsOutListsInAnyOrderAndWithRepeats) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  const std::unique_ptr<Model<float>> model = MakeModel(SmallModel("sage", *graph)).value();
  const PredictOptions options{.fanouts = {5, 5, 5}};
  const std::vector<NodeId> sorted = {3, 50, 299}, listed = {299, 3, 299, 50};
  const Predictions a = Predict(graph, *model, sorted, options).value();
  const Predictions b = Predict(graph, *model, listed, options).value();
  const auto row = [](const Predictions& p, int64_t i) {
    return std::vector<float>(p.logits.begin() + i * p.num_classes, p.logits.begin() + (i + 1) * p.num_classes);
  };
  EXPECT_EQ(row(b, 0), row(a, 2));
  EXPECT_EQ(row(b, 1), row(a, 0));
  EXPECT_EQ(row(b, 2), row(a, 2));
  EXPECT_EQ(row(b, 3), row(a, 1));
  const Predictions repeated = Predict(graph, *model, std::vector<NodeId>{3, 3, 50, 299, 299}, options).value();
  ASSERT_EQ(repeated.num_nodes, 5);
  for (const auto& [at, of] : {std::pair{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}})
    EXPECT_EQ(row(repeated, at), row(a, of));
}

TEST(Predict, KeepsActivationsInAFileWhenAsked) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 300});
  const std::unique_ptr<Model<float>> model = MakeModel(SmallModel("gin", *graph)).value();
  TemporaryDirectory scratch = std::move(MakeTemporaryDirectory()).value();
  const Predictions memory = Predict(graph, *model, AllNodes(*graph), {.exact = true}).value();
  const Predictions file = Predict(graph, *model, AllNodes(*graph), {.exact = true, .scratch = scratch.path()}).value();
  EXPECT_EQ(memory.logits, file.logits);
  const Status status = Predict(graph, *model, AllNodes(*graph), {.exact = true, .scratch = "/proc/none"}).status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
}

TEST(Predict, RefusesWhatDoesNotBelongTogether) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 100});
  const std::unique_ptr<Model<float>> model = MakeModel(SmallModel("sage", *graph)).value();
  const auto message = [&](std::shared_ptr<const Graph> other, std::vector<NodeId> nodes, PredictOptions options) {
    const Result<Predictions> result = Predict(std::move(other), *model, nodes, options);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    return result.status().message();
  };
  EXPECT_NE(message(graph, {0}, {.fanouts = {5}}).find("1 hop and the model 3 layers"), std::string::npos);
  EXPECT_NE(message(graph, {0}, {.fanouts = {5, 0, 5}}).find("fanout"), std::string::npos);
  EXPECT_NE(message(graph, {100}, {}).find("node 100"), std::string::npos);
  EXPECT_NE(message(graph, {-1}, {.exact = true}).find("node -1"), std::string::npos);
  EXPECT_NE(message(CommunityGraph({.nodes = 100, .width = 8}), {0}, {}).find("made for 12"), std::string::npos);
  EXPECT_NE(message(CommunityGraph({.nodes = 100, .features = false}), {0}, {}).find("features of 0"),
            std::string::npos);
}

TEST(Predict, TurnsLogitsIntoClassesProbabilitiesAndAccuracy) {
  Predictions p{2, 3, {1, 3, 3, 1000, 0, 0}, {}};
  EXPECT_EQ(PredictedClasses(p), (std::vector<int32_t>{1, 0}));  // the lowest class among equals
  const std::vector<NodeId> nodes = {4, 0};
  const std::vector<int32_t> labels = {0, 9, 9, 9, 2};
  EXPECT_EQ(Accuracy(PredictedClasses(p), nodes, labels), 0.5);
  EXPECT_TRUE(std::isnan(Accuracy(PredictedClasses(p), nodes, {})));
  LogitsToProbabilities(p);
  EXPECT_NEAR(p.logits[1], std::exp(2.0) / (1 + 2 * std::exp(2.0)), 1e-6);
  EXPECT_EQ(p.logits[3], 1.0f);
}

// A state_dict as other programs save it: other order, a prefix on every name, counters that are no weights.
TEST(StateDict, TakesWeightsThatAnotherProgramSaved) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 50});
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    const std::unique_ptr<Model<float>> from = MakeModel(SmallModel(kind, *graph)).value();
    ModelOptions options = SmallModel(kind, *graph);
    options.seed = 6;
    const std::unique_ptr<Model<float>> to = MakeModel(options).value();
    TensorFile file;
    AppendParameters(*from, file.tensors);
    std::reverse(file.tensors.begin(), file.tensors.end());
    for (StoredTensor& tensor : file.tensors) tensor.name = "module." + tensor.name;
    if (std::string(kind) == "sage") {
      file.tensors.push_back({"module.bns.0.num_batches_tracked", "I64", {}, std::string(8, '\0')});
    }
    ASSERT_TRUE(LoadParameters(ParseTensorFile(SerializeTensorFile(file), "it").value(), "it", *to).ok()) << kind;
    for (size_t i = 0; i < from->parameters().size(); ++i) {
      EXPECT_EQ(to->parameters()[i]->value, from->parameters()[i]->value) << kind;
    }
    TensorFile extra = file;
    extra.tensors.push_back(MakeFloatTensor("module.more", {0}, {}));
    EXPECT_NE(LoadParameters(extra, "it", *to).message().find("'more'"), std::string::npos);
    file.tensors.erase(file.tensors.begin());
    EXPECT_NE(LoadParameters(file, "it", *to).message().find("has no tensor"), std::string::npos);
  }
}

TEST(StateDict, TakesAndMakesThoseOfStockModels) {
  // The names of torch_geometric.nn.GraphSAGE(…, norm="batch_norm") and GAT(…): a bias in each layer, norms in
  // wrappers.
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 50});
  const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
  for (const char* kind : {"sage", "gat"}) {
    ModelOptions options = SmallModel(kind, *graph);
    options.bias = true;
    options.norm = "batch";
    const std::unique_ptr<Model<float>> from = MakeModel(options).value();
    for (Parameter<float>* p : from->parameters()) {
      if (p->name.ends_with(".bias")) std::fill(p->value.begin(), p->value.end(), 0.25f);
    }
    TensorFile file;
    AppendParameters(*from, file.tensors);
    for (StoredTensor& tensor : file.tensors) {
      if (tensor.name.starts_with("bns.0.")) tensor.name = "norms.0.module." + tensor.name.substr(6);
    }
    const std::string path = folder.path() + "/stock.safetensors";
    ASSERT_TRUE(WriteFileAtomically(path, SerializeTensorFile(file)).ok());
    const LoadedModel loaded = LoadModel(path, SmallModel(kind, *graph)).value();
    EXPECT_TRUE(loaded.model->options().bias) << kind;
    ASSERT_EQ(loaded.model->parameters().size(), from->parameters().size()) << kind;
    for (size_t i = 0; i < from->parameters().size(); ++i) {
      EXPECT_EQ(loaded.model->parameters()[i]->value, from->parameters()[i]->value) << kind;
    }
    const nlohmann::json json = ModelOptionsToJson(options);
    EXPECT_TRUE(ModelOptionsFromJson(json.dump(), "it").value().bias);
  }
  EXPECT_FALSE(ModelOptionsToJson(SmallModel("sage", *graph)).contains("bias"));
}

TEST(StateDict, StockGinLoadsAsASpecAndComputesWhatItsModuleDoes) {
  // torch_geometric.nn.GIN(width, 16, 2, classes): MLPs named nn.lins, no head, no activation at the end.
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 120});
  const int64_t in = graph->features().width, classes = graph->num_classes();
  ModelOptions options = SmallModel("gin", *graph, 2);
  options.spec =
      std::make_shared<const ModelSpec>(ReadModelSpec(HONE_SOURCE_DIR "/examples/gnn_models/pyg_gin.toml").value());
  TensorFile file;
  std::map<std::string, std::vector<float>> values;
  float next = 0;  // arbitrary numbers of both signs that do not repeat soon
  const auto put = [&](const std::string& name, std::vector<int64_t> shape) {
    std::vector<float>& predictions_of_all = values[name];
    int64_t size = 1;
    for (int64_t extent : shape) size *= extent;
    for (int64_t i = 0; i < size; ++i) predictions_of_all.push_back(0.3f * std::sin(next += 0.7f));
    file.tensors.push_back(MakeFloatTensor(name, std::move(shape), predictions_of_all));
  };
  for (int layer = 0; layer < 2; ++layer) {
    const std::string conv = fmt::format("convs.{}.", layer);
    const int64_t from = layer == 0 ? in : 16, to = layer == 0 ? 16 : classes;
    put(conv + "eps", {1});
    put(conv + "nn.lins.0.weight", {to, from});
    put(conv + "nn.lins.0.bias", {to});
    put(conv + "nn.lins.1.weight", {to, to});
    put(conv + "nn.lins.1.bias", {to});
  }
  const TemporaryDirectory folder = std::move(MakeTemporaryDirectory()).value();
  const std::string path = folder.path() + "/gin.safetensors";
  ASSERT_TRUE(WriteFileAtomically(path, SerializeTensorFile(file)).ok());
  const LoadedModel loaded = LoadModel(path, options).value();
  const Predictions predicted = Predict(graph, *loaded.model, AllNodes(*graph), {.exact = true}).value();

  ASSERT_EQ(graph->features().dtype, FeatureDtype::kFloat32);
  const CsrView edges = graph->structure();
  std::vector<std::vector<double>> x(120);
  for (int64_t v = 0; v < 120; ++v) {
    const auto* row = reinterpret_cast<const float*>(graph->features().Row(v));
    x[static_cast<size_t>(v)].assign(row, row + in);
  }
  const auto linear = [&](const std::vector<double>& of, const std::string& name, bool relu) {
    const std::vector<float>&weight = values.at(name + ".weight"), &bias = values.at(name + ".bias");
    std::vector<double> out(bias.begin(), bias.end());
    for (size_t i = 0; i < out.size(); ++i) {
      for (size_t k = 0; k < of.size(); ++k) out[i] += static_cast<double>(weight[i * of.size() + k]) * of[k];
      if (relu) out[i] = std::max(out[i], 0.0);
    }
    return out;
  };
  for (const std::string conv : {"convs.0.", "convs.1."}) {
    std::vector<std::vector<double>> made;
    for (NodeId v = 0; v < 120; ++v) {
      std::vector<double> sum = x[static_cast<size_t>(v)];
      for (double& s : sum) s *= 1.0 + static_cast<double>(values.at(conv + "eps")[0]);
      for (NodeId u : edges.Neighbors(v)) {
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += x[static_cast<size_t>(u)][k];
      }
      made.push_back(linear(linear(sum, conv + "nn.lins.0", true), conv + "nn.lins.1", conv == "convs.0."));
    }
    x = std::move(made);
  }
  double largest_magnitude = 0, worst = 0;
  for (size_t i = 0; i < predicted.logits.size(); ++i) {
    const double expected = x[i / static_cast<size_t>(classes)][i % static_cast<size_t>(classes)];
    largest_magnitude = std::max(largest_magnitude, std::abs(expected));
    worst = std::max(worst, std::abs(expected - static_cast<double>(predicted.logits[i])));
  }
  EXPECT_LT(
      worst,
      1e-5 * largest_magnitude);  // sums of up to two hundred floats: 6e-8 each, times the square root of their number
}

TEST(GraphFingerprint, IsOfTheContent) {
  const auto print = [](const CommunityOptions& options) { return GraphFingerprint(*CommunityGraph(options)); };
  EXPECT_EQ(print({}), print({}));
  EXPECT_NE(print({}), print({.seed = 2}));
  EXPECT_NE(print({}), print({.nodes = 999}));
  EXPECT_NE(print({}), print({.valid_share = 0.1}));
}

}  // namespace
}  // namespace hone::gnn
