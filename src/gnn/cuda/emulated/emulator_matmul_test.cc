// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the matrix products with which the emulated runtime replaces cuBLASLt's.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/kernels/matmul.h"

namespace hone::gnn::cuda {
namespace {

// Returns a small integer, so that every product and sum is exact in every dtype.
float Value(int64_t i) { return static_cast<float>(i * 7 % 5 - 2); }

uint16_t ToBf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>(bits >> 16);
}

template <typename T>
void ExpectProduct(const MatmulShape& shape, T (*convert)(float)) {
  std::vector<T> a, b;
  for (int64_t i = 0; i < shape.m * shape.k; ++i) a.push_back(convert(Value(i)));
  for (int64_t i = 0; i < shape.k * shape.n; ++i) b.push_back(convert(Value(i + 3)));
  DeviceArray<T> on_a, on_b;
  DeviceArray<float> out;
  ASSERT_TRUE(on_a.Upload(a.data(), shape.m * shape.k).ok() && on_b.Upload(b.data(), shape.k * shape.n).ok());
  ASSERT_TRUE(out.Allocate(shape.m * shape.n).ok());
  auto library = OpenMatmulLibrary().value();
  auto plan = library->Plan(shape).value();
  ASSERT_TRUE(plan->Enqueue(on_a.get(), on_b.get(), out.get(), nullptr).ok());
  std::vector<float> values;
  ASSERT_TRUE(out.Download(values).ok());
  for (int64_t r = 0; r < shape.m; ++r) {
    for (int64_t c = 0; c < shape.n; ++c) {
      float sum = 0;
      for (int64_t k = 0; k < shape.k; ++k) {
        sum += Value(shape.transpose_a ? k * shape.m + r : r * shape.k + k) *
               Value((shape.transpose_b ? c * shape.k + k : k * shape.n + c) + 3);
      }
      EXPECT_EQ(values[static_cast<size_t>(r * shape.n + c)], sum) << r << ", " << c;
    }
  }
}

TEST(EmulatorLibraries, ProductsOfEveryTransposition) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      MatmulShape shape{3, 5, 4, transpose_a, transpose_b, Element::kFloat32, Element::kFloat32};
      ExpectProduct<float>(shape, [](float x) { return x; });
      shape.in = Element::kBFloat16;
      ExpectProduct<uint16_t>(shape, ToBf16);
    }
  }
}

TEST(EmulatorLibraries, ABf16ResultIsRoundedOnceToNearestEven) {
  // 1 x 1 x 2 products: 256 + 1 lies between the bf16 values 256 and 258 and rounds to even, 256; 256 + 3 rounds to
  // 260.
  for (const auto& [term, expected] : std::vector<std::pair<float, float>>{{1, 256}, {3, 260}}) {
    const std::vector<uint16_t> a = {ToBf16(256), ToBf16(term)}, b = {ToBf16(1), ToBf16(1)};
    DeviceArray<uint16_t> on_a, on_b, out;
    ASSERT_TRUE(on_a.Upload(a.data(), 2).ok() && on_b.Upload(b.data(), 2).ok() && out.Allocate(1).ok());
    auto library = OpenMatmulLibrary().value();
    auto plan =
        library->Plan({1, 1, 2, /*transpose_a=*/false, /*transpose_b=*/false, Element::kBFloat16, Element::kBFloat16})
            .value();
    ASSERT_TRUE(plan->Enqueue(on_a.get(), on_b.get(), out.get(), nullptr).ok());
    std::vector<uint16_t> values;
    ASSERT_TRUE(out.Download(values).ok());
    EXPECT_EQ(values[0], ToBf16(expected));
  }
}

}  // namespace
}  // namespace hone::gnn::cuda
