// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/values/draw_table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hone {

// draw.h is compiled by nvcc without Hone's other headers, so it numbers the distributions itself.
static_assert(static_cast<int>(draw::kNormal) == static_cast<int>(Distribution::kNormal));
static_assert(static_cast<int>(draw::kUniform) == static_cast<int>(Distribution::kUniform));
static_assert(static_cast<int>(draw::kZero) == static_cast<int>(Distribution::kZero));
static_assert(static_cast<int>(draw::kConstant) == static_cast<int>(Distribution::kConstant));
static_assert(static_cast<int>(draw::kHeavyTailed) == static_cast<int>(Distribution::kHeavyTailed));
static_assert(static_cast<int>(draw::kSorted) == static_cast<int>(Distribution::kSorted));
static_assert(static_cast<int>(draw::kCancelling) == static_cast<int>(Distribution::kCancelling));
static_assert(static_cast<int>(draw::kLogUniform) == static_cast<int>(Distribution::kLogUniform));
static_assert(static_cast<int>(draw::kIndex) == static_cast<int>(Distribution::kIndex));
static_assert(static_cast<int>(draw::kOffsets) == static_cast<int>(Distribution::kOffsets));
static_assert(static_cast<int>(draw::kSpecial) == static_cast<int>(Distribution::kSpecial));
static_assert(static_cast<unsigned>(draw::kInfinityBit) == kSpecialInf && static_cast<unsigned>(draw::kNanBit) == kSpecialNan);
static_assert(static_cast<unsigned>(draw::kMinusInfinityBit) == kSpecialMinusInf);
static_assert(static_cast<unsigned>(draw::kSubnormalBit) == kSpecialSubnormal);
static_assert(static_cast<int>(draw::kIndependent) == static_cast<int>(IndexOrder::kIndependent));
static_assert(static_cast<int>(draw::kDistinct) == static_cast<int>(IndexOrder::kDistinct));
static_assert(static_cast<int>(draw::kDistinctRows) == static_cast<int>(IndexOrder::kDistinctRows));
static_assert(static_cast<int>(draw::kAscending) == static_cast<int>(IndexOrder::kAscending));
static_assert(static_cast<int>(draw::kMask) == static_cast<int>(IndexOrder::kMask));

namespace {

constexpr int kEntries = draw::kQuantiles + 1;
using Table = std::array<float, kEntries + 1>;

// Returns z with P(Z > z) = tail, for tail <= 1/2, from a start that is not beyond it. The tail is convex there, so
// Newton's method approaches from below and never overshoots.
double UpperQuantile(double tail, double start) {
  double z = start;
  for (int i = 0; i < 50; ++i) {  // a few steps suffice; 50 end the loop whatever rounding does
    const double excess = 0.5 * std::erfc(z / std::sqrt(2.0)) - tail;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::acos(-1.0));
    const double step = excess / density;
    z += step;
    if (std::fabs(step) < 1e-15 * (1.0 + z)) break;
  }
  return z;
}

// Makes the table of NormalQuantiles. Each quantile is found from the one before it; the lower half mirrors the upper.
Table MakeNormalTable() {
  Table table{};
  double z = 0;
  constexpr int kMiddle = kEntries / 2;  // an odd number of entries: the middle one is the median
  table[kMiddle] = 0.0f;
  for (int i = kMiddle + 1; i < kEntries; ++i) {
    z = UpperQuantile((kEntries - (i + 0.5)) / kEntries, z);
    table[static_cast<size_t>(i)] = static_cast<float>(z);
    table[static_cast<size_t>(kEntries - 1 - i)] = static_cast<float>(-z);
  }
  table[kEntries] = table[kEntries - 1];
  return table;
}

// Makes the table of ExpQuantiles.
Table MakeExpTable() {
  Table table{};
  const float* normal = NormalQuantiles();
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<float>(std::exp(2.0 * static_cast<double>(normal[i])));
  return table;
}

// Returns the largest finite magnitude that survives conversion through float to `dtype`.
float LargestMagnitude(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kFloat32:
      return 3.40282347e38f;
    case DType::kFloat16:
      return 65504.0f;
    case DType::kBFloat16:
      return 3.38953139e38f;
    case DType::kInt64:
      return 9223371487098961920.0f;
    case DType::kInt32:
      return 2147483520.0f;
    case DType::kUInt32:
      return 4294967040.0f;
    case DType::kInt16:
      return 32767.0f;
    case DType::kInt8:
      return 127.0f;
    case DType::kUInt8:
      return 255.0f;
    case DType::kUInt64:
      return 18446742974197923840.0f;
    case DType::kBool:
      return 1.0f;
    case DType::kFloat8E4M3:
      return 448.0f;
    case DType::kFloat8E5M2:
      return 57344.0f;
    case DType::kFloat8E8M0:
      return 0x1p127f;
    case DType::kFloat4Pair:
      return 6.0f;
    case DType::kInt4Pair:
      return 7.0f;
  }
  return 0.0f;
}

// Returns the smallest normal number of `dtype`, or of float32 if that is larger.
float SmallestNormal(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kFloat8E5M2:
      return 0x1p-14f;
    case DType::kFloat8E4M3:
      return 0x1p-6f;
    case DType::kFloat4Pair:
      return 1.0f;
    default:
      return 0x1p-126f;
  }
}

// Returns a factor between 1 / vary and vary, log-uniform. It depends on key and purpose alone, so each tensor of an
// input set has one.
double VaryFactor(double vary, uint64_t key, uint64_t purpose) {
  if (!(vary > 1)) return 1;
  const double u = static_cast<double>(draw::Hash(key, 0xfac7, purpose) >> 11) * 0x1p-53;
  return std::pow(vary, 2 * u - 1);
}

}  // namespace

const float* NormalQuantiles() {
  static const Table table = MakeNormalTable();
  return table.data();
}

const float* ExpQuantiles() {
  static const Table table = MakeExpTable();
  return table.data();
}

draw::Parameters MakeParameters(const ValueSpec& values, DType dtype, uint64_t key, int64_t index_bound,
                                int64_t slice_elements, int64_t row_elements) {
  draw::Parameters parameters{};
  parameters.kind = static_cast<int>(values.distribution);
  parameters.low = static_cast<float>(values.low);
  parameters.high = static_cast<float>(values.high);
  parameters.scale = static_cast<float>(values.scale * VaryFactor(values.vary, key, 0));
  parameters.offset = static_cast<float>(values.offset * VaryFactor(values.vary, key, 1));
  parameters.clip = LargestMagnitude(dtype);
  parameters.key = key;
  if (values.distribution == Distribution::kIndex) parameters.index_low = static_cast<int64_t>(values.low);
  parameters.index_bound = index_bound - parameters.index_low;
  parameters.crowded_row = values.crowded_row;
  parameters.crowded_elements = values.crowded_elements;
  parameters.slice_elements = std::max<int64_t>(slice_elements, 1);
  parameters.order = static_cast<int>(values.index_order);
  parameters.padding = static_cast<float>(values.padding);
  parameters.row_elements = std::max<int64_t>(row_elements, 1);
  parameters.share_of_ones = static_cast<float>(values.share_of_ones);
  parameters.guaranteed_value = -1;
  parameters.line_elements = parameters.line_stride = 1;
  parameters.special = values.special;
  parameters.smallest_normal = SmallestNormal(dtype);
  return parameters;
}

void SetMaskLines(const ValueSpec& values, const std::vector<int64_t>& shape, int slice_axis,
                  draw::Parameters* parameters) {
  if (values.index_order != IndexOrder::kMask || values.guaranteed_value < 0) return;
  const auto line_axis = static_cast<size_t>(values.line_axis);
  HONE_CHECK(line_axis < shape.size() && values.line_axis != slice_axis, "a mask's lines lie along an axis within its slices");
  parameters->guaranteed_value = values.guaranteed_value;
  parameters->line_elements = std::max<int64_t>(shape[line_axis], 1);
  for (size_t axis = line_axis + 1; axis < shape.size(); ++axis) {
    if (static_cast<int>(axis) != slice_axis) parameters->line_stride *= std::max<int64_t>(shape[axis], 1);
  }
}

}  // namespace hone
