// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests models: gradients against finite differences, exact layer-wise inference against the mini-batch pass, and
// refused options.
#include "hone/gnn/model.h"

#include <functional>
#include <limits>

#include "gnn/ops/softmax_loss.h"
#include "gnn/ops/test_support.h"
#include "hone/gnn/optimizer.h"

namespace hone::gnn {
namespace {

ModelOptions SmallModel(const std::string& kind) {
  ModelOptions options;
  options.kind = kind;
  options.in_width = 5;
  options.hidden = 6;
  options.num_classes = 3;
  options.layers = 3;
  options.seed = 7;
  return options;
}

LayerContext Context(bool training, int threads = 1) {
  LayerContext context;
  context.key = {11, 1, 2, 0};
  context.training = training;
  context.threads = threads;
  return context;
}

// The objective sum(logits * fixed random weights), whose gradient is these weights.
struct Objective {
  Model<double>& model;
  const NeighborSample& sample;
  std::vector<double>& x;
  LayerContext context;
  std::vector<double> weights;
  std::unique_ptr<Model<double>::State> state;

  Objective(Model<double>& m, const NeighborSample& s, std::vector<double>& features, const LayerContext& c)
      : model(m), sample(s), x(features), context(c), state(m.MakeState()) {
    weights = RandomValues<double>(sample.num_seeds() * model.options().num_classes, 99);
  }
  double operator()() {
    std::vector<double> logits(weights.size());
    model.Forward(sample, View(x, model.options().in_width), View(logits, model.options().num_classes), *state,
                  context);
    double sum = 0;
    for (size_t i = 0; i < logits.size(); ++i) sum += logits[i] * weights[i];
    return sum;
  }
  void Backward() {
    (*this)();
    std::vector<double> grad = weights;
    model.Backward(sample, View(x, model.options().in_width), View(grad, model.options().num_classes), *state, context);
  }
};

void CheckModelGradients(const ModelOptions& options, bool training, bool new_only) {
  SCOPED_TRACE(options.kind + (training ? " training" : " evaluating") + (new_only ? " new only" : " all so far"));
  auto model_result = MakeDoubleModel(options);
  ASSERT_TRUE(model_result.ok()) << model_result.status().message();
  Model<double>& model = **model_result;
  const NeighborSample sample = FullSample(AwkwardGraph(30, 3), {4, 0, 8, 13}, options.layers, new_only);
  std::vector<double> x = RandomValues<double>(sample.num_nodes() * options.in_width, 5);
  Objective objective(model, sample, x, Context(training));
  objective.Backward();
  for (Parameter<double>* parameter : model.parameters()) {
    if (!parameter->trainable()) continue;
    ExpectGradient(parameter->name, parameter->value, parameter->gradient, [&] { return objective(); });
  }
}

TEST(Model, GradientsAgreeWithFiniteDifferences) {
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    for (const bool training : {true, false}) {
      for (const bool new_only : {true, false}) CheckModelGradients(SmallModel(kind), training, new_only);
    }
  }
}

TEST(Model, GradientsAgreeForEveryOption) {
  const auto check = [](const std::string& kind, const std::function<void(ModelOptions&)>& change) {
    ModelOptions options = SmallModel(kind);
    change(options);
    CheckModelGradients(options, /*training=*/true, /*new_only=*/false);
  };
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    check(kind, [](ModelOptions& o) { o.layers = 1; });
    check(kind, [](ModelOptions& o) {
      o.layers = 2;
      o.activation = "elu";
      o.dropout = 0.25;
    });
    check(kind, [](ModelOptions& o) {
      o.activation = "leaky_relu";
      o.norm = "batch";
      o.dropout = 0;
    });
    check(kind, [](ModelOptions& o) { o.norm = "none"; });
  }
  check("gat", [](ModelOptions& o) { o.heads = 3; });
  check("sage", [](ModelOptions& o) { o.aggregation = "max"; });
  check("sage", [](ModelOptions& o) { o.aggregation = "sum"; });
}

// Both frontier rules see every neighbor of every node here, so their logits must agree. Layer-wise passes over the
// whole graph, in chunks, must give the same up to the order of additions.
TEST(Model, PassesOverTheWholeGraphGiveTheLogitsOfAFullSample) {
  const AdjacencyList graph = AwkwardGraph(40, 9);
  std::vector<NodeId> all_nodes(graph.size());
  for (size_t v = 0; v < all_nodes.size(); ++v) all_nodes[v] = static_cast<NodeId>(v);
  int projected_passes = 0;
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    for (const int layers : {1, 2, 4}) {
      SCOPED_TRACE(kind + " of " + std::to_string(layers) + " layers");
      ModelOptions options = SmallModel(kind);
      options.layers = layers;
      if (kind == "sage") options.norm = "batch";
      auto model_result = MakeDoubleModel(options);
      ASSERT_TRUE(model_result.ok());
      Model<double>& model = **model_result;
      // A training pass makes running statistics other than 0 and 1.
      const NeighborSample warm = FullSample(graph, all_nodes, layers);
      std::vector<double> features = RandomValues<double>(40 * options.in_width, 5);
      std::vector<double> expected(40 * 3);
      const auto state = model.MakeState();
      model.Forward(warm, View(features, 5), View(expected, 3), *state, Context(/*training=*/true));
      model.Forward(warm, View(features, 5), View(expected, 3), *state, Context(/*training=*/false));

      for (const bool new_only : {false, true}) {
        const std::vector<NodeId> seeds = {31, 2, 17};
        const NeighborSample sample = FullSample(graph, seeds, layers, new_only);
        std::vector<double> x, logits(9);
        for (const NodeId node : sample.nodes) {
          x.insert(x.end(), features.begin() + node * 5, features.begin() + node * 5 + 5);
        }
        model.Forward(sample, View(x, 5), View(logits, 3), *state, Context(/*training=*/false));
        for (size_t i = 0; i < logits.size(); ++i) {
          EXPECT_NEAR(logits[i], expected[static_cast<size_t>(seeds[i / 3]) * 3 + i % 3], 1e-12);
        }
      }

      std::vector<double> rows = features;
      ASSERT_EQ(model.PassWidth(0), options.in_width);
      ASSERT_EQ(model.PassWidth(model.num_passes()), options.num_classes);
      for (int pass = 0; pass < model.num_passes(); ++pass) {
        const int64_t in = model.PassWidth(pass), out = model.PassWidth(pass + 1);
        std::vector<double> next_rows(40 * static_cast<size_t>(out), std::nan(""));
        for (NodeId first = 0; first < 40; first += 16) {
          const NodeId last = std::min(first + 16, 40);
          const NeighborSample chunk = FullSample(graph, {all_nodes.begin() + first, all_nodes.begin() + last}, 1);
          std::vector<double> x;
          for (const NodeId node : chunk.nodes) {
            x.insert(x.end(), rows.begin() + node * in, rows.begin() + (node + 1) * in);
          }
          const Matrix<double> rows_out = {next_rows.data() + first * out, last - first, out, out};
          if (const int64_t width = model.ProjectedWidth(pass); width > 0) {
            ++projected_passes;
            std::vector<double> projected(chunk.nodes.size() * static_cast<size_t>(width), std::nan(""));
            model.ProjectRows(pass, View(x, in), View(projected, width), Context(/*training=*/false));
            model.RunProjectedPass(pass, chunk.Block(0), View(projected, width), rows_out, Context(/*training=*/false));
          } else {
            model.RunPass(pass, chunk.Block(0), View(x, in), rows_out, Context(/*training=*/false));
          }
        }
        rows = next_rows;
      }
      for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], expected[i], 1e-12);
    }
  }
  EXPECT_GT(projected_passes, 0);  // at least in the last layer of gat, which is narrower than its input
}

TEST(Model, TrainsToTheSameBitsOnAnyThreadCountWithPaddingUnread) {
  const AdjacencyList graph = AwkwardGraph(2000, 9);
  std::vector<NodeId> seeds;
  for (NodeId v = 0; v < 600; ++v) seeds.push_back(v * 3);
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    ExpectSameBits(kind, [&](int threads) {
      ModelOptions options = SmallModel(kind);
      options.hidden = 24;
      auto model = MakeModel(options).value();
      Adam<float> adam(model->parameters(), {});
      const auto state = model->MakeState();
      std::vector<float> out;
      for (uint32_t step = 0; step < 2; ++step) {
        const NeighborSample sample = FullSample(graph, seeds, options.layers, step == 1);
        std::vector<float> x = RandomValues<float>((sample.num_nodes() + 9) * 5, 5);
        std::fill(x.end() - 9 * 5, x.end(), std::numeric_limits<float>::quiet_NaN());
        // The logits, too, are followed by fifty rows that must not be read or written.
        std::vector<float> padded((seeds.size() + 50) * 3, std::numeric_limits<float>::quiet_NaN());
        const Matrix<float> logits = View(padded, 3);
        const Matrix<float> real = {padded.data(), static_cast<int64_t>(seeds.size()), 3, 3};
        std::vector<int32_t> labels(seeds.size());
        for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i % 4) - 1;
        LayerContext context = Context(/*training=*/true, threads);
        context.key.step = step;
        adam.ZeroGradients(threads);
        model->Forward(sample, View(x, 5), logits, *state, context);
        SoftmaxCrossEntropy<float>(real, labels, {}, 0, real, threads);
        model->Backward(sample, View(x, 5), logits, *state, context);
        adam.Step(threads);
        for (size_t i = seeds.size() * 3; i < padded.size(); ++i) EXPECT_TRUE(std::isnan(padded[i])) << kind;
      }
      for (const Parameter<float>* p : model->parameters()) out.insert(out.end(), p->value.begin(), p->value.end());
      for (const float value : out) EXPECT_TRUE(std::isfinite(value)) << kind;
      return out;
    });
  }
}

TEST(Model, ParametersBearTheNamesOfPyTorchGeometric) {
  const auto names = [](ModelOptions options, int layers) {
    options.layers = layers;
    auto model = MakeModel(options).value();
    std::vector<std::string> all;
    for (const Parameter<float>* p : model->parameters()) all.push_back(p->name);
    return all;
  };
  EXPECT_EQ(names(SmallModel("sage"), 2), (std::vector<std::string>{"convs.0.lin_l.weight", "convs.0.lin_r.weight",
                                                               "convs.1.lin_l.weight", "convs.1.lin_r.weight"}));
  EXPECT_EQ(names(SmallModel("gat"), 1),
            (std::vector<std::string>{"convs.0.att_src", "convs.0.att_dst", "convs.0.lin.weight"}));
  ModelOptions sage = SmallModel("sage"), gat = SmallModel("gat");
  sage.bias = gat.bias = true;
  EXPECT_EQ(names(sage, 1),
            (std::vector<std::string>{"convs.0.lin_l.weight", "convs.0.lin_l.bias", "convs.0.lin_r.weight"}));
  EXPECT_EQ(names(gat, 1),
            (std::vector<std::string>{"convs.0.att_src", "convs.0.att_dst", "convs.0.lin.weight", "convs.0.bias"}));
  EXPECT_EQ(names(SmallModel("gin"), 1),
            (std::vector<std::string>{"convs.0.eps", "convs.0.nn.0.weight", "convs.0.nn.0.bias", "convs.0.nn.1.weight",
                                      "convs.0.nn.1.bias", "convs.0.nn.1.running_mean", "convs.0.nn.1.running_var",
                                      "convs.0.nn.1.num_batches_tracked", "convs.0.nn.3.weight", "convs.0.nn.3.bias",
                                      "lin1.weight", "lin1.bias", "lin2.weight", "lin2.bias"}));
  EXPECT_EQ(names(SmallModel("sage-ri"), 1),
            (std::vector<std::string>{"convs.0.lin_l.weight", "convs.0.lin_r.weight", "bns.0.weight", "bns.0.bias",
                                      "bns.0.running_mean", "bns.0.running_var", "bns.0.num_batches_tracked",
                                      "res_linears.0.weight", "res_linears.0.bias", "mlp.module_list.0.weight",
                                      "mlp.module_list.0.bias", "mlp.module_list.1.weight", "mlp.module_list.1.bias"}));
}

TEST(Model, TheSeedAloneDecidesTheInitialWeights) {
  const auto weights = [](uint64_t seed) {
    ModelOptions options = SmallModel("gin");
    options.seed = seed;
    auto model = MakeModel(options).value();
    std::vector<float> parameter_values;
    for (const Parameter<float>* p : model->parameters())
      parameter_values.insert(parameter_values.end(), p->value.begin(), p->value.end());
    return parameter_values;
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

TEST(Model, RefusesWhatItCannotBeAndNamesTheOption) {
  const auto refused = [](const std::function<void(ModelOptions&)>& change, const std::string& word) {
    ModelOptions options = SmallModel("gat");
    change(options);
    const auto model = MakeModel(options);
    ASSERT_FALSE(model.ok()) << word;
    EXPECT_EQ(model.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(model.status().message().find(word), std::string::npos) << model.status().message();
  };
  refused([](ModelOptions& o) { o.kind = "gcn"; }, "model 'gcn'");
  refused([](ModelOptions& o) { o.in_width = 0; }, "in_width");
  refused([](ModelOptions& o) { o.num_classes = 0; }, "num_classes");
  refused([](ModelOptions& o) { o.hidden = 0; }, "hidden");
  refused([](ModelOptions& o) { o.layers = 0; }, "layers");
  refused([](ModelOptions& o) { o.heads = 0; }, "heads");
  refused([](ModelOptions& o) { o.heads = 4; }, "heads");                // hidden is 6, which 4 heads cannot share
  refused([](ModelOptions& o) { o.aggregation = "max"; }, "only sage");  // the model is a gat
  refused(
      [](ModelOptions& o) {
        o.kind = "gin";
        o.heads = 2;
      },
      "only gat");
  refused([](ModelOptions& o) { o.dropout = 1; }, "dropout");
  refused([](ModelOptions& o) { o.activation = "gelu"; }, "activation 'gelu'");
  refused([](ModelOptions& o) { o.norm = "layer"; }, "norm 'layer'");
  refused([](ModelOptions& o) { o.negative_slope = 2; }, "negative_slope");
  refused(
      [](ModelOptions& o) {
        o.kind = "sage";
        o.aggregation = "median";
      },
      "aggregation 'median'");
  ModelOptions options = SmallModel("mine");
  options.layers = 1;
  std::vector<std::unique_ptr<Layer<float>>> layers;
  layers.push_back(MakeSageConv<float>({.in_width = 5, .out_width = 4}, "convs.0", 1));
  const auto stack = MakeStackModel<float>(options, std::move(layers));
  ASSERT_FALSE(stack.ok());
  EXPECT_NE(stack.status().message().find("4 columns for 3 classes"), std::string::npos) << stack.status().message();
}

}  // namespace
}  // namespace hone::gnn
