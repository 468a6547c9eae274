// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/correctness/scale_floor.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

// Returns half the distance between 1 and the next number.
double RoundingUnit(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 0x1p-11;
    case DType::kBFloat16: return 0x1p-8;
    case DType::kFloat8E4M3: return 0x1p-4;
    case DType::kFloat8E5M2: return 0x1p-3;
    case DType::kFloat4Pair: return 0x1p-2;
    case DType::kFloat32: return 0x1p-24;
    case DType::kFloat64: return 0x1p-53;
    default: return 0;
  }
}

constexpr double kLargestE2M1 = 6;
// Powers of two that scale blocks may span float32's whole range. A power counts at most as the largest of the default
// range, 2^8, because the largest of all says nothing about most results.
constexpr double kLargestPower = 256;
constexpr double kCancellingBase = 8;  // kCancelling draws values near +-8 times their scale (values/draw.h)

}  // namespace

double TypicalMagnitude(const TensorSpec& tensor, const InputSet& inputs) {
  if (!IsFloating(tensor.dtype)) return 0;
  const ValueSpec& values = tensor.values;
  if (tensor.dtype == DType::kFloat8E8M0) return std::min(values.high, kLargestPower);
  const bool stressed = inputs.use_stress && tensor.stress;
  switch (stressed ? inputs.stress : values.distribution) {
    case Distribution::kZero: return 0;
    case Distribution::kUniform:
    case Distribution::kLogUniform: return std::max(std::abs(values.low), std::abs(values.high));
    case Distribution::kHeavyTailed: return std::abs(values.scale);
    case Distribution::kCancelling: return kCancellingBase * std::abs(values.scale);
    default: return std::abs(values.scale) + std::abs(values.offset);
  }
}

double ScaleFloor(const Task& task, const TensorSpec& output, const InputSet& inputs, const Dims& dims) {
  double magnitude = 0;
  for (TensorSpec tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    if (Result<ValueSpec> values = ResolveValues(ValuesOf(tensor, inputs), dims); values.ok()) tensor.values = *std::move(values);
    magnitude = std::max(magnitude, TypicalMagnitude(tensor, inputs));
  }
  // Results of 4 bits are scaled to end at 6, whatever the inputs' size: larger inputs must not excuse any of them.
  if (output.dtype == DType::kFloat4Pair) magnitude = std::min(magnitude, kLargestE2M1);
  return RoundingUnit(output.dtype) * magnitude;
}

}  // namespace hone
