// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests drawing, comparing, digesting and gathering on small tensors that can be checked by hand, including strided
// ones and ones whose slice axis is the last.
#include "tuner/device/host_tensor_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "tuner/values/draw.h"

namespace hone {
namespace {

constexpr uint64_t kKey = 0x9d2c5680ca3a2a91ULL;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A tensor with memory of its own.
struct Tensor {
  std::vector<char> memory;
  TensorView view;

  Tensor(DType dtype, std::vector<int64_t> shape, int slice_axis, std::vector<int64_t> strides = {}) {
    view.dtype = dtype;
    view.shape = shape;
    view.slice_axis = slice_axis;
    view.elements = 1;
    for (int64_t extent : shape) view.elements *= extent;
    if (strides.empty()) {
      strides.resize(shape.size());
      int64_t stride = 1;
      for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
    }
    view.strides = strides;
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * strides[i];
    view.span_bytes = view.elements == 0 ? 0 : (last + 1) * DTypeBytes(dtype);
    memory.assign(static_cast<size_t>(view.span_bytes) + 16, 0x77);
    view.address = reinterpret_cast<uint64_t>(memory.data());
  }
  char* At(std::vector<int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * view.strides[i];
    return memory.data() + offset * DTypeBytes(view.dtype);
  }
  double Get(std::vector<int64_t> index) { return host::ReadElement(view.dtype, At(std::move(index))); }
  void Set(std::vector<int64_t> index, double value) { host::WriteElement(view.dtype, At(std::move(index)), value); }
};

DrawRequest Normal(const TensorView& view) {
  DrawRequest request;
  request.view = view;
  request.key = kKey;
  return request;
}

// --- elements ---

TEST(HostElements, EveryFloat16SurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half_bits = static_cast<uint16_t>(bits);
    const double value = host::ReadElement(DType::kFloat16, &half_bits);
    uint16_t back = 0;
    host::WriteElement(DType::kFloat16, &back, value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(host::ReadElement(DType::kFloat16, &back)));
    } else {
      ASSERT_EQ(back, half_bits);
    }
  }
}

TEST(HostElements, RoundToNearestEvenOnceOnly) {
  const auto half_value = [](double v) {
    uint16_t bits = 0;
    host::WriteElement(DType::kFloat16, &bits, v);
    return bits;
  };
  EXPECT_EQ(half_value(1.0), 0x3c00);
  EXPECT_EQ(half_value(1.0 + 0x1p-11), 0x3c00);            // a tie: to even
  EXPECT_EQ(half_value(1.0 + 3 * 0x1p-11), 0x3c02);        // a tie: to even
  EXPECT_EQ(half_value(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);  // above the tie, by less than a float can hold
  EXPECT_EQ(half_value(1.0 + 3 * 0x1p-11 - 0x1p-40), 0x3c01);
  EXPECT_EQ(half_value(65519.9), 0x7bff);
  EXPECT_EQ(half_value(65520.0), 0x7c00);
  EXPECT_EQ(half_value(-1e300), 0xfc00);
  EXPECT_EQ(half_value(0x1p-24), 0x0001);
  EXPECT_EQ(half_value(0x1p-25), 0x0000);  // a tie: to even
  EXPECT_EQ(half_value(-0.0), 0x8000);
  uint16_t brain = 0;
  host::WriteElement(DType::kBFloat16, &brain, 1.0 + 0x1p-8);
  EXPECT_EQ(brain, 0x3f80);
  host::WriteElement(DType::kBFloat16, &brain, 1.0 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(brain, 0x3f81);
  host::WriteElement(DType::kBFloat16, &brain, kNan);
  EXPECT_TRUE(std::isnan(host::ReadElement(DType::kBFloat16, &brain)));
}

TEST(HostElements, PoisonIsNoValueThatArithmeticMakes) {
  for (DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const uint64_t bits = host::PoisonBits(dtype);
    EXPECT_TRUE(std::isnan(host::ReadElement(dtype, &bits))) << DTypeName(dtype);
    uint64_t canonical = 0;
    host::WriteElement(dtype, &canonical, kNan);
    EXPECT_NE(bits, canonical) << DTypeName(dtype);
  }
  EXPECT_EQ(host::PoisonBits(DType::kInt32) % 2, 1u);
}

// --- drawing ---

TEST(HostDraw, ASliceDependsOnItsNumberAndPositionAlone) {
  // Values are the same whether slices are rows, columns, or rows with gaps between them.
  Tensor rows(DType::kFloat32, {6, 5}, 0), columns(DType::kFloat32, {5, 6}, 1), apart(DType::kFloat32, {6, 5}, 0, {9, 1});
  for (Tensor* tensor : {&rows, &columns, &apart}) ASSERT_TRUE(host::Draw(Normal(tensor->view)).ok());
  std::set<double> distinct;
  for (int64_t slice = 0; slice < 6; ++slice) {
    for (int64_t position = 0; position < 5; ++position) {
      EXPECT_EQ(rows.Get({slice, position}), columns.Get({position, slice}));
      EXPECT_EQ(rows.Get({slice, position}), apart.Get({slice, position}));
      distinct.insert(rows.Get({slice, position}));
    }
  }
  EXPECT_EQ(distinct.size(), 30u);
  EXPECT_EQ(*apart.At({0, 5}), 0x77) << "bytes between rows were written";
}

TEST(HostDraw, PositionsRunOverTheOtherAxesRowMajor) {
  Tensor whole(DType::kFloat32, {1, 12}, 0), cube(DType::kFloat32, {3, 1, 4}, 1);
  ASSERT_TRUE(host::Draw(Normal(whole.view)).ok());
  ASSERT_TRUE(host::Draw(Normal(cube.view)).ok());
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(whole.Get({0, i}), cube.Get({i / 4, 0, i % 4}));
}

TEST(HostDraw, PermutationMovesSlicesAndRedrawnOnesAreNew) {
  Tensor plain(DType::kFloat32, {16, 3}, 0), moved(DType::kFloat32, {16, 3}, 0);
  ASSERT_TRUE(host::Draw(Normal(plain.view)).ok());
  DrawRequest request = Normal(moved.view);
  request.permutation_key = 77;
  request.redraw_key = kKey + 1;
  request.redrawn = {2, 9};
  ASSERT_TRUE(host::Draw(request).ok());
  int displaced = 0;
  for (int64_t slice = 0; slice < 16; ++slice) {
    const auto from = static_cast<int64_t>(draw::Permute(static_cast<uint64_t>(slice), 16, 77));
    displaced += from != slice;
    for (int64_t i = 0; i < 3; ++i) {
      if (slice == 2 || slice == 9) {
        EXPECT_NE(moved.Get({slice, i}), plain.Get({from, i}));
      } else {
        EXPECT_EQ(moved.Get({slice, i}), plain.Get({from, i}));
      }
    }
  }
  EXPECT_GT(displaced, 8);
}

TEST(HostDraw, NormalValuesHaveTheMomentsTheySay) {
  Tensor tensor(DType::kFloat32, {100, 1000}, 0);
  DrawRequest request = Normal(tensor.view);
  request.values.scale = 2;
  request.values.offset = 3;
  ASSERT_TRUE(host::Draw(request).ok());
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 100; ++i) {
    for (int64_t j = 0; j < 1000; ++j) {
      const double v = (tensor.Get({i, j}) - 3) / 2;
      sum += v;
      squares += v * v;
    }
  }
  EXPECT_NEAR(sum / 1e5, 0, 5 / std::sqrt(1e5));
  EXPECT_NEAR(squares / 1e5, 1, 0.03);
}

TEST(HostDraw, BothNumbersOfAByteAreDrawn) {
  for (const DType dtype : {DType::kFloat4Pair, DType::kInt4Pair}) {
    Tensor x(dtype, {64, 64}, 0);
    DrawRequest request = Normal(x.view);
    request.values.scale = 2.5;
    ASSERT_TRUE(host::Draw(request).ok());
    int counts[2][16] = {}, equal = 0;
    for (int64_t i = 0; i < 64 * 64; ++i) {
      const auto byte = static_cast<unsigned char>(x.memory[static_cast<size_t>(i)]);
      ++counts[0][byte & 15];
      ++counts[1][byte >> 4];
      equal += (byte & 15) == (byte >> 4);
    }
    // Both halves of a byte are drawn independently: about one pair in eleven is equal by chance.
    EXPECT_LT(equal, 64 * 64 / 5);
    for (const auto& half : counts) {
      int seen = 0;
      for (const int count : half) seen += count > 0;
      EXPECT_GE(seen, 14);  // of integers -8 is not drawn: the range is symmetric
    }
  }
}

TEST(HostDraw, IndicesStayBelowTheirBound) {
  Tensor tensor(DType::kInt32, {50, 20}, 0);
  DrawRequest request = Normal(tensor.view);
  request.values.distribution = Distribution::kIndex;
  request.index_bound = 7;
  ASSERT_TRUE(host::Draw(request).ok());
  std::set<double> values_seen;
  for (int64_t i = 0; i < 50; ++i) {
    for (int64_t j = 0; j < 20; ++j) values_seen.insert(tensor.Get({i, j}));
  }
  EXPECT_EQ(values_seen, (std::set<double>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(HostDraw, OffsetsAscendFromZeroToTheirBound) {
  Tensor tensor(DType::kInt32, {101}, -1);
  DrawRequest request = Normal(tensor.view);
  request.values.distribution = Distribution::kOffsets;
  request.index_bound = 1234;
  ASSERT_TRUE(host::Draw(request).ok());
  EXPECT_EQ(tensor.Get({0}), 0);
  EXPECT_EQ(tensor.Get({100}), 1234);
  for (int64_t i = 0; i < 100; ++i) EXPECT_LE(tensor.Get({i}), tensor.Get({i + 1}));
}

// --- poison and comparison ---

TEST(HostDraw, DistinctIndicesStayDistinctWhenSlicesAreMoved) {
  Tensor tensor(DType::kInt64, {30, 4}, 0);
  DrawRequest request = Normal(tensor.view);
  request.values.distribution = Distribution::kIndex;
  request.values.index_order = IndexOrder::kDistinct;
  request.index_bound = 120;  // all of them: a permutation
  for (const uint64_t permutation : {0, 77}) {
    request.permutation_key = permutation;
    ASSERT_TRUE(host::Draw(request).ok());
    std::set<double> values_seen;
    for (int64_t i = 0; i < 30; ++i) {
      for (int64_t j = 0; j < 4; ++j) values_seen.insert(tensor.Get({i, j}));
    }
    EXPECT_EQ(values_seen.size(), 120u);
    EXPECT_EQ(*values_seen.begin(), 0);
    EXPECT_EQ(*values_seen.rbegin(), 119);
  }
}

TEST(HostCompare, ForgivesAnAbsoluteErrorWhateverTheScale) {
  Tensor tensor(DType::kInt8, {4}, -1);
  const std::vector<double> reference = {5, -3, 0, 100};
  const std::vector<double> written_values = {6, -4, 1, 98};
  for (int64_t i = 0; i < 4; ++i) tensor.Set({i}, written_values[static_cast<size_t>(i)]);
  EXPECT_EQ(host::Compare(tensor.view, reference.data(), {.c_max = 0, .c_rms = 0}).wrong, 4);
  const Comparison forgiven = host::Compare(tensor.view, reference.data(), {.c_max = 0, .c_rms = 0, .absolute = 1});
  EXPECT_EQ(forgiven.wrong, 1) << "98 is two units from 100";
  EXPECT_EQ(*forgiven.first_wrong, 3);
  EXPECT_GT(forgiven.rms_error, 0) << "c_rms still counts them";
}

TEST(HostCompare, PassesWhatIsWithinTolerance) {
  Tensor tensor(DType::kFloat32, {2, 2}, 0);
  const std::vector<double> reference = {1, -2, 3, 4};
  for (int64_t i = 0; i < 4; ++i) tensor.Set({i / 2, i % 2}, reference[static_cast<size_t>(i)] * (1 + 1e-6));
  const Comparison same = host::Compare(tensor.view, reference.data(), {1e-5, 1e-5});
  EXPECT_EQ(same.total, 4);
  EXPECT_EQ(same.wrong, 0);
  EXPECT_FALSE(same.first_wrong);
  EXPECT_NEAR(same.max_scaled, 1e-6, 1e-7);
  EXPECT_NEAR(same.rms_error, 1e-6, 1e-7);
}

TEST(HostCompare, NamesTheFirstWrongElementAndCountsAll) {
  Tensor tensor(DType::kFloat32, {2, 3}, 0, {5, 1});
  const std::vector<double> reference = {1, 1, 1, 1, 1, 1};
  for (int64_t i = 0; i < 6; ++i) tensor.Set({i / 3, i % 3}, i == 4 || i == 5 ? 1.5 : 1.0);
  const Comparison comparison = host::Compare(tensor.view, reference.data(), {0.1, 0.1});
  EXPECT_EQ(comparison.wrong, 2);
  EXPECT_EQ(*comparison.first_wrong, 4);
  EXPECT_EQ(comparison.first_expected, 1);
  EXPECT_EQ(comparison.first_actual, 1.5);
  EXPECT_NEAR(comparison.max_scaled, 0.5, 1e-12);
  EXPECT_NEAR(comparison.rms_error, std::sqrt(0.5 / 6), 1e-12);
  // Half a unit at 1.0, in steps of 2^-23.
  EXPECT_EQ(comparison.max_ulp, 0.5 * 0x1p23);
}

TEST(HostCompare, ScaleIsTheSlicesOwn) {
  // An error of 0.01 is negligible in a slice with values near 100 and large in one near 0.001.
  Tensor tensor(DType::kFloat32, {2, 2}, 0);
  const std::vector<double> reference = {100, 0, 0.001, 0};
  for (int64_t i = 0; i < 4; ++i) tensor.Set({i / 2, i % 2}, reference[static_cast<size_t>(i)] + (i % 2) * 0.01);
  const Comparison comparison = host::Compare(tensor.view, reference.data(), {0.01, 1});
  EXPECT_EQ(comparison.wrong, 1);
  EXPECT_EQ(*comparison.first_wrong, 3);
}

TEST(HostCompare, NanAndInfinityAreNeverWildcards) {
  Tensor tensor(DType::kFloat16, {1, 6}, 0);
  const double nan = kNan;
  const std::vector<double> reference = {1, 1, nan, kInfinity, nan, kInfinity};
  const std::vector<double> output = {nan, kInfinity, nan, kInfinity, 1, -kInfinity};
  for (int64_t i = 0; i < 6; ++i) tensor.Set({0, i}, output[static_cast<size_t>(i)]);
  const Comparison comparison = host::Compare(tensor.view, reference.data(), {1e9, 1e9});
  EXPECT_EQ(comparison.wrong, 4);  // both wrong non-finite values, the missed NaN, the wrong infinity
  EXPECT_EQ(*comparison.first_wrong, 0);
  EXPECT_EQ(comparison.non_finite, 5);
}

// Values beyond the range of an 8-bit float: hardware saturates, PyTorch gives NaN (e4m3) or an infinity (e5m2), and
// each of them is a correctly rounded overflow. No other result is right, and a reference beyond the range excuses no
// error in other elements.
TEST(HostCompare, AnEightBitFloatThatOverflowsMaySaturate) {
  struct Try {
    DType dtype;
    double expected, actual;
    bool right;
  };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const Try& t : std::initializer_list<Try>{{DType::kFloat8E4M3, 1000, 448, true},
                                                 {DType::kFloat8E4M3, -1000, -448, true},
                                                 {DType::kFloat8E4M3, 1000, nan, true},
                                                 {DType::kFloat8E4M3, 1000, 256, false},
                                                 {DType::kFloat8E4M3, 1000, -448, false},
                                                 {DType::kFloat8E4M3, 300, nan, false},
                                                 {DType::kFloat8E4M3, inf, 448, true},
                                                 {DType::kFloat8E4M3, -inf, 448, false},
                                                 {DType::kFloat8E4M3, nan, nan, true},
                                                 {DType::kFloat8E4M3, nan, 448, false},
                                                 {DType::kFloat8E5M2, 1e6, inf, true},
                                                 {DType::kFloat8E5M2, 1e6, -inf, false},
                                                 {DType::kFloat8E5M2, 1e6, 57344, true},
                                                 {DType::kFloat8E5M2, 1e6, nan, false},
                                                 {DType::kFloat8E5M2, inf, 57344, true},
                                                 {DType::kFloat8E5M2, 40000, inf, false}}) {
    uint8_t stored[2];
    host::WriteElement(t.dtype, stored, t.actual);
    host::WriteElement(t.dtype, stored + 1, 1.0);
    TensorView view;
    view.dtype = t.dtype;
    view.address = reinterpret_cast<uintptr_t>(stored);
    view.shape = {2};
    view.strides = {1};
    view.elements = view.span_bytes = 2;
    const double reference[] = {t.expected, 1.0};
    const Comparison c = host::Compare(view, reference, Tolerance{.c_max = 0.07, .c_rms = 0.04});
    EXPECT_EQ(c.wrong == 0, t.right) << DTypeName(t.dtype) << ' ' << t.expected << ' ' << t.actual;
    if (!std::isfinite(t.expected)) continue;
    // Errors are scaled by what the dtype can hold, so 1e6 beside an element does not excuse its large error.
    host::WriteElement(t.dtype, stored + 1, t.dtype == DType::kFloat8E4M3 ? 134.0 : 17203.0);
    EXPECT_GT(host::Compare(view, reference, Tolerance{.c_max = 0.07, .c_rms = 0.04}).wrong, 0) << t.expected;
  }
}

TEST(HostCompare, EachHalfOfAByteIsANumber) {
  struct Pair {
    DType dtype;
    double reference[4];
    uint8_t right[2];  // the low half is the first number
  };
  for (const Pair& t : {Pair{DType::kFloat4Pair, {1.5, -6.0, 0.5, -0.25}, {0xf3, 0x81}}, Pair{DType::kFloat4Pair, {9.0, -1e30, 0.0, 2.5}, {0xf7, 0x40}},
                        Pair{DType::kInt4Pair, {-8.0, 7.0, -1.0, 0.0}, {0x78, 0x0f}}}) {
    uint8_t stored[2];
    TensorView view;
    view.dtype = t.dtype;
    view.address = reinterpret_cast<uintptr_t>(stored);
    view.shape = {2};
    view.strides = {1};
    view.elements = view.span_bytes = 2;
    view.slice_axis = 0;
    const Tolerance tolerance{.c_max = t.dtype == DType::kInt4Pair ? 0 : 0.26, .c_rms = 1};
    std::copy(t.right, t.right + 2, stored);
    const Comparison right = host::Compare(view, t.reference, tolerance);
    EXPECT_EQ(right.wrong, 0) << DTypeName(t.dtype) << ' ' << t.reference[0];
    EXPECT_EQ(right.total, 4);
    // Each wrong half is found by itself, and named by its own place.
    for (int64_t at = 0; at < 4; ++at) {
      std::copy(t.right, t.right + 2, stored);
      host::WriteNumber(t.dtype, stored + at / 2, at % 2, t.reference[at] > 0 ? -4 : 4);
      const Comparison wrong = host::Compare(view, t.reference, tolerance);
      EXPECT_EQ(wrong.wrong, 1) << DTypeName(t.dtype) << ' ' << at;
      EXPECT_EQ(wrong.first_wrong, at);
      EXPECT_EQ(wrong.first_actual, t.reference[at] > 0 ? -4 : 4);
      EXPECT_EQ(host::ReadNumber(t.dtype, stored + at / 2, at % 2), t.reference[at] > 0 ? -4 : 4);
    }
    // Numbers of one byte do not stand for one another.
    std::copy(t.right, t.right + 2, stored);
    stored[0] = static_cast<uint8_t>(t.right[0] << 4 | t.right[0] >> 4);
    EXPECT_EQ(host::Compare(view, t.reference, tolerance).wrong, 2);
  }
}

TEST(HostCompare, AnInfinityExcusesNothingBesideIt) {
  Tensor tensor(DType::kFloat32, {1, 3}, 0);
  const std::vector<double> reference = {kInfinity, 1, 2};
  const std::vector<double> output = {kInfinity, 1, 5};
  for (int64_t i = 0; i < 3; ++i) tensor.Set({0, i}, output[static_cast<size_t>(i)]);
  const Comparison comparison = host::Compare(tensor.view, reference.data(), {0.1, 0.1});
  EXPECT_EQ(comparison.wrong, 1);
  EXPECT_EQ(*comparison.first_wrong, 2);
  EXPECT_NEAR(comparison.rms_error, 3 / std::sqrt(5.0), 1e-12);
}

TEST(HostCompare, PoisonLeftBehindIsUnwrittenEvenWhereNanIsExpected) {
  for (DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    Tensor tensor(dtype, {2, 2}, 0, {3, 1});
    host::Poison(tensor.view);
    tensor.Set({0, 0}, 1);
    const std::vector<double> reference = {1, kNan, 1, 1};
    const Comparison comparison = host::Compare(tensor.view, reference.data(), {1e9, 1e9});
    EXPECT_EQ(comparison.unwritten, 3) << DTypeName(dtype);
    EXPECT_EQ(comparison.wrong, 3) << DTypeName(dtype);
    uint64_t between = 0;
    std::memcpy(&between, tensor.At({0, 2}), static_cast<size_t>(DTypeBytes(dtype)));
    EXPECT_EQ(between, host::PoisonBits(dtype)) << "between rows, " << DTypeName(dtype);
  }
}

TEST(HostFill, ANanOfAnyPayloadIsUnwrittenAndNothingElseIs) {
  for (DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const std::vector<double> reference = {kNan, kNan, kNan, kNan};
    for (uint64_t key = 1; key <= 50; ++key) {
      Tensor tensor(dtype, {2, 2}, 0, {3, 1});
      host::FillWith(tensor.view, {FillKind::kNan, key});
      tensor.Set({0, 0}, kNan);  // the NaN that arithmetic produces
      const Comparison comparison = host::Compare(tensor.view, reference.data(), {1e9, 1e9});
      EXPECT_EQ(comparison.unwritten, 3) << DTypeName(dtype);
      EXPECT_EQ(comparison.wrong, 3) << DTypeName(dtype);
    }
    EXPECT_NE(host::NanPattern(dtype, 1), host::NanPattern(dtype, 2)) << DTypeName(dtype);
  }
}

// Any integer may be a result, even the poison byte (-91).
TEST(HostFill, NoIntegerIsCalledUnwritten) {
  Tensor tensor(DType::kInt8, {1, 200}, 0);
  std::vector<double> reference;
  for (int64_t i = 0; i < 200; ++i) {
    tensor.Set({0, i}, static_cast<double>(i - 100));
    reference.push_back(static_cast<double>(i == 9 ? i - 101 : i - 100));  // -92, and -91 was written
  }
  const Comparison comparison = host::Compare(tensor.view, reference.data(), {.c_max = 0, .c_rms = 0, .absolute = 1});
  EXPECT_EQ(comparison.wrong, 0);
  EXPECT_EQ(comparison.unwritten, 0);
  EXPECT_EQ(comparison.rms_error, 0) << "one element in a hundred may be off by abs";
}

TEST(HostCompare, ErrorsWithinAbsCountTowardsTheRmsWhereTheyAreMany) {
  constexpr int64_t kElements = 1000;
  const auto rms = [](int64_t ties) {
    Tensor tensor(DType::kInt8, {1, kElements}, 0);
    std::vector<double> reference;
    for (int64_t i = 0; i < kElements; ++i) {
      const double value = static_cast<double>(i % 100 - 50);
      tensor.Set({0, i}, value + (i < ties ? 1 : 0));
      reference.push_back(value);
    }
    return host::Compare(tensor.view, reference.data(), {.c_max = 0, .c_rms = 0, .absolute = 1}).rms_error;
  };
  EXPECT_EQ(rms(1), 0);
  EXPECT_EQ(rms(10), 0);
  EXPECT_GT(rms(30), 0);  // 10 + 4 sqrt(10) + 1 are forgiven
  EXPECT_NEAR(rms(kElements), std::sqrt((kElements - 23.65) / (kElements * 833.5)), 1e-4) << "off by one everywhere";
}

TEST(HostFill, IsDrawnFromTheKey) {
  for (const FillKind kind : {FillKind::kNan, FillKind::kBytes, FillKind::kPlausible}) {
    Tensor a(DType::kFloat32, {1, 64}, 0), b(DType::kFloat32, {1, 64}, 0), c(DType::kFloat32, {1, 64}, 0);
    host::FillWith(a.view, {kind, 1});
    host::FillWith(b.view, {kind, 1});
    host::FillWith(c.view, {kind, 2});
    EXPECT_EQ(std::memcmp(a.At({0, 0}), b.At({0, 0}), 256), 0);
    EXPECT_NE(std::memcmp(a.At({0, 0}), c.At({0, 0}), 256), 0);
  }
}

TEST(HostFill, PlausibleNumbersAreFiniteAndDiffer) {
  Tensor tensor(DType::kFloat16, {1, 500}, 0);
  host::FillWith(tensor.view, {FillKind::kPlausible, 9});
  std::set<double> values;
  for (int64_t i = 0; i < 500; ++i) {
    const double value = host::ReadElement(DType::kFloat16, tensor.At({0, i}));
    EXPECT_TRUE(std::isfinite(value));
    values.insert(value);
  }
  EXPECT_GT(values.size(), 300u);
}

TEST(HostCompare, ASmallElementHasABoundOfItsOwn) {
  // The elements are one large, one 10^-5 of it, one far below 2^-20 of the slice's rms.
  const std::vector<double> reference = {1, 1e-5, 1e-9};
  const auto wrong = [&](double second, double third, double c_small) {
    Tensor tensor(DType::kFloat32, {1, 3}, 0);
    tensor.Set({0, 0}, 1);
    tensor.Set({0, 1}, second);
    tensor.Set({0, 2}, third);
    return host::Compare(tensor.view, reference.data(), {.c_max = 1e-4, .c_rms = 1, .c_small = c_small}).wrong;
  };
  EXPECT_EQ(wrong(0, 0, 0), 0) << "as if there were no bound";
  EXPECT_EQ(wrong(0, 0, 0.5), 1) << "the second; the third is beyond what is asked for";
  EXPECT_EQ(wrong(0.9e-5, 0, 0.5), 0);
  EXPECT_EQ(wrong(1e-5, 5e-7, 0.5), 1) << "an error of 2^-20 of the rms shows";
  EXPECT_EQ(wrong(1e-5, 1e-7, 0.5), 0);
}

TEST(HostCompare, NothingOfZeroIsRightAndSomethingIsVeryWrong) {
  Tensor tensor(DType::kFloat32, {1, 2}, 0);
  const std::vector<double> reference = {0, 0};
  tensor.Set({0, 0}, 0);
  tensor.Set({0, 1}, 0);
  EXPECT_EQ(host::Compare(tensor.view, reference.data(), {1, 1}).rms_error, 0);
  tensor.Set({0, 1}, 1e-30);
  const Comparison comparison = host::Compare(tensor.view, reference.data(), {1, 1});
  EXPECT_EQ(comparison.wrong, 1);
  EXPECT_NEAR(comparison.rms_error, 1e-30 / 0x1p-126 / std::sqrt(2), 1e4);
  Tensor whole(DType::kFloat64, {1, 2}, 0);
  whole.Set({0, 0}, 0);
  whole.Set({0, 1}, 1e-30);
  EXPECT_EQ(host::Compare(whole.view, reference.data(), {1, 1}).rms_error, kInfinity) << "smaller squares there are none";
}

TEST(HostCompare, AFloorIsTheLeastScale) {
  Tensor tensor(DType::kFloat16, {1, 2}, 0);
  tensor.Set({0, 0}, 0x1p-20);
  tensor.Set({0, 1}, 0);
  const std::vector<double> reference = {0, 0};
  // float16's smallest normal number is 2^-14, so the floor above it counts.
  EXPECT_DOUBLE_EQ(host::Compare(tensor.view, reference.data(), {.c_max = 1}).max_scaled, 0x1p-6);
  EXPECT_DOUBLE_EQ(host::Compare(tensor.view, reference.data(), {.c_max = 1, .floor = 0x1p-10}).max_scaled, 0x1p-10);
  EXPECT_DOUBLE_EQ(host::Compare(tensor.view, reference.data(), {.c_max = 1, .floor = 0x1p-16}).max_scaled, 0x1p-6);
}

// --- digests ---

TEST(HostDigest, FollowsASliceAndSeesEveryBit) {
  Tensor plain(DType::kFloat32, {8, 4}, 0), moved(DType::kFloat32, {8, 4}, 0);
  ASSERT_TRUE(host::Draw(Normal(plain.view)).ok());
  DrawRequest request = Normal(moved.view);
  request.permutation_key = 5;
  ASSERT_TRUE(host::Draw(request).ok());
  const auto before = host::Digest(plain.view, 11), after = host::Digest(moved.view, 11);
  ASSERT_EQ(before.size(), 8u);
  for (uint64_t slice = 0; slice < 8; ++slice) {
    EXPECT_EQ(after[slice], before[draw::Permute(slice, 8, 5)]);
  }
  EXPECT_NE(host::Digest(plain.view, 12), before) << "the key does not matter";

  plain.Set({3, 1}, 0.0);
  const auto zero = host::Digest(plain.view, 11);
  plain.Set({3, 1}, -0.0);
  const auto negative = host::Digest(plain.view, 11);
  EXPECT_NE(zero[3], negative[3]) << "the sign of zero does not count";
  EXPECT_EQ(zero[2], negative[2]);
  // Exchanging two elements of a slice is a change.
  plain.Set({3, 1}, 5);
  plain.Set({3, 2}, 6);
  const auto ordered = host::Digest(plain.view, 11);
  plain.Set({3, 1}, 6);
  plain.Set({3, 2}, 5);
  EXPECT_NE(host::Digest(plain.view, 11)[3], ordered[3]);
}

TEST(HostDigest, IgnoresBytesBetweenRows) {
  Tensor apart(DType::kFloat16, {3, 2}, 0, {4, 1});
  ASSERT_TRUE(host::Draw(Normal(apart.view)).ok());
  const auto before = host::Digest(apart.view, 1);
  *apart.At({1, 2}) ^= 1;
  EXPECT_EQ(host::Digest(apart.view, 1), before);
}

// --- gathering ---

TEST(HostGather, CopiesTheListedSlicesInTheirOrder) {
  Tensor source(DType::kFloat32, {4, 3}, 0, {6, 2}), destination(DType::kFloat32, {2, 3}, 0);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) source.Set({i, j}, static_cast<double>(10 * i + j));
  }
  ASSERT_TRUE(host::GatherSlices(source.view, destination.view, {3, 1}).ok());
  EXPECT_EQ(destination.Get({0, 2}), 32);
  EXPECT_EQ(destination.Get({1, 0}), 10);
}

TEST(HostGather, WorksWhenTheSliceAxisIsInTheMiddleOrLast) {
  Tensor source(DType::kInt32, {2, 3, 4}, 1), middle(DType::kInt32, {2, 2, 4}, 1);
  Tensor last_source(DType::kInt32, {2, 3}, 1), last(DType::kInt32, {2, 1}, 1);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      last_source.Set({i, j}, static_cast<double>(10 * i + j));
      for (int64_t k = 0; k < 4; ++k) source.Set({i, j, k}, static_cast<double>(100 * i + 10 * j + k));
    }
  }
  ASSERT_TRUE(host::GatherSlices(source.view, middle.view, {0, 2}).ok());
  EXPECT_EQ(middle.Get({1, 1, 3}), 123);
  EXPECT_EQ(middle.Get({0, 0, 1}), 1);
  ASSERT_TRUE(host::GatherSlices(last_source.view, last.view, {2}).ok());
  EXPECT_EQ(last.Get({0, 0}), 2);
  EXPECT_EQ(last.Get({1, 0}), 12);
}

TEST(HostGather, CopiesATensorWithoutSlicesWhole) {
  Tensor source(DType::kFloat32, {2, 2}, -1), destination(DType::kFloat32, {2, 2}, -1);
  source.Set({1, 1}, 8);
  ASSERT_TRUE(host::GatherSlices(source.view, destination.view, {0}).ok());
  EXPECT_EQ(destination.Get({1, 1}), 8);
}

TEST(HostGather, RefusesShapesThatDoNotBelongTogether) {
  Tensor source(DType::kFloat32, {4, 3}, 0), wrong(DType::kFloat32, {3, 3}, 0), right(DType::kFloat32, {1, 3}, 0);
  EXPECT_FALSE(host::GatherSlices(source.view, wrong.view, {0}).ok());
  EXPECT_FALSE(host::GatherSlices(source.view, right.view, {4}).ok());
  EXPECT_TRUE(host::GatherSlices(source.view, right.view, {3}).ok());
}

TEST(HostGather, CopiesABoxOfSeveralAxes) {
  Tensor source(DType::kFloat16, {4, 3, 5}, 0), box(DType::kFloat16, {2, 3, 2}, 0);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 5; ++k) source.Set({i, j, k}, static_cast<double>(100 * i + 10 * j + k));
    }
  }
  ASSERT_TRUE(host::GatherBox(source.view, box.view, {{0, {3, 0}}, {2, {1, 4}}}).ok());
  EXPECT_EQ(box.Get({0, 2, 1}), 324);
  EXPECT_EQ(box.Get({1, 0, 0}), 1);
  EXPECT_FALSE(host::GatherBox(source.view, box.view, {{0, {3, 4}}, {2, {1, 4}}}).ok());
  EXPECT_FALSE(host::GatherBox(source.view, box.view, {{0, {3}}, {2, {1, 4}}}).ok());
}

TEST(HostIsZero, SeesOneBitAnywhere) {
  std::vector<char> memory(1000, 0);
  EXPECT_TRUE(host::IsZero(memory.data(), 1000));
  EXPECT_TRUE(host::IsZero(memory.data(), 0));
  for (size_t at : {size_t{0}, size_t{500}, size_t{999}}) {
    memory[at] = 16;
    EXPECT_FALSE(host::IsZero(memory.data(), 1000)) << at;
    memory[at] = 0;
  }
}

}  // namespace
}  // namespace hone
