// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests layers: results worked out by hand, gradients by every parameter and by the input, and memory that must not
// change.
#include "hone/gnn/layer.h"

#include <limits>
#include <numeric>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
Parameter<T>& ParameterNamed(Layer<T>& layer, const std::string& name) {
  for (Parameter<T>* parameter : layer.parameters()) {
    if (parameter->name == name) return *parameter;
  }
  ADD_FAILURE() << "no parameter named " << name;
  static Parameter<T> none;
  return none;
}

LayerContext Context(const std::vector<NodeId>& nodes, bool training, int threads = 1) {
  LayerContext context;
  context.key = {5, 1, 2, 0};
  context.layer = 1;
  context.training = training;
  context.nodes = nodes;
  context.threads = threads;
  return context;
}
std::vector<NodeId> ConsecutiveIds(int32_t count) {
  std::vector<NodeId> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 100);
  return ids;
}

std::vector<double> Forward(Layer<double>& layer, const OwnedBlock& block, std::vector<double> x) {
  std::vector<double> out(static_cast<size_t>(block.view().num_dst * layer.out_width()), kNan);
  const auto state = layer.MakeState();
  layer.Forward(block.view(), View(x, layer.in_width()), View(out, layer.out_width()), *state,
                Context(ConsecutiveIds(block.num_src), /*training=*/false));
  return out;
}

TEST(SageConv, OnASixCycleAddsTheWeighedMeanAndSelf) {
  const auto layer = MakeSageConv<double>({.in_width = 1, .out_width = 1}, "convs.0", 1);
  ParameterNamed(*layer, "convs.0.lin_l.weight").value = {10};
  ParameterNamed(*layer, "convs.0.lin_r.weight").value = {1};
  const OwnedBlock cycle({{5, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}}, 6);
  EXPECT_EQ(Forward(*layer, cycle, {0, 1, 2, 3, 4, 5}), (std::vector<double>{30, 11, 22, 33, 44, 25}));
}

TEST(SageConv, ADestinationWithoutNeighborsKeepsItself) {
  const auto layer = MakeSageConv<double>({.in_width = 1, .out_width = 1, .bias = true}, "c", 1);
  ParameterNamed(*layer, "c.lin_l.weight").value = {10};
  ParameterNamed(*layer, "c.lin_l.bias").value = {0.5};
  ParameterNamed(*layer, "c.lin_r.weight").value = {2};
  EXPECT_EQ(Forward(*layer, OwnedBlock({{}, {0, 0, 1}}, 2), {3, 6}), (std::vector<double>{6.5, 52.5}));
}

TEST(GinConv, SumsNeighborsAndSelfBeforeItsMlp) {
  const auto layer = MakeGinConv<double>({.in_width = 1, .out_width = 1, .normalise = false}, "c", 1);
  ParameterNamed(*layer, "c.nn.0.weight").value = {2};
  ParameterNamed(*layer, "c.nn.0.bias").value = {-1};
  ParameterNamed(*layer, "c.nn.2.weight").value = {3};
  ParameterNamed(*layer, "c.nn.2.bias").value = {0};
  // The graph is a star whose centre receives from two leaves. One leaf has no neighbors, and the first ReLU zeroes the
  // other.
  EXPECT_EQ(Forward(*layer, OwnedBlock({{1, 2}, {}, {}}, 3), {1, 2, -4}), (std::vector<double>{0, 9, 0}));
  ParameterNamed(*layer, "c.eps").value = {4};  // (1 + 4) * 1 + 2 - 4 = 3
  EXPECT_EQ(Forward(*layer, OwnedBlock({{1, 2}, {}, {}}, 3), {1, 2, -4}), (std::vector<double>{15, 57, 0}));
}

TEST(GatConv, WithZeroAttentionIsTheProjectedMeanOfNeighborsAndSelf) {
  const auto layer = MakeGatConv<double>({.in_width = 1, .width = 1}, "c", 1);
  ParameterNamed(*layer, "c.lin.weight").value = {2};
  ParameterNamed(*layer, "c.att_src").value = {0};
  ParameterNamed(*layer, "c.att_dst").value = {0};
  // The node's own self-loop counts once, a parallel edge twice.
  const std::vector<double> out = Forward(*layer, OwnedBlock({{0, 1, 1}, {}}, 2), {3, 6});
  EXPECT_NEAR(out[0], 2 * (3 + 6 + 6) / 3.0, 1e-14);
  EXPECT_NEAR(out[1], 12, 1e-14);
}

TEST(GatConv, AttendsByBothScores) {
  const auto layer = MakeGatConv<double>({.in_width = 1, .width = 1}, "c", 1);
  ParameterNamed(*layer, "c.lin.weight").value = {2};
  ParameterNamed(*layer, "c.att_src").value = {0.5};
  ParameterNamed(*layer, "c.att_dst").value = {-1};
  // x = 1, 3: projected 2, 6; logits of node 0: from 1: .5 * 6 - 2 = 1; from itself: .5 * 2 - 2 = -1 -> -.2.
  const std::vector<double> out = Forward(*layer, OwnedBlock({{1}}, 2), {1, 3});
  EXPECT_NEAR(out[0], (6 * std::exp(1.0) + 2 * std::exp(-0.2)) / (std::exp(1.0) + std::exp(-0.2)), 1e-14);
}

// Compares in double, so that only the order of additions differs: sums of 40 terms, and a softmax.
TEST(GatConv, ProjectedRowsGiveWhatRawRowsGive) {
  // The block has self-loops, parallel edges, and a destination without neighbors.
  const OwnedBlock block({{0, 1, 1, 5}, {}, {4, 3, 2, 2}, {0, 5}}, 6);
  for (const int heads : {1, 3}) {
    for (const bool concatenate : {true, false}) {
      const auto layer =
          MakeGatConv<double>({.in_width = 40, .width = 6, .heads = heads, .concatenate = concatenate}, "c", 3);
      const int64_t width = layer->projected_width();
      ASSERT_EQ(width, heads * 8);
      const std::vector<double> x = RandomValues<double>(6 * 40, 8);
      const std::vector<double> expected = Forward(*layer, block, x);
      std::vector<double> projected(static_cast<size_t>(6 * width), kNan), out(expected.size(), kNan);
      const auto state = layer->MakeState();
      const LayerContext context = Context(ConsecutiveIds(6), /*training=*/false);
      // Projects two rows and then four: a row's projection depends on that row alone.
      layer->Project({x.data(), 2, 40, 40}, {projected.data(), 2, width, width}, *state, context);
      layer->Project({x.data() + 80, 4, 40, 40}, {projected.data() + 2 * width, 4, width, width}, *state, context);
      layer->ForwardProjected(block.view(), View(projected, width), View(out, layer->out_width()), *state, context);
      for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-12) << heads << concatenate << i;
    }
  }
  // The layer does not offer Project, because projected rows would be wider.
  EXPECT_EQ((MakeGatConv<double>({.in_width = 6, .width = 6}, "c", 3)->projected_width()), 0);
}

struct Case {
  const char* what;
  std::unique_ptr<Layer<double>> (*make)();
  std::unique_ptr<Layer<float>> (*make_float)();
};
#define HONE_CASE(what, expression)              \
  {                                              \
    what,                                        \
        []() -> std::unique_ptr<Layer<double>> { \
          using T = double;                      \
          return expression;                     \
        },                                       \
        []() -> std::unique_ptr<Layer<float>> {  \
          using T = float;                       \
          return expression;                     \
        }                                        \
  }
const Case kCases[] = {
    HONE_CASE("SAGE mean", (MakeSageConv<T>({.in_width = 5, .out_width = 4}, "c", 3))),
    HONE_CASE("SAGE sum, bias",
              (MakeSageConv<T>({.in_width = 5, .out_width = 4, .aggregation = "sum", .bias = true}, "c", 3))),
    HONE_CASE("SAGE max", (MakeSageConv<T>({.in_width = 5, .out_width = 4, .aggregation = "max"}, "c", 3))),
    HONE_CASE("SAGE dropout", (MakeSageConv<T>({.in_width = 5, .out_width = 4, .input_dropout = 0.3}, "c", 3))),
    HONE_CASE("SAGE max, dropout",
              (MakeSageConv<T>({.in_width = 5, .out_width = 4, .aggregation = "max", .input_dropout = 0.3}, "c", 3))),
    HONE_CASE("GAT", (MakeGatConv<T>({.in_width = 5, .width = 4}, "c", 3))),
    HONE_CASE("GAT, 3 heads", (MakeGatConv<T>({.in_width = 5, .width = 2, .heads = 3}, "c", 3))),
    HONE_CASE("GAT, mean of heads",
              (MakeGatConv<T>({.in_width = 5, .width = 3, .heads = 2, .concatenate = false}, "c", 3))),
    HONE_CASE("GAT, mean of heads, bias",
              (MakeGatConv<T>({.in_width = 5, .width = 3, .heads = 2, .concatenate = false, .bias = true}, "c", 3))),
    HONE_CASE("GIN", (MakeGinConv<T>({.in_width = 5, .out_width = 4}, "c", 3))),
    HONE_CASE(
        "GIN plain, leaky",
        (MakeGinConv<T>({.in_width = 5, .out_width = 4, .activation = "leaky_relu", .normalise = false}, "c", 3))),
    HONE_CASE("GIN elu", (MakeGinConv<T>({.in_width = 5, .out_width = 4, .activation = "elu"}, "c", 3))),
};

TEST(Layers, GradientsAgreeWithFiniteDifferences) {
  constexpr int32_t kSources = 17, kDestinations = 11;
  const OwnedBlock block = AwkwardBlock(kDestinations, kSources, 2);
  const std::vector<NodeId> ids = ConsecutiveIds(kSources);
  for (const Case& c : kCases) {
    for (const bool training : {true, false}) {
      SCOPED_TRACE(std::string(c.what) + (training ? ", training" : ", evaluating"));
      const auto layer = c.make();
      const LayerContext context = Context(ids, training);
      std::vector<double> x = RandomValues<double>(kSources * layer->in_width(), 4);
      std::vector<double> out(static_cast<size_t>(kDestinations * layer->out_width()));
      const std::vector<double> weights = RandomValues<double>(static_cast<int64_t>(out.size()), 5);
      const auto state = layer->MakeState();
      const auto objective = [&] {
        layer->Forward(block.view(), View(x, layer->in_width()), View(out, layer->out_width()), *state, context);
        return Product(out, weights);
      };
      objective();
      std::vector<double> grad = weights, grad_x(x.size(), kNan);
      layer->Backward(block.view(), View(x, layer->in_width()), View(grad, layer->out_width()),
                      View(grad_x, layer->in_width()), *state, context);
      ExpectGradient("x", x, grad_x, objective);
      for (Parameter<double>* parameter : layer->parameters()) {
        if (parameter->trainable()) ExpectGradient(parameter->name, parameter->value, parameter->gradient, objective);
      }
      // Without the input's gradient, Backward computes the same parameter gradients: their sums double.
      std::vector<std::vector<double>> once;
      for (Parameter<double>* parameter : layer->parameters()) once.push_back(parameter->gradient);
      objective();
      grad = weights;
      layer->Backward(block.view(), View(x, layer->in_width()), View(grad, layer->out_width()), {}, *state, context);
      size_t p = 0;
      for (Parameter<double>* parameter : layer->parameters()) {
        for (size_t i = 0; i < parameter->gradient.size(); ++i) {
          ASSERT_NEAR(parameter->gradient[i], 2 * once[p][i], 1e-12) << parameter->name;
        }
        ++p;
      }
    }
  }
}

TEST(Layers, GiveTheSameBitsOnAnyThreadCountAndNeverReadPadding) {
  constexpr int32_t kSources = 900, kDestinations = 700;
  const OwnedBlock block = AwkwardBlock(kDestinations, kSources, 2);
  const std::vector<NodeId> ids = ConsecutiveIds(kSources);
  for (const Case& c : kCases) {
    ExpectSameBits(c.what, [&](int threads) {
      const auto layer = c.make_float();
      const LayerContext context = Context(ids, /*training=*/true, threads);
      // Fifty rows of NaN follow the sources and the destinations, as in a padded batch.
      std::vector<float> x = RandomValues<float>((kSources + 50) * layer->in_width(), 4);
      std::fill(x.begin() + kSources * layer->in_width(), x.end(), std::numeric_limits<float>::quiet_NaN());
      const auto real = static_cast<size_t>(kDestinations * layer->out_width());
      std::vector<float> out(real + static_cast<size_t>(50 * layer->out_width()), 4.5f);
      std::vector<float> grad = RandomValues<float>(static_cast<int64_t>(out.size()), 5);
      std::fill(grad.begin() + static_cast<int64_t>(real), grad.end(), std::numeric_limits<float>::quiet_NaN());
      std::vector<float> grad_x(static_cast<size_t>(kSources * layer->in_width()));
      const auto state = layer->MakeState();
      layer->Forward(block.view(), View(x, layer->in_width()), View(out, layer->out_width()), *state, context);
      layer->Backward(block.view(), View(x, layer->in_width()), View(grad, layer->out_width()),
                      View(grad_x, layer->in_width()), *state, context);
      for (size_t i = real; i < out.size(); ++i) EXPECT_EQ(out[i], 4.5f) << c.what;
      out.insert(out.end(), grad_x.begin(), grad_x.end());
      for (const Parameter<float>* p : layer->parameters()) {
        out.insert(out.end(), p->value.begin(), p->value.end());
        out.insert(out.end(), p->gradient.begin(), p->gradient.end());
      }
      for (const float value : out) EXPECT_TRUE(std::isfinite(value)) << c.what;
      return out;
    });
  }
}

TEST(Layers, NoDestinationsIsNotAnError) {
  const OwnedBlock block({}, 0);
  for (const Case& c : kCases) {
    const auto layer = c.make();
    EXPECT_TRUE(Forward(*layer, block, {}).empty()) << c.what;
  }
}

TEST(Layers, InitialWeightsStayWithinTheirBoundsAndFillThem) {
  const auto largest_magnitude = [](const Parameter<double>& p) {
    double most = 0;
    for (const double v : p.value) most = std::max(most, std::abs(v));
    return most;
  };
  const auto expect_bound = [&](const Parameter<double>& p, double bound) {
    EXPECT_LE(largest_magnitude(p), bound) << p.name;
    EXPECT_GT(largest_magnitude(p), 0.95 * bound) << p.name;
  };
  const auto sage = MakeSageConv<double>({.in_width = 64, .out_width = 32}, "c", 1);
  expect_bound(ParameterNamed(*sage, "c.lin_l.weight"), 1.0 / 8);
  expect_bound(ParameterNamed(*sage, "c.lin_r.weight"), 1.0 / 8);
  EXPECT_NE(ParameterNamed(*sage, "c.lin_l.weight").value, ParameterNamed(*sage, "c.lin_r.weight").value);
  const auto gat = MakeGatConv<double>({.in_width = 64, .width = 50, .heads = 4}, "c", 1);
  expect_bound(ParameterNamed(*gat, "c.lin.weight"), std::sqrt(6.0 / (64 + 200)));
  expect_bound(ParameterNamed(*gat, "c.att_src"), std::sqrt(6.0 / 54));
  expect_bound(ParameterNamed(*gat, "c.att_dst"), std::sqrt(6.0 / 54));
  const auto gin = MakeGinConv<double>({.in_width = 64, .out_width = 36}, "c", 1);
  expect_bound(ParameterNamed(*gin, "c.nn.0.weight"), std::sqrt(2.0) * std::sqrt(6.0 / 100));
  expect_bound(ParameterNamed(*gin, "c.nn.3.weight"), std::sqrt(2.0) * std::sqrt(6.0 / 72));
  EXPECT_LE(largest_magnitude(ParameterNamed(*gin, "c.nn.0.bias")), 1.0 / 8);
}

}  // namespace
}  // namespace hone::gnn
