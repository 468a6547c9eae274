// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a task's values mean in numbers: names, shapes, traffic, hidden cases. Reading the file is
// task_parser.cc.
#include "hone/tuner/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tuner/core/draw.h"

namespace hone {

namespace {

// One row per dtype, in the order of the enum.
struct DTypeRow {
  DType dtype;
  std::string_view name;
  int64_t bytes;
  bool floating;
};
constexpr DTypeRow kDTypes[] = {
    {DType::kFloat64, "float64", 8, true}, {DType::kFloat32, "float32", 4, true},
    {DType::kFloat16, "float16", 2, true}, {DType::kBFloat16, "bfloat16", 2, true},
    {DType::kInt64, "int64", 8, false},    {DType::kInt32, "int32", 4, false},
    {DType::kUInt32, "uint32", 4, false},  {DType::kInt16, "int16", 2, false},
    {DType::kInt8, "int8", 1, false},      {DType::kUInt8, "uint8", 1, false},
};

const DTypeRow& Row(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row;
  }
  HONE_CHECK(false, "a DType without a row");
  return kDTypes[0];
}

constexpr std::string_view kDistributions[] = {"normal", "uniform",    "zero",        "constant", "heavy_tailed",
                                               "sorted", "cancelling", "log_uniform", "index", "offsets"};
constexpr std::string_view kWorkloads[] = {"gemm",      "elementwise", "reduction", "convolution",
                                           "attention", "gather",      "graph",     "other"};

template <typename Enum, size_t n>
std::optional<Enum> FromName(const std::string_view (&names)[n], std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// A tensor beyond this is a mistake in a task, not a tensor: 1 PiB.
constexpr int64_t kMaxBytes = int64_t{1} << 50;

}  // namespace

int64_t DTypeBytes(DType dtype) { return Row(dtype).bytes; }
std::string_view DTypeName(DType dtype) { return Row(dtype).name; }
bool IsFloating(DType dtype) { return Row(dtype).floating; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string_view TensorRoleName(TensorRole role) {
  switch (role) {
    case TensorRole::kIn:
      return "in";
    case TensorRole::kOut:
      return "out";
    case TensorRole::kInOut:
      return "inout";
  }
  return "unknown";
}

std::string_view CaseRoleName(CaseRole role) {
  switch (role) {
    case CaseRole::kTime:
      return "time";
    case CaseRole::kCheck:
      return "check";
    case CaseRole::kHidden:
      return "hidden";
  }
  return "unknown";
}

std::string_view DistributionName(Distribution d) { return kDistributions[static_cast<size_t>(d)]; }
std::optional<Distribution> DistributionFromName(std::string_view name) {
  return FromName<Distribution>(kDistributions, name);
}

std::string_view WorkloadClassName(WorkloadClass c) { return kWorkloads[static_cast<size_t>(c)]; }
std::optional<WorkloadClass> WorkloadClassFromName(std::string_view name) {
  return FromName<WorkloadClass>(kWorkloads, name);
}

const TensorSpec* Task::FindTensor(std::string_view tensor) const {
  for (const TensorSpec& spec : tensors) {
    if (spec.name == tensor) return &spec;
  }
  return nullptr;
}

const ScalarSpec* Task::FindScalar(std::string_view scalar) const {
  for (const ScalarSpec& spec : scalars) {
    if (spec.name == scalar) return &spec;
  }
  return nullptr;
}

Result<TensorShape> ResolveShape(const TensorSpec& tensor, const Dims& dims) {
  const auto fail = [&](const std::string& message) {
    return Status::InvalidArgument(fmt::format("tensor '{}': {}", tensor.name, message));
  };
  TensorShape result;
  bool empty = false;
  for (const Expression& extent : tensor.shape) {
    Result<int64_t> value = extent.Evaluate(dims);
    if (!value.ok()) return value.status().WithContext(fmt::format("shape of tensor '{}'", tensor.name));
    if (*value < 0) return fail(fmt::format("the extent '{}' is negative ({})", extent.text(), *value));
    result.shape.push_back(*value);
    empty = empty || *value == 0;
  }
  // Strides of an empty tensor count its zero extents as one, so that they stay meaningful numbers.
  const size_t rank = result.shape.size();
  if (tensor.strides.empty()) {
    result.strides.assign(rank, 1);
    int64_t stride = 1;
    for (size_t axis = rank; axis-- > 0;) {
      result.strides[axis] = stride;
      if (__builtin_mul_overflow(stride, std::max<int64_t>(result.shape[axis], 1), &stride) || stride > kMaxBytes) {
        return fail("has more elements than any memory holds");
      }
    }
  } else {
    HONE_CHECK(tensor.strides.size() == rank, "a task was accepted whose strides do not match its shape");
    for (const Expression& stride : tensor.strides) {
      Result<int64_t> value = stride.Evaluate(dims);
      if (!value.ok()) return value.status().WithContext(fmt::format("strides of tensor '{}'", tensor.name));
      if (*value < 0) return fail(fmt::format("the stride '{}' is negative ({})", stride.text(), *value));
      result.strides.push_back(*value);
    }
  }
  if (empty) return result;

  int64_t elements = 1, last = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t reach;
    if (__builtin_mul_overflow(elements, result.shape[axis], &elements) ||
        __builtin_mul_overflow(result.shape[axis] - 1, result.strides[axis], &reach) ||
        __builtin_add_overflow(last, reach, &last) || elements > kMaxBytes || last > kMaxBytes) {
      return fail("has more elements than any memory holds");
    }
  }
  result.elements = elements;
  result.span_bytes = (last + 1) * DTypeBytes(tensor.dtype);

  // Each element must have a place of its own, or drawing and writing it would race: from the innermost axis
  // outwards, a stride must step over everything inside it.
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, extent
  for (size_t axis = 0; axis < rank; ++axis) {
    if (result.shape[axis] > 1) axes.emplace_back(result.strides[axis], result.shape[axis]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t inner = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride < inner) {
      return fail(fmt::format("elements share places: a stride of {} where the inner axes span {}", stride, inner));
    }
    inner = stride * (extent - 1) + inner;
  }
  return result;
}

Result<Traffic> CompulsoryTraffic(const Task& task, const Dims& dims) {
  Traffic traffic;
  for (const TensorSpec& tensor : task.tensors) {
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(tensor, dims));
    const double bytes = static_cast<double>(shape.elements) * static_cast<double>(DTypeBytes(tensor.dtype));
    if (tensor.role != TensorRole::kOut) traffic.read_bytes += bytes;
    if (tensor.role != TensorRole::kIn) traffic.written_bytes += bytes;
  }
  if (task.bytes) {
    // What is written is known; the override corrects what is read (a gather touches part of its source).
    HONE_ASSIGN_OR_RETURN(const int64_t total, task.bytes->Evaluate(dims));
    traffic.written_bytes = std::min(traffic.written_bytes, static_cast<double>(total));
    traffic.read_bytes = static_cast<double>(total) - traffic.written_bytes;
  }
  return traffic;
}

Result<double> CompulsoryBytes(const Task& task, const Dims& dims) {
  HONE_ASSIGN_OR_RETURN(const Traffic traffic, CompulsoryTraffic(task, dims));
  return traffic.read_bytes + traffic.written_bytes;
}

Result<double> Flops(const Task& task, const Dims& dims) {
  if (!task.flops) return 0.0;
  HONE_ASSIGN_OR_RETURN(const int64_t flops, task.flops->Evaluate(dims));
  return static_cast<double>(flops);
}

std::vector<Case> DrawHiddenCases(const Task& task, uint64_t seed) {
  std::vector<Case> cases;
  for (size_t group = 0; group < task.hidden.size(); ++group) {
    for (int number = 0; number < task.hidden[group].count; ++number) {
      Case drawn;
      drawn.role = CaseRole::kHidden;
      for (size_t i = 0; i < task.hidden[group].ranges.size(); ++i) {
        const HiddenRange& range = task.hidden[group].ranges[i];
        const uint64_t bits = draw::Hash(seed, group * 1000003 + static_cast<uint64_t>(number), i);
        const double u = static_cast<double>(bits >> 11) * 0x1p-53;  // [0, 1)
        // Uniform exponent over [low, high + 1), so that `high` itself can be drawn.
        const double low = static_cast<double>(range.low), high = static_cast<double>(range.high);
        int64_t value = static_cast<int64_t>(low * std::exp(u * std::log((high + 1.0) / low)));
        value = std::clamp(value, range.low, range.high);
        value = (value + range.multiple - 1) / range.multiple * range.multiple;
        if (value > range.high) value -= range.multiple;
        drawn.dims[range.dim] = value;
      }
      cases.push_back(std::move(drawn));
    }
  }
  return cases;
}

}  // namespace hone
