// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specs on the CPU: the published models against their own code, to the bit; other models against finite
// differences and exact inference, on any number of threads.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "gnn/ops/softmax_loss.h"
#include "gnn/ops/test_support.h"
#include "hone/gnn/model.h"
#include "hone/gnn/optimizer.h"

namespace hone::gnn {
namespace {

constexpr int64_t kWidth = 5, kClasses = 3;

ValueSpec Value(const std::string& name, OperationSpec operation, std::vector<std::string> of) {
  return {name, std::move(operation), std::move(of), "", -1};
}
AggregateSpec SymmetricSum() { return {AggregateSpec::How::kSum, AggregateSpec::Scale::kSymmetric}; }

ModelSpec GcnSpec() {
  return {"gcn",
          {Value("a0", SymmetricSum(), {"x"}), Value("h0", LinearSpec{6}, {"a0"}), Value("r0", ActivateSpec{}, {"h0"}),
           Value("d0", DropSpec{}, {"r0"}), Value("h1", LinearSpec{kClassWidth}, {"d0"}),
           Value("a1", SymmetricSum(), {"h1"})}};
}

// Returns three attention layers with residuals, and a head that reads all of them.
ModelSpec ResidualGat() {
  ModelSpec spec{"residual-gat", {Value("in", LinearSpec{8}, {"x"})}};
  std::string h = "in";
  std::vector<std::string> all = {h};
  for (const std::string layer : {"0", "1", "2"}) {
    spec.values.push_back(Value("drop" + layer, DropSpec{0.25}, {h}));
    spec.values.push_back(Value("gat" + layer, AttentionSpec{.width = 4, .heads = 2, .bias = true}, {"drop" + layer}));
    spec.values.push_back(Value("elu" + layer, ActivateSpec{ActivateSpec::Function::kElu}, {"gat" + layer}));
    spec.values.push_back(Value("x" + layer, AddSpec{}, {"elu" + layer, h}));
    h = "x" + layer;
    all.push_back(h);
  }
  spec.values.push_back(Value("jump", CollectSpec{}, all));
  spec.values.push_back(Value("logits", HeadSpec{}, {"jump"}));
  return spec;
}

// Returns a model with every kind of operation, with values that several operations read, and with aggregations before
// and after the other operations.
ModelSpec MixedSpec() {
  return {"mixed",
          {Value("first", LinearSpec{6, false, LinearSpec::Init::kGlorot}, {"x"}),
           Value("own", LinearSpec{6}, {"first"}),  // before the aggregation that reads the same value
           Value("mean", AggregateSpec{}, {"first"}),
           Value("max", AggregateSpec{AggregateSpec::How::kMax}, {"first"}),
           Value("sum", AddSpec{.eps = true}, {"mean", "own", "max"}),
           Value("normed", NormSpec{NormSpec::Over::kLayer}, {"sum"}),
           Value("active", ActivateSpec{ActivateSpec::Function::kLeakyRelu}, {"normed"}),
           Value("dropped", DropSpec{0.3}, {"active"}),
           Value("side", ConcatSpec{}, {"dropped", "active", "sum"}),
           Value("batch", NormSpec{}, {"side"}),
           Value("gat", AttentionSpec{.width = 3, .heads = 2, .concatenate = false}, {"batch"}),
           Value("gcn", SymmetricSum(), {"batch"}),
           Value("narrow", LinearSpec{3}, {"gcn"}),
           Value("both", AddSpec{}, {"gat", "narrow"}),
           Value("again", DropSpec{0.3}, {"batch"}),
           Value("bent", ActivateSpec{}, {"again"}),
           Value("seeds", CollectSpec{}, {"both", "bent", "x"}),
           Value("middle", LinearSpec{7}, {"seeds"}),
           Value("relu", ActivateSpec{}, {"middle"}),
           Value("logits", HeadSpec{}, {"relu"})}};
}

ModelOptions OptionsFor(const ModelSpec& spec) {
  ModelOptions options = SpecOptions(std::make_shared<const ModelSpec>(spec), LayersOf(spec).value());
  options.in_width = kWidth;
  options.num_classes = kClasses;
  options.seed = 7;
  return options;
}

// A graph as one full sample and as a whole.
struct WholeGraph {
  explicit WholeGraph(const AdjacencyList& rows) {
    for (const auto& row : rows) {
      columns.insert(columns.end(), row.begin(), row.end());
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
  }
  CsrView view() const { return {static_cast<int64_t>(offsets.size()) - 1, offsets, columns}; }
  std::vector<int64_t> offsets = {0};
  std::vector<NodeId> columns;
};

LayerContext Context(const CsrView& graph, bool training, uint32_t step = 2, int threads = 1) {
  LayerContext context;
  context.key = {11, 1, step, 0};
  context.training = training;
  context.graph = &graph;
  context.threads = threads;
  return context;
}

// Returns the values of all parameters by name.
std::map<std::string, std::vector<float>> Parameters(Model<float>& model) {
  std::map<std::string, std::vector<float>> parameter_values;
  for (const Parameter<float>* p : model.parameters()) parameter_values[p->name] = p->value;
  return parameter_values;
}

// The logits of each step of a short run and of an evaluation, and the final parameters.
struct ShortRun {
  std::vector<std::vector<float>> logits;
  std::map<std::string, std::vector<float>> before, after;
};
ShortRun RunShortly(const ModelOptions& options, int threads = 2) {
  ShortRun run;
  auto model_result = MakeModel(options);
  EXPECT_TRUE(model_result.ok()) << model_result.status().message();
  if (!model_result.ok()) return run;
  Model<float>& model = **model_result;
  run.before = Parameters(model);
  const AdjacencyList graph = AwkwardGraph(300, 9);
  const WholeGraph whole_graph(graph);
  const CsrView view = whole_graph.view();
  std::vector<NodeId> seeds;
  for (NodeId v = 0; v < 90; ++v) seeds.push_back(v * 3);
  std::vector<int32_t> labels(seeds.size());
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<int32_t>(i % static_cast<size_t>(options.num_classes));
  Adam<float> adam(model.parameters(), {.learning_rate = 0.01});
  const auto state = model.MakeState();
  for (uint32_t step = 0; step < 4; ++step) {
    const NeighborSample sample = FullSample(graph, seeds, options.layers, step == 1);
    std::vector<float> x = RandomValues<float>(sample.num_nodes() * options.in_width, 5);
    std::vector<float> logits(seeds.size() * static_cast<size_t>(options.num_classes));
    const Matrix<float> out = View(logits, options.num_classes);
    const LayerContext context = Context(view, step != 3, step, threads);
    model.Forward(sample, View(x, options.in_width), out, *state, context);
    run.logits.push_back(logits);
    if (step == 3) break;
    adam.ZeroGradients(threads);
    SoftmaxCrossEntropy<float>(out, labels, {}, 0, out, threads);
    model.Backward(sample, View(x, options.in_width), out, *state, context);
    adam.Step(threads);
  }
  run.after = Parameters(model);
  return run;
}

TEST(PublishedSpec, TrainsToTheBitsOfTheModelItIs) {
  const auto check = [](const std::string& what, const ModelOptions& options) {
    SCOPED_TRACE(what);
    const Result<ModelSpec> spec = PublishedSpec(options);
    ASSERT_TRUE(spec.ok()) << spec.status().message();
    const Result<ModelSpec> reread_spec = ParseModelSpec(ModelSpecText(*spec), what);
    ASSERT_TRUE(reread_spec.ok()) << reread_spec.status().message();
    ASSERT_EQ(*reread_spec, *spec);
    // The model is recognised when its values have other names.
    ModelSpec renamed = *spec;
    renamed.name = "mine";
    for (ValueSpec& value : renamed.values) {
      value.name = "my-" + value.name;
      for (std::string& operand : value.of) operand = operand == kSpecInput ? operand : "my-" + operand;
      if (auto* drop = std::get_if<DropSpec>(&value.operation); drop != nullptr && !drop->after.empty()) {
        drop->after = "my-" + drop->after;
      }
    }
    std::optional<ModelOptions> published = AsPublished(renamed);
    ASSERT_TRUE(published.has_value());
    EXPECT_EQ(published->kind, options.kind);
    published->in_width = options.in_width;
    published->num_classes = options.num_classes;
    EXPECT_EQ(PublishedSpec(*published).value(), *spec);
    renamed.values.push_back(Value("more", DropSpec{}, {renamed.values.back().name}));
    EXPECT_FALSE(AsPublished(renamed).has_value());
    ModelOptions as_spec = SpecOptions(std::make_shared<const ModelSpec>(*spec), LayersOf(*spec).value());
    as_spec.in_width = options.in_width;
    as_spec.num_classes = options.num_classes;
    as_spec.seed = options.seed;
    const ShortRun expected = RunShortly(options), got = RunShortly(as_spec);
    EXPECT_EQ(got.before, expected.before);
    EXPECT_EQ(got.logits, expected.logits);
    EXPECT_EQ(got.after, expected.after);
    EXPECT_NE(got.before, got.after);
  };
  for (const std::string kind : {"sage", "gat", "gin", "sage-ri"}) {
    ModelOptions options;
    options.kind = kind;
    options.in_width = 9;
    options.hidden = 24;
    options.num_classes = kClasses;
    options.layers = 3;
    options.seed = 7;
    check(kind, options);
    ModelOptions changed = options;
    changed.layers = 1;
    check(kind + " of one layer", changed);
    changed = options;
    changed.norm = kind == "gin" || kind == "sage-ri" ? "none" : "batch";
    changed.activation = kind == "sage-ri" ? "relu" : "elu";
    changed.dropout = 0.25;
    check(kind + ", the other norm", changed);
    changed = options;
    changed.dropout = 0;
    check(kind + " without dropout", changed);
  }
  ModelOptions options;
  options.in_width = 9;
  options.hidden = 24;
  options.num_classes = kClasses;
  options.layers = 2;
  options.bias = true;
  for (const std::string aggregation : {"max", "sum"}) {
    options.aggregation = aggregation;
    check("sage by " + aggregation, options);
  }
  options.aggregation = "mean";
  options.kind = "gat";
  options.heads = 3;
  check("gat of three heads", options);
}

TEST(SpecModel, GradientsAgreeWithFiniteDifferences) {
  const AdjacencyList rows = AwkwardGraph(30, 3);
  const WholeGraph whole_graph(rows);
  const CsrView view = whole_graph.view();
  for (const ModelSpec& spec : {GcnSpec(), ResidualGat(), MixedSpec()}) {
    const ModelOptions options = OptionsFor(spec);
    for (const bool training : {true, false}) {
      SCOPED_TRACE(spec.name + (training ? " training" : " evaluating"));
      auto model_result = MakeDoubleModel(options);
      ASSERT_TRUE(model_result.ok()) << model_result.status().message();
      Model<double>& model = **model_result;
      const NeighborSample sample = FullSample(rows, {4, 0, 8, 13}, options.layers, training);
      std::vector<double> x = RandomValues<double>(sample.num_nodes() * kWidth, 5);
      const std::vector<double> weights = RandomValues<double>(sample.num_seeds() * kClasses, 99);
      const auto state = model.MakeState();
      const auto objective = [&] {
        std::vector<double> logits(weights.size());
        model.Forward(sample, View(x, kWidth), View(logits, kClasses), *state, Context(view, training));
        return Product(logits, weights);
      };
      objective();
      std::vector<double> grad = weights;
      model.Backward(sample, View(x, kWidth), View(grad, kClasses), *state, Context(view, training));
      size_t trainable = 0;
      for (Parameter<double>* parameter : model.parameters()) {
        if (!parameter->trainable()) continue;
        ++trainable;
        double largest_magnitude = 0;
        for (const double g : parameter->gradient) largest_magnitude = std::max(largest_magnitude, std::abs(g));
        EXPECT_GT(largest_magnitude, 0) << parameter->name;
        ExpectGradient(parameter->name, parameter->value, parameter->gradient, objective);
      }
      EXPECT_GE(trainable, 4u);
    }
  }
}

TEST(SpecModel, PassesOverTheWholeGraphGiveTheLogitsOfAFullSample) {
  const AdjacencyList rows = AwkwardGraph(40, 9);
  const WholeGraph whole_graph(rows);
  const CsrView view = whole_graph.view();
  std::vector<NodeId> all_nodes(rows.size());
  for (size_t v = 0; v < all_nodes.size(); ++v) all_nodes[v] = static_cast<NodeId>(v);
  for (const ModelSpec& spec : {GcnSpec(), ResidualGat(), MixedSpec()}) {
    SCOPED_TRACE(spec.name);
    const ModelOptions options = OptionsFor(spec);
    auto model_result = MakeDoubleModel(options);
    ASSERT_TRUE(model_result.ok()) << model_result.status().message();
    Model<double>& model = **model_result;
    const NeighborSample sample = FullSample(rows, all_nodes, options.layers);
    std::vector<double> features = RandomValues<double>(40 * kWidth, 5), expected(40 * kClasses);
    const auto state = model.MakeState();
    // A training pass makes running statistics other than 0 and 1.
    model.Forward(sample, View(features, kWidth), View(expected, kClasses), *state, Context(view, /*training=*/true));
    model.Forward(sample, View(features, kWidth), View(expected, kClasses), *state, Context(view, /*training=*/false));
    for (const bool projecting : {true, false}) {
      std::vector<double> now = features;
      for (int pass = 0; pass < model.num_passes(); ++pass) {
        const int64_t in = model.PassWidth(pass), out = model.PassWidth(pass + 1);
        std::vector<double> next_rows(40 * static_cast<size_t>(out), std::nan(""));
        for (NodeId first = 0; first < 40; first += 16) {
          const NodeId last = std::min(first + 16, 40);
          const NeighborSample chunk = FullSample(rows, {all_nodes.begin() + first, all_nodes.begin() + last}, 1);
          std::vector<double> x;
          for (const NodeId node : chunk.nodes)
            x.insert(x.end(), now.begin() + node * in, now.begin() + (node + 1) * in);
          LayerContext context = Context(view, /*training=*/false);
          context.nodes = chunk.nodes;
          const Matrix<double> to = {next_rows.data() + first * out, last - first, out, out};
          if (const int64_t width = model.ProjectedWidth(pass); projecting && width > 0) {
            std::vector<double> projected(chunk.nodes.size() * static_cast<size_t>(width), std::nan(""));
            model.ProjectRows(pass, View(x, in), View(projected, width), context);
            model.RunProjectedPass(pass, chunk.Block(0), View(projected, width), to, context);
          } else {
            model.RunPass(pass, chunk.Block(0), View(x, in), to, context);
          }
        }
        now = next_rows;
      }
      ASSERT_EQ(now.size(), expected.size());
      for (size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], expected[i], 1e-12) << i;
    }
  }
}

TEST(SpecModel, TrainsToTheSameBitsOnAnyThreadCount) {
  for (const ModelSpec& spec : {GcnSpec(), ResidualGat(), MixedSpec()}) {
    ExpectSameBits(spec.name, [&](int threads) {
      const ShortRun run = RunShortly(OptionsFor(spec), threads);
      std::vector<float> bits;
      for (const auto& logits : run.logits) bits.insert(bits.end(), logits.begin(), logits.end());
      for (const auto& [name, values] : run.after) bits.insert(bits.end(), values.begin(), values.end());
      return bits;
    });
  }
}

TEST(SpecModel, AModelOfItsOwnIsNoPublishedOne) {
  for (const ModelSpec& spec : {GcnSpec(), ResidualGat(), MixedSpec()})
    EXPECT_FALSE(AsPublished(spec).has_value()) << spec.name;
}

TEST(SpecModel, IsRefusedBeforeItIsMade) {
  ModelOptions options = OptionsFor(GcnSpec());
  options.layers = 3;
  EXPECT_NE(MakeModel(options).status().message().find("model 'gcn' has 2 layers, and 3 were asked for"),
            std::string::npos);
  options = OptionsFor(MixedSpec());
  options.num_classes = 0;
  EXPECT_NE(MakeModel(options).status().message().find("the graph needs labels"), std::string::npos);
  ModelOptions published;
  published.kind = "gcn";
  published.in_width = published.num_classes = 3;
  EXPECT_NE(PublishedSpec(published).status().message().find("model 'gcn' is not known"), std::string::npos);
}

}  // namespace
}  // namespace hone::gnn
