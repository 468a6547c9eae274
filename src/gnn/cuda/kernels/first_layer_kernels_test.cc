// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the fused kernels of a first layer with separate computations. Coefficients and gradients of a normalisation
// that come from moments are compared with sums over the rows in double. The kernel that makes the rows' gradient and
// more is compared with the kernels that make its parts.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/kernels/input_norm_kernels.h"
#include "gnn/cuda/kernels/marked_product.h"
#include "gnn/cuda/kernels/normed_product.h"
#include "gnn/cuda/kernels/source_gradient_kernels.h"
#include "gnn/ops/batch_norm.h"

namespace hone::gnn::cuda {
namespace {

// A bf16 value: the upper half of a float, rounded to nearest, ties to even.
struct Value {
  Value() = default;
  explicit Value(float x) {
    const auto word = std::bit_cast<uint32_t>(x);
    bits = static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  uint16_t bits = 0;
};

float RoundToBFloat16(double x) { return static_cast<float>(Value(static_cast<float>(x))); }

// Returns values uniform in [from, from + 2), rounded to bf16.
std::vector<float> RandomBFloat16(size_t count, uint32_t seed, double from = -1) {
  std::mt19937 draw(seed);
  std::vector<float> values(count);
  for (float& value : values) value = RoundToBFloat16(from + static_cast<double>(draw()) / 2147483648.0);
  return values;
}
std::vector<Value> AsValues(const std::vector<float>& values) {
  std::vector<Value> out;
  for (const float value : values) out.emplace_back(value);
  return out;
}
template <typename T>
DeviceArray<T> OnDevice(const std::vector<T>& values) {
  DeviceArray<T> array;
  EXPECT_TRUE(array.Upload(values.data(), static_cast<int64_t>(values.size())).ok());
  return array;
}
template <typename T>
std::vector<T> Zeros(size_t count) {
  return std::vector<T>(count, T{});
}
std::vector<float> FromDevice(const DeviceArray<float>& array) {
  std::vector<float> values;
  EXPECT_TRUE(array.Download(values).ok());
  return values;
}
std::vector<float> FromDevice(const DeviceArray<Value>& array) {
  std::vector<Value> raw;
  EXPECT_TRUE(array.Download(raw).ok());
  std::vector<float> values;
  for (const Value value : raw) values.push_back(static_cast<float>(value));
  return values;
}

class FirstLayerKernels : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
  }
  // Makes a batch with `known` nodes after each hop, whose ids are 1000 + 3 * row.
  void MakeBatch(const std::vector<int32_t>& hop_nodes) {
    BatchHeader header{};
    header.valid = 1;
    header.step = 4;
    header.epoch = 2;
    std::copy(hop_nodes.begin(), hop_nodes.end(), header.hop_nodes);
    RunState state{};
    state.seed = 77;
    std::vector<int32_t> nodes;
    for (int32_t i = 0; i < hop_nodes.back(); ++i) nodes.push_back(1000 + 3 * i);
    header_ = OnDevice(std::vector<BatchHeader>{header});
    state_ = OnDevice(std::vector<RunState>{state});
    nodes_ = OnDevice(nodes);
  }
  RowsOnDevice Rows(int number, int32_t padded_rows, int32_t width) const {
    return {state_.get(), header_.get(), nodes_.get(), number, padded_rows, width};
  }
  static void Synchronise() {
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
  }

  DeviceArray<BatchHeader> header_;
  DeviceArray<RunState> state_;
  DeviceArray<int32_t> nodes_;
};

// Uses 300 rows of 384, 40 inputs whose means are three times their deviation, 24 outputs, and leaky ReLU.
TEST_F(FirstLayerKernels, MomentsGiveTheCoefficientsAndGradientsOfTheRowsThemselves) {
  constexpr int32_t kRows = 300, kPadded = 384, kIn = 40, kOut = 24;
  MakeBatch({kRows});
  std::vector<float> x = RandomBFloat16(size_t{kPadded} * kIn, 1, 1.0);
  const std::vector<float> w = RandomBFloat16(size_t{kOut} * kIn, 2), gain = RandomBFloat16(kOut, 3, 0.5),
                           shift = RandomBFloat16(kOut, 4), linear_bias = RandomBFloat16(kOut, 5),
                           grad_y = RandomBFloat16(size_t{kPadded} * kOut, 6);
  const Between between{.activation = Activation::kLeakyRelu};

  // Computes the expected values from the rows, in double.
  std::vector<double> p(size_t{kRows} * kOut), mean(kOut), inverse(kOut), variance(kOut), grad(p.size());
  std::vector<double> dw(size_t{kOut} * kIn), dgain(kOut), dshift(kOut), dbias(kOut);
  std::vector<float> marks_of(p.size());
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t j = 0; j < kOut; ++j) {
      for (size_t k = 0; k < kIn; ++k) p[r * kOut + j] += double{x[r * kIn + k]} * double{w[j * kIn + k]};
      mean[j] += p[r * kOut + j] / kRows;
    }
  }
  for (size_t j = 0; j < kOut; ++j) {
    for (size_t r = 0; r < kRows; ++r) variance[j] += std::pow(p[r * kOut + j] - mean[j], 2) / kRows;
    inverse[j] = 1 / std::sqrt(variance[j] + kBatchNormEpsilon);
    double product = 0;
    for (size_t r = 0; r < kRows; ++r) {
      const double normalised = (p[r * kOut + j] - mean[j]) * inverse[j],
                   y = double{gain[j]} * normalised + double{shift[j]};
      const double g = double{grad_y[r * kOut + j]};
      grad[r * kOut + j] =
          double{RoundToBFloat16(y > 0 ? g : static_cast<double>(static_cast<float>(kLeakySlope)) * g)};
      dshift[j] += grad[r * kOut + j];
      product += grad[r * kOut + j] * normalised;
      dbias[j] += g;
    }
    dgain[j] = product;
    for (size_t r = 0; r < kRows; ++r) {
      const double normalised = (p[r * kOut + j] - mean[j]) * inverse[j];
      const double of_p =
          double{gain[j]} * inverse[j] * (grad[r * kOut + j] - dshift[j] / kRows - normalised * product / kRows);
      for (size_t k = 0; k < kIn; ++k) dw[j * kIn + k] += of_p * double{x[r * kIn + k]};
    }
  }

  // Makes the moments. Products run over all padded rows, because the gradient is zero past the batch's rows.
  const RowsOnDevice rows = Rows(0, kPadded, kOut);
  DeviceArray<Value> x_device = OnDevice(AsValues(x));
  DeviceArray<float> sums = OnDevice(Zeros<float>(kIn)),
                     partials = OnDevice(Zeros<float>(static_cast<size_t>(GradientPartials(kPadded, 64))));
  ASSERT_EQ(EnqueueInputSums(rows, kIn, x_device.get(), sums.get(), partials.get(), nullptr), cudaSuccess);
  Synchronise();
  x = FromDevice(x_device);
  for (size_t i = size_t{kRows} * kIn; i < x.size(); ++i) ASSERT_EQ(x[i], 0) << "a row past the batch's";
  const auto product_of = [&](const std::vector<float>& left, size_t width) {
    std::vector<double> out(width * kIn);
    for (size_t r = 0; r < kPadded; ++r) {
      for (size_t j = 0; j < width; ++j) {
        for (size_t k = 0; k < kIn; ++k) out[j * kIn + k] += double{left[r * width + j]} * double{x[r * kIn + k]};
      }
    }
    return std::vector<float>(out.begin(), out.end());
  };
  const DeviceArray<float> gram = OnDevice(product_of(x, kIn));

  // Checks forward. Gram and sums are rounded to fp32, 2^-24 of about kRows * 4; the smallest variance is about a
  // tenth.
  const DeviceArray<Value> w_device = OnDevice(AsValues(w));
  DeviceArray<float> gain_device = OnDevice(gain), shift_device = OnDevice(shift), bias_device = OnDevice(linear_bias);
  DeviceArray<float> running_mean = OnDevice(Zeros<float>(kOut)), running_variance = OnDevice(Zeros<float>(kOut)),
                     batches = OnDevice(Zeros<float>(1));
  DeviceArray<float> memory = OnDevice(Zeros<float>(size_t{kCoefficientArrays} * kOut));
  DeviceArray<float> products = OnDevice(Zeros<float>(size_t{kOut} * kIn));
  const ColumnCoefficients coefficients = CoefficientsIn(memory.get(), kOut);
  const InputMoments moments{sums.get(), gram.get()};
  ASSERT_EQ(EnqueueInputCoefficients(rows, kIn, kOut, moments, w_device.get(),
                                     {gain_device.get(), shift_device.get(), bias_device.get(), running_mean.get(),
                                      running_variance.get(), batches.get()},
                                     coefficients, products.get(), nullptr),
            cudaSuccess);
  Synchronise();
  const std::vector<float> computed = FromDevice(memory), moved_mean = FromDevice(running_mean),
                           moved_variance = FromDevice(running_variance);
  for (size_t j = 0; j < kOut; ++j) {
    EXPECT_NEAR(computed[j], mean[j], 1e-5 * std::max(1.0, std::abs(mean[j]))) << j;
    EXPECT_NEAR(computed[kOut + j], double{gain[j]} * inverse[j], 1e-4 * std::abs(double{gain[j]} * inverse[j])) << j;
    EXPECT_EQ(computed[2 * kOut + j], shift[j]) << j;
    EXPECT_NEAR(computed[3 * kOut + j], inverse[j], 1e-4 * inverse[j]) << j;
    const double expected_mean = kBatchNormMomentum * (mean[j] + double{linear_bias[j]});
    EXPECT_NEAR(moved_mean[j], expected_mean, 1e-5 * std::max(1.0, std::abs(expected_mean))) << j;
    EXPECT_NEAR(moved_variance[j], kBatchNormMomentum * variance[j] * kRows / (kRows - 1), 2e-5 * variance[j]) << j;
  }
  EXPECT_EQ(FromDevice(batches)[0], 1);

  // Checks backward, from the rows themselves and from marks.
  std::vector<uint16_t> marks(size_t{kPadded} * kOut / 8);
  for (size_t i = 0; i < p.size(); ++i) {
    const size_t j = i % kOut;
    if (double{gain[j]} * (p[i] - mean[j]) * inverse[j] + double{shift[j]} > 0) {
      marks[i / 8] = static_cast<uint16_t>(marks[i / 8] | 1u << (i % 8));
    }
    marks[i / 8] |= 0xff00;
  }
  const DeviceArray<uint16_t> marks_device = OnDevice(marks);
  const DeviceArray<Value> grad_y_device = OnDevice(AsValues(grad_y));
  DeviceArray<Value> grad_device = OnDevice(std::vector<Value>(size_t{kPadded} * kOut, Value(9.0f)));
  ASSERT_EQ(EnqueueGradientBefore(rows, marks_device.get(), nullptr, coefficients, between, grad_y_device.get(),
                                  grad_device.get(), partials.get(), nullptr),
            cudaSuccess);
  Synchronise();
  const std::vector<float> before = FromDevice(grad_device);
  for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(before[i], i < grad.size() ? grad[i] : 0.0) << i;
  DeviceArray<float> weight_gradient = OnDevice(product_of(before, kOut));
  DeviceArray<float> gain_gradient = OnDevice(Zeros<float>(kOut)), shift_gradient = OnDevice(Zeros<float>(kOut)),
                     bias_gradient = OnDevice(Zeros<float>(kOut));
  ASSERT_EQ(EnqueueInputGradients(
                rows, kIn, kOut, moments, w_device.get(), products.get(), coefficients, partials.get(), kAllPieces,
                {weight_gradient.get(), gain_gradient.get(), shift_gradient.get(), bias_gradient.get()}, nullptr),
            cudaSuccess);
  Synchronise();
  const std::vector<float> dw_made = FromDevice(weight_gradient), dgain_made = FromDevice(gain_gradient),
                           dshift_made = FromDevice(shift_gradient), dbias_made = FromDevice(bias_gradient);
  double largest_magnitude = 0;
  for (const double value : dw) largest_magnitude = std::max(largest_magnitude, std::abs(value));
  for (size_t i = 0; i < dw.size(); ++i) EXPECT_NEAR(dw_made[i], dw[i], 1e-4 * largest_magnitude) << i;
  for (size_t j = 0; j < kOut; ++j) {
    EXPECT_NEAR(dgain_made[j], dgain[j], 1e-4 * kRows) << j;
    EXPECT_NEAR(dshift_made[j], dshift[j], 1e-3) << j;  // sums in fp32, before they are rounded
    EXPECT_NEAR(dbias_made[j], dbias[j], 1e-3) << j;
  }
}

TEST_F(FirstLayerKernels, RowsWhoseInputIsKnownByValueOrByMarkHaveTheSameGradient) {
  constexpr int32_t kRows = 150, kPadded = 256, kWidth = 264;
  MakeBatch({kRows});
  const RowsOnDevice rows = Rows(0, kPadded, kWidth);
  const Between between{.activation = Activation::kLeakyRelu, .dropout = {1, 2, 20000, 65536.0f / 45536.0f}};
  const DeviceArray<Value> x = OnDevice(AsValues(RandomBFloat16(size_t{kPadded} * kWidth, 1))),
                           grad_y = OnDevice(AsValues(RandomBFloat16(size_t{kPadded} * kWidth, 2)));
  DeviceArray<float> memory = OnDevice(RandomBFloat16(size_t{kCoefficientArrays} * kWidth, 3));
  const ColumnCoefficients coefficients = CoefficientsIn(memory.get(), kWidth);
  DeviceArray<Value> y = OnDevice(Zeros<Value>(size_t{kPadded} * kWidth)),
                     unmarked = OnDevice(Zeros<Value>(size_t{kPadded} * kWidth));
  DeviceArray<uint16_t> marks = OnDevice(Zeros<uint16_t>(size_t{kPadded} * kWidth / 8));
  for (DeviceArray<Value>* to : {&y, &unmarked}) {
    ASSERT_EQ(EnqueueBetween(rows, Element::kBFloat16, x.get(), coefficients, between,
                             {.y = to->get(), .marks = to == &y ? marks.get() : nullptr}, nullptr),
              cudaSuccess);
  }
  const auto count = static_cast<size_t>(GradientPartials(kPadded, kWidth));
  DeviceArray<float> by_value_sums = OnDevice(Zeros<float>(count)), by_mark_sums = OnDevice(Zeros<float>(count));
  DeviceArray<Value> by_value = OnDevice(Zeros<Value>(size_t{kPadded} * kWidth)),
                     by_mark = OnDevice(Zeros<Value>(size_t{kPadded} * kWidth));
  ASSERT_EQ(EnqueueGradientBefore(rows, nullptr, x.get(), coefficients, between, grad_y.get(), by_value.get(),
                                  by_value_sums.get(), nullptr),
            cudaSuccess);
  ASSERT_EQ(EnqueueGradientBefore(rows, marks.get(), nullptr, coefficients, between, grad_y.get(), by_mark.get(),
                                  by_mark_sums.get(), nullptr),
            cudaSuccess);
  Synchronise();
  EXPECT_EQ(FromDevice(y), FromDevice(unmarked));
  const std::vector<float> expected = FromDevice(by_value);
  EXPECT_EQ(FromDevice(by_mark), expected);
  const std::vector<float> mine = FromDevice(by_mark_sums), theirs = FromDevice(by_value_sums);
  // The tolerance allows for 128 terms of at most 1.5, some of which a compiler may fuse into the sum.
  for (size_t i = 0; i < mine.size(); ++i) ASSERT_NEAR(mine[i], theirs[i], 128 * 192 * 0x1p-23) << i;
  EXPECT_GT(std::count(expected.begin(), expected.end(), 0.0f), kRows * kWidth / 4);  // dropped elements
  EXPECT_LT(std::count(expected.begin(), expected.begin() + kRows * kWidth, 0.0f), kRows * kWidth / 2);
}

// Uses 40 destinations that draw up to 5 of 200 sources; they draw the first source more often than a warp looks up at
// once.
TEST_F(FirstLayerKernels, TheGradientOfSourcesIsAggregateBackwardsAndItsSumsAreItsOwn) {
  constexpr int32_t kSeeds = 9, kDestinations = 40, kSources = 200, kPadded = 256, kWidth = 264, kFanout = 5;
  MakeBatch({kSeeds, kDestinations, kSources});
  std::mt19937 draw(11);
  std::vector<int32_t> counts, columns(size_t{kDestinations} * kFanout, -1), begin(kSources), end(kSources);
  std::vector<uint32_t> sorted;
  for (int32_t row = 0; row < kDestinations; ++row) {
    counts.push_back(static_cast<int32_t>(draw() % (kFanout + 1)));
    for (int32_t s = 0; s < counts.back(); ++s) {
      columns[static_cast<size_t>(row * kFanout + s)] = s == 0 ? 0 : static_cast<int32_t>(draw() % kSources);
    }
  }
  for (int32_t source = 0; source < kSources; ++source) {
    begin[static_cast<size_t>(source)] = static_cast<int32_t>(sorted.size());
    for (size_t slot = 0; slot < columns.size(); ++slot) {
      if (columns[slot] == source) sorted.push_back(static_cast<uint32_t>(slot));
    }
    end[static_cast<size_t>(source)] = static_cast<int32_t>(sorted.size());
  }
  ASSERT_GT(end[0] - begin[0], 32);
  const DeviceArray<int32_t> counts_device = OnDevice(counts), begin_device = OnDevice(begin),
                             end_device = OnDevice(end);
  const DeviceArray<uint32_t> sorted_device = OnDevice(sorted);
  HopOnDevice hop{};
  hop.fanout = kFanout;
  hop.rows = 128;
  hop.sources = kPadded;
  hop.counts = counts_device.get();
  hop.sorted_slots = sorted_device.get();
  hop.first = begin_device.get();
  hop.end = end_device.get();

  const DeviceArray<Value> grad_out = OnDevice(AsValues(RandomBFloat16(size_t{128} * 2 * kWidth, 1))),
                           z = OnDevice(AsValues(RandomBFloat16(size_t{kPadded} * kWidth, 2))),
                           destinations = OnDevice(AsValues(RandomBFloat16(size_t{128} * kWidth, 3))),
                           seeds = OnDevice(AsValues(RandomBFloat16(size_t{128} * 304, 4)));
  const DeviceArray<float> bias = OnDevice(RandomBFloat16(kWidth, 5)), eps = OnDevice(std::vector<float>{0.25f});
  std::vector<uint16_t> some_marks;
  for (int i = 0; i < kPadded * kWidth / 8; ++i) some_marks.push_back(static_cast<uint16_t>(draw()));
  const DeviceArray<uint16_t> marks = OnDevice(some_marks);
  const Between between{.activation = Activation::kLeakyRelu, .dropout = {1, 0, 8192, 8.0f / 7}};

  struct Case {
    AggregateKind kind;
    bool activates, direct, before;
  };
  for (const Case& c : {Case{{.mean = true}, false, true, true}, Case{{.mean = true}, true, false, true},
                        Case{{.adds_self = true, .eps = eps.get()}, true, false, false},
                        Case{{.adds_self = true}, false, false, false}}) {
    SCOPED_TRACE(testing::Message() << c.kind.mean << c.activates << c.direct << c.before);
    AggregateInput input;
    input.z = z.get();
    if (c.activates) {
      input.bias = bias.get();
      input.activation = Activation::kRelu;
    } else {
      input.neighbors = {1, 1, 16384, 4.0f / 3};
      input.self = {1, 2, 16384, 4.0f / 3};
    }
    DirectGradients direct;
    if (c.direct) direct = {destinations.get(), seeds.get(), 304};
    const std::vector<Value> garbage(size_t{kPadded} * kWidth, Value(5.0f));
    DeviceArray<Value> expected = OnDevice(garbage), expected_before = OnDevice(garbage), made = OnDevice(garbage),
                       before = OnDevice(garbage);
    const auto partial_count = static_cast<size_t>(GradientPartials(kPadded, kWidth));
    DeviceArray<float> expected_sums = OnDevice(Zeros<float>(partial_count)),
                       sums = OnDevice(Zeros<float>(partial_count));
    ASSERT_EQ(EnqueueAggregateBackward(c.kind, hop, 1, Element::kBFloat16, input, kWidth, kPadded, grad_out.get(),
                                       direct, state_.get(), header_.get(), nodes_.get(), expected.get(), nullptr),
              cudaSuccess);
    ASSERT_EQ(EnqueueSourceGradient(c.kind, hop, 1, input, kWidth, kPadded, grad_out.get(), direct, state_.get(),
                                    header_.get(), nodes_.get(),
                                    {.grad_z = made.get(),
                                     .before = c.before ? before.get() : nullptr,
                                     .marks = marks.get(),
                                     .between = between,
                                     .partials = sums.get()},
                                    nullptr),
              cudaSuccess);
    ASSERT_EQ(EnqueueGradientBefore(Rows(2, kPadded, kWidth), marks.get(), nullptr, {}, between, made.get(),
                                    expected_before.get(), expected_sums.get(), nullptr),
              cudaSuccess);
    Synchronise();
    // A product fused into a sum in only one of the two may change the last of a bf16's eight bits.
    const std::vector<float> gradient = FromDevice(made), long_way = FromDevice(expected);
    for (size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_NEAR(gradient[i], long_way[i], 0x1p-7 * std::abs(long_way[i]) + 1e-6) << i;
    }
    const std::vector<float> theirs = FromDevice(expected_sums), mine = FromDevice(sums);
    // The tolerance allows for 128 terms of at most 30.
    const double tolerance = 128 * 128 * 30 * 0x1p-24;
    if (c.before) {
      EXPECT_EQ(FromDevice(before), FromDevice(expected_before));
      for (size_t i = 0; i < partial_count; ++i) ASSERT_NEAR(mine[i], theirs[i], tolerance) << i;
    } else {  // sums of grad_z alone
      for (size_t i = 0; i < partial_count / 2; ++i) {
        ASSERT_NEAR(mine[i], theirs[partial_count / 2 + i], tolerance) << i;
      }
    }
  }
}

// Uses 150 rows of 256, the first 70 of them seeds, so that a tile of 64 rows is partly filled and partly seeds; leaky
// ReLU, a quarter dropped, and a residual.
TEST_F(FirstLayerKernels, TheFirstLayerInOneKernelIsItsPartsInDouble) {
  constexpr int32_t kSeeds = 70, kRows = 150, kPadded = 256, kIn = 128, kResidual = 64, kOut = 256, kStride = 264;
  const NormedProductShape shape{.inputs = kIn, .outputs = kOut, .residual_inputs = kResidual,
                                 .activation = Activation::kLeakyRelu};
  if (!NormedProductServes(shape)) GTEST_SKIP() << "the kernel is for devices of capability 9.0";
  MakeBatch({kSeeds, kRows});
  const std::vector<float> x = RandomBFloat16(size_t{kPadded} * kIn, 1), w = RandomBFloat16(size_t{kOut} * kIn, 2),
                           r = RandomBFloat16(size_t{kPadded} * kResidual, 3),
                           rw = RandomBFloat16(size_t{kOut} * kResidual, 4), mean = RandomBFloat16(kOut, 5),
                           scale = RandomBFloat16(kOut, 6, 0.5), shift = RandomBFloat16(kOut, 7),
                           bias = RandomBFloat16(kOut, 8);
  std::mt19937 draw(9);
  std::vector<uint8_t> kept_bits(size_t{kPadded} * kOut / 8);
  for (uint8_t& byte : kept_bits) byte = static_cast<uint8_t>(draw() | draw());
  std::vector<float> coefficients(size_t{kCoefficientArrays} * kOut);
  std::copy(mean.begin(), mean.end(), coefficients.begin());
  std::copy(scale.begin(), scale.end(), coefficients.begin() + kOut);
  std::copy(shift.begin(), shift.end(), coefficients.begin() + 2 * kOut);

  const auto x_on = OnDevice(AsValues(x)), w_on = OnDevice(AsValues(w)), r_on = OnDevice(AsValues(r)),
             rw_on = OnDevice(AsValues(rw));
  const auto bias_on = OnDevice(bias);
  auto coefficients_on = OnDevice(coefficients);
  const auto kept_on = OnDevice(kept_bits);
  auto y_on = OnDevice(AsValues(std::vector<float>(size_t{kPadded} * kOut, 7.0f)));
  auto also_on = OnDevice(AsValues(std::vector<float>(size_t{kPadded} * kStride, 7.0f)));
  auto marks_on = OnDevice(std::vector<uint16_t>(size_t{kPadded} * kOut / 8));
  NormedProduct product;
  product.x = x_on.get();
  product.weight = w_on.get();
  product.coefficients = CoefficientsIn(coefficients_on.get(), kOut);
  product.between = {.activation = Activation::kLeakyRelu, .dropout = {.threshold = 1, .scale = 4.0f / 3.0f}};
  product.kept = kept_on.get();
  product.residual = r_on.get();
  product.residual_weight = rw_on.get();
  product.residual_bias = bias_on.get();
  product.y = y_on.get();
  product.also = also_on.get();
  product.also_stride = kStride;
  product.marks = marks_on.get();
  const Status status = EnqueueNormedProduct(Rows(1, kPadded, kOut), shape, product, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  Synchronise();

  const std::vector<float> y = FromDevice(y_on), also = FromDevice(also_on);
  std::vector<uint16_t> marks;
  ASSERT_TRUE(marks_on.Download(marks).ok());
  for (size_t i = 0; i < kPadded; ++i) {
    for (size_t j = 0; j < kOut; ++j) {
      if (i >= kRows) {
        ASSERT_EQ(y[i * kOut + j], 7.0f) << "row " << i << " is past the batch's";
        continue;
      }
      double p = 0, residual = double{bias[j]};
      for (size_t k = 0; k < kIn; ++k) p += double{x[i * kIn + k]} * double{w[j * kIn + k]};
      for (size_t k = 0; k < kResidual; ++k) residual += double{r[i * kResidual + k]} * double{rw[j * kResidual + k]};
      const double z = (p - double{mean[j]}) * double{scale[j]} + double{shift[j]};
      const bool is_kept = (kept_bits[i * kOut / 8 + j / 8] >> j % 8 & 1) != 0;
      const double dropped = is_kept ? (z > 0 ? z : kLeakySlope * z) * 4 / 3 : 0.0;
      // The tolerance allows for sums of at most 128 products of numbers up to 1.5 in fp32, times at most 2, and for
      // one rounding to 8 bits.
      const double sums = 128 * 1.5 * 4 * 0x1p-23;
      ASSERT_NEAR(y[i * kOut + j], dropped + residual, std::abs(dropped + residual) * 0x1p-8 + sums) << i << " " << j;
      const unsigned mark = marks[i * kOut / 8 + j / 8];
      ASSERT_EQ(mark >> (8 + j % 8) & 1, is_kept ? 1u : 0u) << i << " " << j;
      if (std::abs(z) > sums) {
        ASSERT_EQ(mark >> j % 8 & 1, z > 0 ? 1u : 0u) << i << " " << j;
      }
      ASSERT_EQ(also[i * kStride + j], i < kSeeds ? y[i * kOut + j] : 7.0f) << i << " " << j;
    }
  }
}

// Uses rows that end within a tile, leaky ReLU, and a quarter dropped. Then it uses so many rows that each of the few
// blocks has several tiles; of these, only the sums and every 97th row are checked.
TEST_F(FirstLayerKernels, TheProductBeforeMarksIsItsPartsInDouble) {
  constexpr int32_t kInner = 128, kOut = 256;
  const MarkedProductShape shape{.inner = kInner, .outputs = kOut, .activation = Activation::kLeakyRelu};
  if (!MarkedProductServes(shape)) GTEST_SKIP() << "the kernel is for devices of capability 9.0";
  const int32_t blocks = MarkedProductMostPieces(1 << 24, shape);
  std::vector<int32_t> counts = {150};
  if (blocks <= 256) counts.push_back(blocks * 128 * 2 + 90);
  for (const int32_t count : counts) {
    SCOPED_TRACE(count);
    const int32_t padded = (count + 255) / 128 * 128;
    MakeBatch({70, count});
    std::vector<float> grad = RandomBFloat16(static_cast<size_t>(padded) * kInner, 1),
                       w = RandomBFloat16(size_t{kInner} * kOut, 2);
    std::fill(grad.begin() + int64_t{count} * kInner, grad.end(), 0.0f);
    std::mt19937 draw(9);
    std::vector<uint16_t> marks(static_cast<size_t>(padded) * kOut / 8);
    for (uint16_t& mark : marks) mark = static_cast<uint16_t>((draw() & 0xff) | (draw() & 0xff00) | (draw() & 0xff00));
    const auto grad_on = OnDevice(AsValues(grad)), w_on = OnDevice(AsValues(w));
    const auto marks_on = OnDevice(marks);
    auto before_on = OnDevice(AsValues(std::vector<float>(static_cast<size_t>(padded) * kOut, 7.0f)));
    const int32_t most = MarkedProductMostPieces(padded, shape), pieces = std::min(most, (count + 127) / 128);
    auto partials_on = OnDevice(std::vector<float>(static_cast<size_t>(most) * kOut, 7.0f));
    MarkedProduct product;
    product.grad = grad_on.get();
    product.weight = w_on.get();
    product.between = {.activation = Activation::kLeakyRelu, .dropout = {.threshold = 1, .scale = 4.0f / 3.0f}};
    product.marks = marks_on.get();
    product.before = before_on.get();
    product.partials = partials_on.get();
    const Status status = EnqueueMarkedProduct(Rows(1, padded, kOut), shape, product, nullptr);
    ASSERT_TRUE(status.ok()) << status.message();
    Synchronise();

    const std::vector<float> before = FromDevice(before_on);
    std::vector<float> partials;
    ASSERT_TRUE(partials_on.Download(partials).ok());
    std::vector<double> sums(kOut), sizes(kOut);
    for (size_t i = 0; i < static_cast<size_t>(padded); ++i) {
      for (size_t j = 0; j < kOut; ++j) {
        const float made = before[i * kOut + j];
        sums[j] += double{made};
        sizes[j] += std::abs(double{made});
        if (i >= static_cast<size_t>(count)) {
          ASSERT_EQ(made, 0.0f) << "row " << i << " is past the batch's";
          continue;
        }
        if (count > 1000 && i % 97 != 0) continue;
        double p = 0;
        for (size_t k = 0; k < kInner; ++k) p += double{grad[i * kInner + k]} * double{w[k * kOut + j]};
        const unsigned mark = marks[i * kOut / 8 + j / 8];
        const double slope = (mark >> j % 8 & 1) != 0 ? 1 : kLeakySlope;
        const double expected = (mark >> (8 + j % 8) & 1) != 0 ? p * slope * 4 / 3 : 0.0;
        // The tolerance allows for a sum of 128 products of numbers up to 1.5 in fp32, times at most 4 / 3, and for one
        // rounding to 8 bits.
        ASSERT_NEAR(made, expected, std::abs(expected) * 0x1p-8 + 128 * 1.5 * 4 * 0x1p-23) << i << " " << j;
      }
    }
    for (size_t j = 0; j < kOut; ++j) {
      double sum = 0;
      for (size_t piece = 0; piece < static_cast<size_t>(pieces); ++piece) sum += double{partials[piece * kOut + j]};
      // A piece is added up in fp32, over at most this many rows one after another.
      const int32_t rows = (count / 128 / pieces + 1) * 128;
      ASSERT_NEAR(sum, sums[j], rows * 0x1p-24 * sizes[j]) << j;
    }
  }
}

}  // namespace
}  // namespace hone::gnn::cuda
