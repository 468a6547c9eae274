// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands for the device's libraries in the emulated runtime: matrix products and the radix sort.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gnn/cuda/cuda_support.h"
#include "gnn/cuda/matmul.h"
#include "gnn/cuda/sample_kernels.h"

namespace hone::gnn::cuda {
namespace {

// Small integers: every product and sum is exact in every dtype.
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
  // 1 x 1 x 2 products: 256 + 1 lies between the bf16 values 256 and 258 and goes to the even one; 256 + 3 goes to 260.
  for (const auto& [term, expected] : std::vector<std::pair<float, float>>{{1, 256}, {3, 260}}) {
    const std::vector<uint16_t> a = {ToBf16(256), ToBf16(term)}, b = {ToBf16(1), ToBf16(1)};
    DeviceArray<uint16_t> on_a, on_b, out;
    ASSERT_TRUE(on_a.Upload(a.data(), 2).ok() && on_b.Upload(b.data(), 2).ok() && out.Allocate(1).ok());
    auto library = OpenMatmulLibrary().value();
    auto plan = library->Plan({1, 1, 2, false, false, Element::kBFloat16, Element::kBFloat16}).value();
    ASSERT_TRUE(plan->Enqueue(on_a.get(), on_b.get(), out.get(), nullptr).ok());
    std::vector<uint16_t> values;
    ASSERT_TRUE(out.Download(values).ok());
    EXPECT_EQ(values[0], ToBf16(expected));
  }
}

TEST(EmulatorLibraries, TheSortIsStableAndItsScratchIsOverwritten) {
  const std::vector<uint32_t> keys = {2, 0, 1, 2, 0, 3};  // 3: envelope, nobody's
  const std::vector<uint32_t> slots = {0, 1, 2, 3, 4, 5};
  DeviceArray<uint32_t> on_keys, on_slots, sorted_keys, sorted_slots;
  DeviceArray<int32_t> first, end;
  DeviceArray<unsigned char> scratch;
  ASSERT_TRUE(on_keys.Upload(keys.data(), 6).ok() && on_slots.Upload(slots.data(), 6).ok());
  ASSERT_TRUE(sorted_keys.Allocate(6).ok() && sorted_slots.Allocate(6).ok() && first.Allocate(3).ok() && end.Allocate(3).ok());
  HopOnDevice hop{};
  hop.fanout = 2;
  hop.rows = 3;
  hop.sources = 3;
  hop.slot_keys = on_keys.get();
  hop.sorted_keys = sorted_keys.get();
  hop.slots = on_slots.get();
  hop.sorted_slots = sorted_slots.get();
  hop.first = first.get();
  hop.end = end.get();
  const auto bytes = static_cast<int64_t>(SortScratchBytes(hop));
  ASSERT_TRUE(scratch.Allocate(bytes).ok());
  EXPECT_EQ(EnqueueBySource(hop, scratch.get(), static_cast<size_t>(bytes) - 1, nullptr), cudaErrorInvalidValue);
  ASSERT_EQ(EnqueueBySource(hop, scratch.get(), static_cast<size_t>(bytes), nullptr), cudaSuccess);
  std::vector<uint32_t> order;
  std::vector<int32_t> begins, ends;
  std::vector<unsigned char> used;
  ASSERT_TRUE(sorted_slots.Download(order).ok() && first.Download(begins).ok() && end.Download(ends).ok());
  ASSERT_TRUE(scratch.Download(used).ok());
  EXPECT_EQ(order, (std::vector<uint32_t>{1, 4, 2, 0, 3, 5}));
  EXPECT_EQ(begins, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(ends, (std::vector<int32_t>{2, 3, 5}));
  EXPECT_EQ(used.front(), 0xff);
  cudaGetLastError();
}

}  // namespace
}  // namespace hone::gnn::cuda
