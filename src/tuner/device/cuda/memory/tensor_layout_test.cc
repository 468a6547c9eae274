// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests Layout and Locate, by which the harness kernels find their elements. The code is the same on the host, where it
// is compared with plain loops over the indices, without a GPU.
#include "tuner/device/cuda/memory/tensor_layout.h"

#include <gtest/gtest.h>

#include <random>

namespace hone::harness {
namespace {

TensorView View(std::vector<int64_t> shape, std::vector<int64_t> strides, int slice_axis, uint64_t address = 4096) {
  TensorView view;
  view.address = address;
  view.dtype = DType::kFloat32;
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  view.slice_axis = slice_axis;
  view.elements = 1;
  for (int64_t extent : view.shape) view.elements *= extent;
  return view;
}

TensorView Dense(std::vector<int64_t> shape, int slice_axis, uint64_t address = 4096) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return View(std::move(shape), std::move(strides), slice_axis, address);
}

// Compares Locate with nested counting for every element of the view.
void ExpectLocatesEverything(const TensorView& view) {
  Result<Layout> layout = MakeLayout(view);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  std::vector<int64_t> index(view.shape.size(), 0);
  for (int64_t linear = 0; linear < view.elements; ++linear) {
    int64_t offset = 0, position = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      offset += index[i] * view.strides[i];
      if (static_cast<int>(i) != view.slice_axis) position = position * view.shape[i] + index[i];
    }
    const Place place = Locate(*layout, static_cast<uint64_t>(linear));
    ASSERT_EQ(place.offset, offset) << "element " << linear;
    ASSERT_EQ(place.position, position) << "element " << linear;
    ASSERT_EQ(place.slice, view.slice_axis < 0 ? 0 : index[static_cast<size_t>(view.slice_axis)]) << "element " << linear;
    // The sums over slices rely on these rows.
    const auto row = static_cast<int64_t>(Quotient(layout->by_inner, static_cast<uint64_t>(linear)));
    ASSERT_EQ(row % layout->slices, place.slice);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < view.shape[i]) break;
      index[i] = 0;
    }
  }
}

TEST(TensorLayout, LocatesEveryElementOfDenseTensors) {
  for (int slice_axis = -1; slice_axis < 3; ++slice_axis) {
    ExpectLocatesEverything(Dense({3, 5, 7}, slice_axis));
    ExpectLocatesEverything(Dense({4, 1, 6}, slice_axis));
    ExpectLocatesEverything(Dense({1, 1, 1}, slice_axis));
  }
  ExpectLocatesEverything(Dense({}, -1));
  ExpectLocatesEverything(Dense({17}, 0));
}

TEST(TensorLayout, LocatesEveryElementOfStridedTensors) {
  for (int slice_axis = -1; slice_axis < 3; ++slice_axis) {
    ExpectLocatesEverything(View({3, 4, 5}, {40, 8, 1}, slice_axis));   // padded rows
    ExpectLocatesEverything(View({3, 4, 5}, {1, 3, 12}, slice_axis));   // transposed
    ExpectLocatesEverything(View({3, 4, 5}, {100, 5, 1}, slice_axis));  // the two inner axes merge
    ExpectLocatesEverything(View({3, 4, 5}, {0, 5, 1}, slice_axis));    // broadcast
  }
}

TEST(TensorLayout, MergesDenseAxesButNeverTheSliceAxis) {
  EXPECT_EQ(MakeLayout(Dense({3, 5, 7, 9}, -1))->axes, 1);
  EXPECT_EQ(MakeLayout(Dense({3, 5, 7, 9}, 0))->axes, 2);
  EXPECT_EQ(MakeLayout(Dense({3, 5, 7, 9}, 2))->axes, 3);
  EXPECT_EQ(MakeLayout(View({3, 5, 7}, {70, 7, 1}, -1))->axes, 2);
}

TEST(TensorLayout, RefusesWhatKernelsCannotWalk) {
  EXPECT_EQ(MakeLayout(View({2, 2, 2, 2, 2, 2, 2}, {1, 4, 16, 64, 256, 1024, 4096}, -1)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeLayout(View({2, 2}, {2, 1}, 2)).status().code(), StatusCode::kInvalidArgument);
}

TEST(TensorLayout, AnEmptyTensorHasNoElements) {
  Result<Layout> layout = MakeLayout(Dense({0, 8}, 0));
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->elements, 0);
  EXPECT_FALSE(CanVectorize(*layout, 4, 4));
}

TEST(TensorLayout, VectorsNeedContiguousAlignedRunsInOneSlice) {
  EXPECT_TRUE(CanVectorize(*MakeLayout(Dense({6, 8}, 0)), 4, 4));
  EXPECT_FALSE(CanVectorize(*MakeLayout(Dense({6, 6}, 0)), 4, 4)) << "a run would cross into the next slice";
  EXPECT_TRUE(CanVectorize(*MakeLayout(Dense({6, 6}, -1)), 4, 4)) << "36 elements, no slices";
  EXPECT_FALSE(CanVectorize(*MakeLayout(Dense({6, 8}, 1)), 4, 4)) << "neighbours lie in different slices";
  EXPECT_FALSE(CanVectorize(*MakeLayout(Dense({6, 8}, 0, 4096 + 8)), 4, 4)) << "the base is not aligned";
  EXPECT_FALSE(CanVectorize(*MakeLayout(View({6, 8}, {10, 1}, 0)), 4, 4)) << "rows start unaligned";
  EXPECT_TRUE(CanVectorize(*MakeLayout(View({6, 8}, {12, 1}, 0)), 4, 4));
  EXPECT_FALSE(CanVectorize(*MakeLayout(View({6, 8}, {1, 6}, 0)), 4, 4)) << "the last axis is not contiguous";
}

TEST(Divisor, DividesExactlyUpToTwoToThe62) {
  std::mt19937_64 random(20261121);
  const uint64_t limit = uint64_t{1} << 62;
  std::vector<uint64_t> divisors{1, 2, 3, 5, 7, 8, 9, 10, 127, 128, 129, 393216, (1ULL << 31) - 1, 1ULL << 31,
                                 (1ULL << 31) + 1, (1ULL << 61) - 1, 1ULL << 61, (1ULL << 61) + 1, limit - 1};
  for (int i = 0; i < 2000; ++i) divisors.push_back(1 + (random() >> (2 + random() % 60)));
  for (uint64_t divisor : divisors) {
    if (divisor >= limit) continue;
    const Divisor d = MakeDivisor(divisor);
    const auto expect = [&](uint64_t n) { ASSERT_EQ(Quotient(d, n), n / divisor) << n << " / " << divisor; };
    expect(0);
    expect(divisor - 1);
    expect(divisor);
    expect(limit - 1);
    expect((limit - 1) / divisor * divisor);      // the largest multiple
    expect((limit - 1) / divisor * divisor - 1);  // and the number before it
    for (int i = 0; i < 20; ++i) expect(random() >> 2);
  }
}

TEST(GapByte, DiffersWithKeyAndPlace) {
  int same_key = 0, same_place = 0;
  for (int64_t offset = 0; offset < 4096; ++offset) {
    same_place += GapByte(1, offset) == GapByte(2, offset);
    same_key += GapByte(1, offset) == GapByte(1, offset + 8);
  }
  // About 16 of 4096 agree by chance; 64 is twelve standard deviations away.
  EXPECT_LT(same_place, 64);
  EXPECT_LT(same_key, 64);
}

}  // namespace
}  // namespace hone::harness
