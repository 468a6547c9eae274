// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares library calls of plans on a GPU with sums in double precision. Skips without a GPU, cuBLASLt or cuDNN.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

#include "tuner/device/convolution_test_support.h"
#include "tuner/device/cuda/session_test_support.h"
#include "tuner/device/host_tensor_ops.h"

extern "C" {
extern const unsigned char hone_gpu_test_fatbin[];
extern const unsigned long hone_gpu_test_fatbin_size;
}

namespace hone::test {
namespace {

using testing::HasSubstr;

struct Product {
  ResolvedCall call;
  TensorView a, b, bias, out;
  std::vector<uint8_t> a_host, b_host, bias_host;
  std::unique_ptr<Arena> arena;
  Bindings bindings;
};

// Draws values that neither dtype rounds: multiples of 1/64 below 2, by a generator of its own.
std::vector<uint8_t> Numbers(DType dtype, int64_t count, uint32_t seed) {
  std::vector<uint8_t> memory(static_cast<size_t>(count * DTypeBytes(dtype)));
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    host::WriteElement(dtype, memory.data() + i * DTypeBytes(dtype),
                       static_cast<double>(static_cast<int>(seed >> 24) - 128) / 64.0);
  }
  return memory;
}

// Makes memory apart, with inputs mapped read-only; every operand begins `shift` elements into its block.
Product Make(DeviceSession& session, ResolvedCall call, bool with_bias, int64_t shift) {
  Product product;
  const int64_t width = DTypeBytes(call.dtype);
  const auto operand = [&](const char* name, int64_t elements) {
    return ResolvedOperand{name, shift * width, elements * width};
  };
  call.a = operand("a", call.batch * call.m * call.k);
  call.b = operand("b", call.batch * call.k * call.n);
  call.out = operand("out", call.batch * call.m * call.n);
  if (with_bias) call.bias = operand("bias", call.n);
  product.a_host = Numbers(call.dtype, call.a.bytes / width + shift, 1);
  product.b_host = Numbers(call.dtype, call.b.bytes / width + shift, 2);
  product.bias_host = Numbers(call.dtype, call.n + shift, 3);
  product.a = View(call.dtype, {call.a.bytes / width + shift}, -1);
  product.b = View(call.dtype, {call.b.bytes / width + shift}, -1);
  product.bias = View(call.dtype, {call.n + shift}, -1);
  product.out = View(call.dtype, {call.out.bytes / width + shift}, -1);
  product.arena = PlaceApart(session, {&product.a, &product.b, &product.bias, &product.out}, {true, true, true, false});
  Write(session, product.a, product.a_host);
  Write(session, product.b, product.b_host);
  Write(session, product.bias, product.bias_host);
  EXPECT_TRUE(session.Poison(product.out).ok());
  product.bindings.tensors = {{"a", product.a}, {"b", product.b}, {"bias", product.bias}, {"out", product.out}};
  product.call = std::move(call);
  return product;
}

// Returns the greatest error, relative to the size of the summed terms.
double Error(DeviceSession& session, const Product& product, int64_t shift) {
  const ResolvedCall& c = product.call;
  const int64_t width = DTypeBytes(c.dtype);
  const auto at = [&](const std::vector<uint8_t>& memory, int64_t element) {
    return host::ReadElement(c.dtype, memory.data() + (element + shift) * width);
  };
  const std::vector<uint8_t> out = Read<uint8_t>(session, product.out);
  double worst = 0;
  for (int64_t batch = 0; batch < c.batch; ++batch) {
    for (int64_t i = 0; i < c.m; ++i) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = c.bias ? at(product.bias_host, j) : 0, size = std::abs(sum) + 1;
        for (int64_t t = 0; t < c.k; ++t) {
          const double term = at(product.a_host, batch * c.m * c.k + (c.transpose_a ? t * c.m + i : i * c.k + t)) *
                              at(product.b_host, batch * c.k * c.n + (c.transpose_b ? j * c.k + t : t * c.n + j));
          sum += term;
          size += std::abs(term);
        }
        if (c.epilogue == "relu") sum = std::max(sum, 0.0);
        if (c.epilogue == "gelu_tanh")
          sum = 0.5 * sum * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
        const double computed = at(out, (batch * c.m + i) * c.n + j);
        worst = std::max(worst, std::isfinite(computed) ? std::abs(computed - sum) / size : 1e30);
      }
    }
  }
  return worst;
}

double RoundOff(DType dtype) { return dtype == DType::kFloat32 ? 6e-8 : dtype == DType::kFloat16 ? 4.9e-4 : 3.9e-3; }

std::unique_ptr<LoadedProgram> AnyProgram(DeviceSession& session) {
  const std::string image(reinterpret_cast<const char*>(hone_gpu_test_fatbin), hone_gpu_test_fatbin_size);
  return Load(session, Program(image, {"busy"}));
}

bool NoLibrary(const LaunchOutcome& outcome) {
  return outcome.status == LaunchStatus::kUnsupported && outcome.detail.find("cuBLASLt") != std::string::npos;
}

TEST(LibraryCallsGpu, GiveWhatTheSumsAreForEveryDtypeLayoutAndEpilogue) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    double worst = 0;
    for (int variant = 0; variant < 48; ++variant) {
      ResolvedCall call{.m = 65,
                        .n = 48,
                        .k = 96,
                        .batch = variant % 16 < 8 ? 1 : 3,
                        .transpose_a = (variant & 1) != 0,
                        .transpose_b = (variant & 2) != 0,
                        .dtype = dtype};
      call.epilogue = variant < 16 ? "none" : variant < 32 ? "relu" : "gelu_tanh";
      // Addresses may be aligned to one element only: a task promises no more than 16 bytes, and an offset less.
      const int64_t shift = variant % 3 == 0 ? 1 : variant % 3 == 1 ? 0 : 8;
      const Product product = Make(session, std::move(call), (variant & 4) != 0, shift);
      ResolvedStep step;
      step.call = product.call;
      const LaunchOutcome outcome = Launch(session, *program, Plan({step}), product.bindings);
      if (NoLibrary(outcome)) GTEST_SKIP() << outcome.detail;
      ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail << ", variant " << variant;
      const double error = Error(session, product, shift);
      EXPECT_LT(error, 4 * RoundOff(dtype)) << DTypeName(dtype) << ", variant " << variant;
      worst = std::max(worst, error);
      EXPECT_EQ(session.CheckGaps(*product.arena)->value_or(""), "");
      EXPECT_EQ(Read<uint8_t>(session, product.a), product.a_host);
    }
    std::printf("%s: 48 products, the greatest error is %.3g of the terms' size\n",
                std::string(DTypeName(dtype)).c_str(), worst);
  }
}

// TF32 keeps 11 bits: a sum of numbers that need 24 would be off by 1e-4 of its terms.
TEST(LibraryCallsGpu, Float32IsNotTf32) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  Product product = Make(session, ResolvedCall{.m = 256, .n = 256, .k = 512}, /*with_bias=*/false, /*shift=*/0);
  for (size_t i = 0; i < product.a_host.size() / 4; ++i) {
    const float fine = 1.0f + static_cast<float>(i % 1021) * 1.1920929e-7f * 37;
    std::memcpy(product.a_host.data() + 4 * i, &fine, 4);
  }
  Write(session, product.a, product.a_host);
  ResolvedStep step;
  step.call = product.call;
  const LaunchOutcome outcome = Launch(session, *program, Plan({step}), product.bindings);
  if (NoLibrary(outcome)) GTEST_SKIP() << outcome.detail;
  ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
  EXPECT_LT(Error(session, product, 0), 3e-7);
}

// If the library sums in parts, it must not round them to 16 bits in between, as it would at these sizes.
TEST(LibraryCallsGpu, PartsOfASumAreAddedInFloat32) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  for (const auto& [m, n, k] : {std::tuple{64, 1025, 8192}, std::tuple{16, 257, 16384}}) {
    const Product product = Make(session, ResolvedCall{.m = m, .n = n, .k = k, .dtype = DType::kBFloat16},
                                 /*with_bias=*/false, /*shift=*/0);
    ResolvedStep step;
    step.call = product.call;
    const LaunchOutcome outcome = Launch(session, *program, Plan({step}), product.bindings);
    if (NoLibrary(outcome)) GTEST_SKIP() << outcome.detail;
    ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
    // The sum is small compared with its terms: rounded once, it is off by its own last bit, 2^-9 of some hundred.
    const std::vector<uint8_t> out = Read<uint8_t>(session, product.out);
    double worst = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; j += 7) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t) {
          sum += host::ReadElement(DType::kBFloat16, product.a_host.data() + 2 * (i * k + t)) *
                 host::ReadElement(DType::kBFloat16, product.b_host.data() + 2 * (t * n + j));
        }
        const double computed = host::ReadElement(DType::kBFloat16, out.data() + 2 * (i * n + j));
        worst = std::max(worst, std::abs(computed - sum) / std::max(1.0, std::abs(sum)));
      }
    }
    EXPECT_LT(worst, 4.5e-3) << m << " x " << n << " x " << k;
  }
}

TEST(LibraryCallsGpu, StandInTimedGraphsAndAgreeWithLaunchesAlone) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  std::vector<Product> sets;
  for (int set = 0; set < 8; ++set) {
    sets.push_back(Make(session,
                        ResolvedCall{.m = 512, .n = 512, .k = 512, .transpose_b = true, .dtype = DType::kBFloat16},
                        /*with_bias=*/true, /*shift=*/0));
  }
  ResolvedStep step;
  step.call = sets[0].call;
  // The memory of the second call is written by the step before it.
  const ResolvedPlan plan = Plan({step, Memset("out", 0, 2), step});
  SampleRequest request{.program = program.get(), .plan = &plan};
  for (const Product& product : sets) request.sets.push_back(&product.bindings);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const Result<SampleOutcome> sample = session.TimeSample(request);
    ASSERT_TRUE(sample.ok()) << sample.status().message();
    if (NoLibrary(sample->launch)) GTEST_SKIP() << sample->launch.detail;
    ASSERT_EQ(sample->launch.status, LaunchStatus::kOk) << sample->launch.detail;
    times.push_back(sample->us_per_plan);
  }
  for (const Product& product : sets) EXPECT_LT(Error(session, product, 0), 4 * RoundOff(DType::kBFloat16));
  std::sort(times.begin(), times.end());
  std::printf("two products of 512 and a memset: %.2f us of a graph of 8\n", times[times.size() / 2]);
  EXPECT_LT(times[times.size() / 2], 200);
}

TEST(LibraryCallsGpu, AnAlgorithmThatIsNotThereIsALimit) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  const Product product =
      Make(session, ResolvedCall{.m = 1, .n = 1, .k = 1, .algorithm = 31}, /*with_bias=*/false, /*shift=*/0);
  ResolvedStep step;
  step.call = product.call;
  const LaunchOutcome outcome = Launch(session, *program, Plan({step}), product.bindings);
  if (NoLibrary(outcome)) GTEST_SKIP() << outcome.detail;
  EXPECT_EQ(outcome.status, LaunchStatus::kResourceLimit);
  EXPECT_THAT(outcome.detail, HasSubstr("the plan asks for algorithm 31, and the library has"));
}

// Makes memory apart for a convolution; returns it with what it is computed of.
struct Images {
  ConvolutionCase one;
  TensorView input, weight, bias, out;
  std::unique_ptr<Arena> arena;
  Bindings bindings;
};

Images MakeImages(DeviceSession& session, const ResolvedConvolution& form, DType dtype, bool with_bias) {
  Images images{.one = MakeConvolution(form, dtype, with_bias)};
  const int64_t width = DTypeBytes(dtype);
  images.input = View(dtype, {images.one.call.a.bytes / width}, -1);
  images.weight = View(dtype, {images.one.call.b.bytes / width}, -1);
  images.bias = View(dtype, {form.out_channels}, -1);
  images.out = View(dtype, {images.one.call.out.bytes / width}, -1);
  images.arena =
      PlaceApart(session, {&images.input, &images.weight, &images.bias, &images.out}, {true, true, true, false});
  Write(session, images.input, images.one.input);
  Write(session, images.weight, images.one.weight);
  Write(session, images.bias, images.one.bias);
  EXPECT_TRUE(session.Poison(images.out).ok());
  images.bindings.tensors = {
      {"input", images.input}, {"weight", images.weight}, {"bias", images.bias}, {"out", images.out}};
  return images;
}

bool NoCudnn(const LaunchOutcome& outcome) {
  return outcome.status == LaunchStatus::kUnsupported && outcome.detail.find("cuDNN") != std::string::npos;
}

TEST(LibraryCallsGpu, ConvolutionsGiveWhatTheSumsAreForEveryFormAndDtype) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    double worst = 0;
    for (const ResolvedConvolution& form : ConvolutionForms()) {
      for (const bool with_bias : {false, true}) {
        const Images images = MakeImages(session, form, dtype, with_bias);
        ResolvedStep step;
        step.call = images.one.call;
        const LaunchOutcome outcome = Launch(session, *program, Plan({step}), images.bindings);
        if (NoCudnn(outcome)) GTEST_SKIP() << outcome.detail;
        ASSERT_EQ(outcome.status, LaunchStatus::kOk) << outcome.detail;
        const double error = ConvolutionError(images.one, Read<uint8_t>(session, images.out).data());
        // A library may transform images and weights first, which costs float32 a few digits.
        EXPECT_LT(error, 4 * ConvolutionTolerance(dtype)) << images.one.call.Describe();
        worst = std::max(worst, error);
        EXPECT_EQ(session.CheckGaps(*images.arena)->value_or(""), "");
        EXPECT_EQ(Read<uint8_t>(session, images.input), images.one.input);
      }
    }
    std::printf("%s: %zu convolutions, the greatest error is %.3g of the terms' size\n",
                std::string(DTypeName(dtype)).c_str(), 2 * ConvolutionForms().size(), worst);
  }
}

TEST(LibraryCallsGpu, AConvolutionStandsInTimedGraphsAndIsNotTf32) {
  HONE_REQUIRE_SESSION();
  const std::unique_ptr<LoadedProgram> program = AnyProgram(session);
  const ResolvedConvolution form{.batch = 4,
                                 .in_channels = 64,
                                 .out_channels = 64,
                                 .size = {28, 28},
                                 .kernel = {3, 3},
                                 .stride = {1, 1},
                                 .padding = {1, 1},
                                 .dilation = {1, 1},
                                 .output_padding = {0, 0}};
  std::vector<Images> sets;
  for (int set = 0; set < 4; ++set) {
    sets.push_back(MakeImages(session, form, DType::kFloat32, /*with_bias=*/true));
    // Numbers that need 24 bits: TF32 keeps 11, and would be off by 1e-4 of the terms.
    std::vector<uint8_t>& input = sets.back().one.input;
    for (size_t i = 0; i < input.size() / 4; ++i) {
      const float fine = 1.0f + static_cast<float>(i % 1021) * 1.1920929e-7f * 37;
      std::memcpy(input.data() + 4 * i, &fine, 4);
    }
    Write(session, sets.back().input, input);
  }
  ResolvedStep step;
  step.call = sets[0].one.call;
  const ResolvedPlan plan = Plan({step});
  SampleRequest request{.program = program.get(), .plan = &plan};
  for (const Images& images : sets) request.sets.push_back(&images.bindings);
  for (int i = 0; i < 3; ++i) {
    const Result<SampleOutcome> sample = session.TimeSample(request);
    ASSERT_TRUE(sample.ok()) << sample.status().message();
    if (NoCudnn(sample->launch)) GTEST_SKIP() << sample->launch.detail;
    ASSERT_EQ(sample->launch.status, LaunchStatus::kOk) << sample->launch.detail;
    std::printf("convolution of 64 channels, 28 x 28: %.2f us\n", sample->us_per_plan);
  }
  for (const Images& images : sets)
    EXPECT_LT(ConvolutionError(images.one, Read<uint8_t>(session, images.out).data()), 4e-6);
}

}  // namespace
}  // namespace hone::test
