// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests conversions, activations and the loss: exact values, PyTorch's figures, gradients.
#include <bit>
#include <limits>

#include "gnn/ops/convert_rows.h"
#include "gnn/ops/elementwise.h"
#include "gnn/ops/softmax_loss.h"
#include "gnn/ops/target_loss.h"
#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

// Returns the value of a half, computed from sign, exponent and mantissa by arithmetic alone.
double HalfByDefinition(uint16_t half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = half >> 10 & 31;
  const int mantissa = half & 1023;
  if (exponent == 31) return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(ConvertRows, EveryHalfIsExactOnBothInstructionSets) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  FeatureRows rows;
  rows.rows = reinterpret_cast<std::byte*>(halves.data());
  rows.dtype = FeatureDtype::kFloat16;
  rows.num_rows = 1;
  rows.width = 65535;  // no multiple of the vector width: the last elements are converted one by one
  rows.stride_bytes = 131072;
  for (const bool baseline : {false, true}) {
    BaselineOnly() = baseline;
    std::vector<float> out(65535);
    ConvertRows(rows, View(out, 65535), 1);
    BaselineOnly() = false;
    for (size_t i = 0; i < out.size(); ++i) {
      const double expected = HalfByDefinition(halves[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(out[i])) << i;
      } else {
        ASSERT_EQ(static_cast<double>(out[i]), expected) << i;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(HalfToFloat(halves[i]))) << i;
    }
  }
}

TEST(ConvertRows, ReadsBFloat16AndFloatRowsByStride) {
  const uint16_t bf16[] = {0x3f80, 0xc000, 0x7777, 0x4040, 0x0001, 0x7777};  // 1, -2, -, 3, smallest, -
  FeatureRows rows;
  rows.rows = reinterpret_cast<std::byte*>(const_cast<uint16_t*>(bf16));
  rows.dtype = FeatureDtype::kBFloat16;
  rows.num_rows = 2;
  rows.width = 2;
  rows.stride_bytes = 6;
  std::vector<float> out(4);
  ConvertRows(rows, View(out, 2), 1);
  EXPECT_EQ(out, (std::vector<float>{1, -2, 3, std::bit_cast<float>(0x00010000u)}));
  EXPECT_EQ(BFloat16ToFloat(0x3f80), 1.0f);

  const float plain[] = {1.5f, 2.5f, 9, 3.5f, 4.5f, 9};
  const FeatureView view{reinterpret_cast<const std::byte*>(plain), FeatureDtype::kFloat32, 2, 2, 12};
  const std::vector<NodeId> ids = {1, 0, 1};
  std::vector<float> gathered(6);
  GatherRows(view, ids, View(gathered, 2), 1);
  EXPECT_EQ(gathered, (std::vector<float>{3.5f, 4.5f, 1.5f, 2.5f, 3.5f, 4.5f}));
}

TEST(Activation, ValuesAndDerivativesAtAndAroundZero) {
  std::vector<double> x = {-2, 0, 3}, g;
  const auto run = [&](Activation kind, std::vector<double> out, std::vector<double> slope) {
    std::vector<double> y = x;
    ActivationForward<double>(kind, View(y, 3), 1);
    EXPECT_EQ(y, out);
    g.assign(3, 1.0);
    ActivationBackward<double>(kind, 1.0, View(y, 3), View(g, 3), 1);
    for (size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(g[i], slope[i]);
  };
  run(Activation::kIdentity, {-2, 0, 3}, {1, 1, 1});
  run(Activation::kRelu, {0, 0, 3}, {0, 0, 1});
  run(Activation::kLeakyRelu, {-0.02, 0, 3}, {0.01, 0.01, 1});
  run(Activation::kElu, {std::expm1(-2), 0, 3}, {std::exp(-2), 1, 1});
}

TEST(Activation, EluSeesThroughTheScaleOfDropout) {
  std::vector<double> out = {2 * std::expm1(-1.0)}, grad = {3};
  ActivationBackward<double>(Activation::kElu, 2.0, View(out, 1), View(grad, 1), 1);
  EXPECT_NEAR(grad[0], 3 * std::exp(-1.0), 1e-15);
}

TEST(SoftmaxLoss, AgreesWithPyTorch) {
  // The expected values are those of torch.nn.functional.cross_entropy(logits, [0, 2, 1, -1], weight=[1, 2, .5],
  // ignore_index=-1) in double.
  std::vector<double> logits = {1, 2, 3, 0, 0, 0, -1, 5, 2, 9, 9, 9}, grad(12, 7.0);
  const std::vector<int32_t> labels = {0, 2, 1, kNoLabel};
  const std::vector<double> weights = {1, 2, 0.5};
  const LossSums sums = SoftmaxCrossEntropy<double>(View(logits, 3), labels, weights, 0, View(grad, 3), 1);
  EXPECT_NEAR(sums.loss / sums.weight, 0.8739438959498377, 1e-14);
  EXPECT_EQ(sums.labelled, 3);
  EXPECT_EQ(sums.correct, 1);  // in row 1 all logits are equal: its prediction is class 0, which is not its label
  const std::vector<double> expected = {-0.25999126480846274,
                                        0.06992242030137075,
                                        0.19006884450709194,
                                        0.047619047619047616,
                                        0.047619047619047616,
                                        -0.09523809523809523,
                                        0.0013460760461695318,
                                        -0.028382736172926047,
                                        0.0270366601267566,
                                        0,
                                        0,
                                        0};
  for (size_t i = 0; i < grad.size(); ++i) EXPECT_NEAR(grad[i], expected[i], 1e-15) << i;
  const LossSums plain = SoftmaxCrossEntropy<double>(View(logits, 3), labels, {}, 0, {}, 1);
  EXPECT_NEAR(plain.loss / plain.weight, 1.1857213388784962, 1e-14);
}

TEST(SoftmaxLoss, ShardsAddUpToTheWhole) {
  std::vector<double> logits = RandomValues<double>(10 * 4, 1), whole(40), parts(40);
  const std::vector<int32_t> labels = {0, 1, 2, 3, kNoLabel, 0, 1, 2, 3, 0};
  const LossSums all = SoftmaxCrossEntropy<double>(View(logits, 4), labels, {}, 0, View(whole, 4), 1);
  const LossSums a = SoftmaxCrossEntropy<double>({logits.data(), 6, 4, 4}, std::span(labels).first(6), {}, 9,
                                                 {parts.data(), 6, 4, 4}, 1);
  const LossSums b = SoftmaxCrossEntropy<double>({logits.data() + 24, 4, 4, 4}, std::span(labels).last(4), {}, 9,
                                                 {parts.data() + 24, 4, 4, 4}, 1);
  EXPECT_EQ(whole, parts);
  EXPECT_NEAR(all.loss, a.loss + b.loss, 1e-14);
  EXPECT_EQ(all.labelled, 9);
}

TEST(SoftmaxLoss, HugeLogitsStayFinite) {
  std::vector<float> logits = {1e30f, -1e30f, 0}, grad(3);
  const LossSums sums = SoftmaxCrossEntropy<float>(View(logits, 3), std::vector<int32_t>{0}, {}, 0, View(grad, 3), 1);
  EXPECT_EQ(sums.loss, 0);
  EXPECT_EQ(grad, (std::vector<float>{0, 0, 0}));
}

TEST(SoftmaxLoss, NoLabelsGiveNoLossAndNoGradient) {
  std::vector<float> logits = {1, 2, 3, 4}, grad(4, 5.0f);
  const LossSums sums =
      SoftmaxCrossEntropy<float>(View(logits, 2), std::vector<int32_t>{kNoLabel, kNoLabel}, {}, 0, View(grad, 2), 1);
  EXPECT_EQ(sums.loss, 0);
  EXPECT_EQ(sums.weight, 0);
  EXPECT_EQ(grad, (std::vector<float>(4)));
}

TEST(Values, GiveTheSameBitsOnAnyThreadCountAndInstructionSet) {
  constexpr int64_t kRows = 3001, kCols = 47;
  const std::vector<float> x = RandomValues<float>(kRows * kCols, 1);
  std::vector<int32_t> labels(kRows);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i % 48) - 1;
  for (const Activation kind : {Activation::kRelu, Activation::kLeakyRelu, Activation::kElu}) {
    ExpectSameBits("activation and loss", [&](int threads) {
      std::vector<float> y = x, g(x.size());
      ActivationForward<float>(kind, View(y, kCols), threads);
      const LossSums sums = SoftmaxCrossEntropy<float>(View(y, kCols), labels, {}, 0, View(g, kCols), threads);
      ActivationBackward<float>(kind, 1.0, View(y, kCols), View(g, kCols), threads);
      AddTo<float>(View(y, kCols), View(g, kCols), threads);
      g.push_back(static_cast<float>(sums.loss));
      return g;
    });
  }
}

TEST(TargetLoss, EachLossIsPyTorchsWithItsGradient) {
  // torch.nn.functional on outputs [[0.5, -2, 3], [40, -40, 0.25]] and targets [[1, 0, 1], [0, 1, 1]],
  // reduction="mean".
  const std::vector<double> outputs = {0.5, -2, 3, 40, -40, 0.25};
  const std::vector<float> targets = {1, 0, 1, 0, 1, 1};
  struct Case {
    Loss loss;
    TargetKind kind;
    double value;
    std::vector<double> pos_weight = {};
  };
  const double bce = std::log1p(std::exp(-0.5)) + std::log1p(std::exp(-2.0)) + std::log1p(std::exp(-3.0)) + 80 +
                     std::log1p(std::exp(-0.25));
  const Case cases[] = {
      {Loss::kBinaryCrossEntropy, TargetKind::kMultiLabel, bce / 6},
      {Loss::kBinaryCrossEntropy,
       TargetKind::kMultiLabel,
       (2 * std::log1p(std::exp(-0.5)) + std::log1p(std::exp(-2.0)) + 0.5 * std::log1p(std::exp(-3.0)) + 80 +
        0.5 * std::log1p(std::exp(-0.25))) /
           6,
       {2, 1, 0.5}},
      {Loss::kSquared, TargetKind::kValues, (0.25 + 4 + 4 + 1600 + 1681 + 0.5625) / 6},
      {Loss::kAbsolute, TargetKind::kValues, (0.5 + 2 + 2 + 40 + 41 + 0.75) / 6},
      {Loss::kHuber, TargetKind::kValues, (0.125 + 1.5 + 1.5 + 39.5 + 40.5 + 0.28125) / 6},
  };
  const std::vector<NodeId> nodes = {0, 1};
  for (const Case& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.loss));
    const TargetView view{c.kind, targets.data(), 2, 3};
    const auto loss_of = [&](std::vector<double> at, std::vector<double>* grad) {
      std::vector<double> gradient(6);
      const Matrix<const double> in{at.data(), 2, 3, 3};
      const LossSums sums =
          TargetLoss<double>(in, view, nodes, c.loss, c.pos_weight, 0, Matrix<double>{gradient.data(), 2, 3, 3}, 1);
      EXPECT_EQ(sums.labelled, 2);
      if (grad != nullptr) *grad = gradient;
      return sums.loss / sums.weight;
    };
    std::vector<double> grad;
    EXPECT_NEAR(loss_of(outputs, &grad), c.value, 1e-12 * c.value);
    for (size_t i = 0; i < 6; ++i) {
      std::vector<double> up = outputs, down = outputs;
      up[i] += 1e-6;
      down[i] -= 1e-6;
      EXPECT_NEAR(grad[i], (loss_of(up, nullptr) - loss_of(down, nullptr)) / 2e-6, 1e-6 * (1 + std::fabs(grad[i])))
          << i;
    }
  }
}

TEST(TargetLoss, UnknownTargetsAndNodesWithoutTargetsHaveNoPart) {
  const float unknown = std::nanf("");
  const std::vector<float> targets = {1, unknown, unknown, unknown, 0, 1};
  const std::vector<float> outputs = {2, 7, 1, 1, -1, -3};
  const std::vector<NodeId> nodes = {0, 1, 2};
  std::vector<float> grad(6, 9.0f);
  const TargetView view{TargetKind::kMultiLabel, targets.data(), 3, 2};
  const LossSums sums = TargetLoss<float>(Matrix<const float>{outputs.data(), 3, 2, 2}, view, nodes,
                                          Loss::kBinaryCrossEntropy, {}, 0, Matrix<float>{grad.data(), 3, 2, 2}, 2);
  EXPECT_EQ(sums.labelled, 2);
  EXPECT_EQ(sums.correct, 1);  // node 2 has one label on the wrong side
  const double node2 = (std::log1p(std::exp(-1.0)) + 3 + std::log1p(std::exp(-3.0))) / 2;
  EXPECT_NEAR(sums.loss, std::log1p(std::exp(-2.0)) + node2, 1e-6);
  EXPECT_NEAR(grad[0], (1 / (1 + std::exp(-2.0)) - 1) / 2, 1e-7);
  EXPECT_EQ(grad[1], 0);
  EXPECT_EQ(grad[2], 0);
  EXPECT_EQ(grad[3], 0);
  EXPECT_NEAR(grad[4], 1 / (1 + std::exp(1.0)) / 4, 1e-7);
}

}  // namespace
}  // namespace hone::gnn
