// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares Adam and the plateau rule with PyTorch 2, on the same gradients and losses.
#include "hone/gnn/optimizer.h"

#include <cmath>

#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

Parameter<double> Weight(std::vector<double> value) {
  Parameter<double> p;
  p.name = "w";
  p.shape = {static_cast<int64_t>(value.size())};
  p.gradient.assign(value.size(), 0.0);
  p.value = std::move(value);
  return p;
}

TEST(Adam, FollowsPyTorchWithWeightDecay) {
  // The expected values are those of torch.optim.Adam([1, -2], lr=0.1, weight_decay=0.01) in double, after three steps.
  Parameter<double> w = Weight({1, -2});
  AdamOptions options;
  options.learning_rate = 0.1;
  options.weight_decay = 0.01;
  Adam<double> adam({&w}, options);
  const std::vector<std::vector<double>> gradients = {{0.5, -1}, {0.25, 2}, {-3, 0}};
  const std::vector<std::vector<double>> expected = {{0.9000000019607843, -1.9000000009803921},
                                                     {0.8065550410499319, -1.9355044186569044},
                                                     {0.8557498856770174, -1.9623931792378824}};
  for (size_t step = 0; step < 3; ++step) {
    w.gradient = gradients[step];
    adam.Step(1);
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(w.value[i], expected[step][i], 1e-14);
  }
  EXPECT_EQ(adam.steps(), 3);
  adam.ZeroGradients(1);
  EXPECT_EQ(w.gradient, (std::vector<double>{0, 0}));
}

TEST(Adam, ResumesFromItsMomentsToTheBit) {
  const auto gradient = [](int step) { return RandomValues<double>(20, static_cast<uint64_t>(step)); };
  Parameter<double> a = Weight(RandomValues<double>(20, 100)), b = a;
  Adam<double> joint_optimizer({&a}, {}), first({&b}, {});
  for (int step = 0; step < 6; ++step) {
    a.gradient = gradient(step);
    joint_optimizer.Step(1);
  }
  for (int step = 0; step < 3; ++step) {
    b.gradient = gradient(step);
    first.Step(1);
  }
  Adam<double> second({&b}, {});
  for (size_t i = 0; i < 2; ++i) second.moments()[i]->value = first.moments()[i]->value;
  second.set_steps(first.steps());
  EXPECT_EQ(second.moments()[0]->name, "exp_avg.w");
  EXPECT_EQ(second.moments()[1]->name, "exp_avg_sq.w");
  for (int step = 3; step < 6; ++step) {
    b.gradient = gradient(step);
    second.Step(1);
  }
  EXPECT_EQ(a.value, b.value);
}

TEST(Adam, ClipsTheGlobalNormAndRefusesWhatIsNotFinite) {
  Parameter<double> a = Weight({0}), b = Weight({0}), buffer = Weight({5});
  buffer.gradient.clear();
  AdamOptions options;
  options.clip_norm = 1;
  Adam<double> adam({&a, &buffer, &b}, options);
  a.gradient = {3};
  b.gradient = {4};
  EXPECT_DOUBLE_EQ(adam.Step(1), 5.0);
  EXPECT_NEAR(adam.moments()[0]->value[0], 0.1 * 3 / 5, 1e-7);  // the first moment shows the clipped gradient
  EXPECT_NEAR(adam.moments()[2]->value[0], 0.1 * 4 / 5, 1e-7);
  EXPECT_EQ(buffer.value[0], 5);
  const double kept = a.value[0];
  a.gradient = {std::nan("")};
  EXPECT_TRUE(std::isnan(adam.Step(1)));
  EXPECT_EQ(a.value[0], kept);
  EXPECT_EQ(adam.steps(), 1);
}

TEST(Adam, GivesTheSameBitsOnAnyThreadCount) {
  ExpectSameBits("Adam", [](int threads) {
    Parameter<float> p;
    p.name = "w";
    p.shape = {100003};
    p.value = RandomValues<float>(100003, 1);
    p.gradient = RandomValues<float>(100003, 2);
    AdamOptions options;
    options.clip_norm = 10;
    Adam<float> adam({&p}, options);
    adam.Step(threads);
    adam.Step(threads);
    return p.value;
  });
}

TEST(Plateau, FollowsPyTorchLossByLoss) {
  const std::vector<double> losses = {1.0, .9, .95, .9, .89999, .91, .8, .85, .85, .85, .85, .85, .85, .85, .85, .85};
  const auto run = [&](const PlateauOptions& options) {
    PlateauState state;
    double rate = 1;
    std::vector<double> rates;
    for (const double loss : losses) rates.push_back(rate = PlateauStep(options, state, loss, rate));
    return rates;
  };
  EXPECT_EQ(run({.factor = 0.5, .patience = 2}),
            (std::vector<double>{1, 1, 1, 1, .5, .5, .5, .5, .5, .25, .25, .25, .125, .125, .125, .0625}));
  EXPECT_EQ(run({.factor = 0.5, .patience = 1, .cooldown = 2, .min_rate = 0.3}),
            (std::vector<double>{1, 1, 1, .5, .5, .5, .5, .5, .3, .3, .3, .3, .3, .3, .3, .3}));
}

}  // namespace
}  // namespace hone::gnn
