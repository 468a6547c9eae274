// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes numbers from a task's values: names, shapes, traffic, hidden cases. task_parser.cc reads the file.
#include "hone/tuner/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tuner/values/draw.h"

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
    {DType::kUInt64, "uint64", 8, false},  {DType::kBool, "bool", 1, false},
    {DType::kFloat8E4M3, "float8_e4m3fn", 1, true},
    {DType::kFloat8E5M2, "float8_e5m2", 1, true},
    {DType::kFloat8E8M0, "float8_e8m0fnu", 1, true},
    {DType::kFloat4Pair, "float4_e2m1fn_x2", 1, true},
    {DType::kInt4Pair, "int4_x2", 1, false},
};

const DTypeRow& DTypeRowOf(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row;
  }
  HONE_CHECK(false, "a DType without a row");
  return kDTypes[0];
}

constexpr std::string_view kDistributions[] = {"normal", "uniform",    "zero",        "constant", "heavy_tailed",
                                               "sorted", "cancelling", "log_uniform", "index", "offsets", "special"};
constexpr std::pair<SpecialValue, std::string_view> kSpecialValues[] = {
    {kSpecialInf, "inf"}, {kSpecialMinusInf, "-inf"}, {kSpecialNan, "nan"}, {kSpecialSubnormal, "subnormal"}};
constexpr std::string_view kWorkloads[] = {"gemm",      "elementwise", "reduction", "convolution",
                                           "attention", "gather",      "graph",     "other"};

template <typename Enum, size_t n>
std::optional<Enum> FromName(const std::string_view (&names)[n], std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// Size limit of a tensor, 1 PiB: anything larger is a mistake in the task.
constexpr int64_t kMaxBytes = int64_t{1} << 50;
// Limit of low, high, scale and offset: draws are made in float32.
constexpr double kLargestParameter = 3e38;
constexpr int64_t kLargestHiddenSize = int64_t{1} << 40;
// Tries per hidden shape, when its tensors cannot be drawn.
constexpr size_t kHiddenAttempts = 256;

}  // namespace

int64_t DTypeBytes(DType dtype) { return DTypeRowOf(dtype).bytes; }
std::string_view DTypeName(DType dtype) { return DTypeRowOf(dtype).name; }
bool IsFloating(DType dtype) { return DTypeRowOf(dtype).floating; }
bool IsFloat8(DType dtype) { return IsFloating(dtype) && DTypeBytes(dtype) == 1 && !IsPacked(dtype); }
bool IsPacked(DType dtype) { return dtype == DType::kFloat4Pair || dtype == DType::kInt4Pair; }
std::string DTypeNames() {
  std::string names;
  for (const DTypeRow& row : kDTypes) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return names;
}

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
  const std::optional<Distribution> distribution = FromName<Distribution>(kDistributions, name);
  return distribution == Distribution::kSpecial ? std::nullopt : distribution;
}

std::string_view SpecialValueName(SpecialValue value) {
  for (const auto& [special_value, name] : kSpecialValues) {
    if (special_value == value) return name;
  }
  return "unknown";
}
std::optional<SpecialValue> SpecialValueFromName(std::string_view name) {
  for (const auto& [value, known] : kSpecialValues) {
    if (known == name) return value;
  }
  return std::nullopt;
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
  // For the strides of an empty tensor, an extent of 0 counts as 1, so that no stride is 0.
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

  // Elements must not share addresses, or drawing and writing would race. From the innermost axis outwards, each stride
  // must exceed the span of the axes inside it.
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

Result<double> Flops(const Task& task, const Dims& dims) {
  if (!task.flops) return 0.0;
  HONE_ASSIGN_OR_RETURN(const int64_t flops, task.flops->Evaluate(dims));
  return static_cast<double>(flops);
}

Result<ValueSpec> ResolveValues(const ValueSpec& values, const Dims& dims) {
  ValueSpec resolved = values;
  for (const auto& [text, number] :
       {std::pair{&values.low_text, &resolved.low}, std::pair{&values.high_text, &resolved.high},
        std::pair{&values.scale_text, &resolved.scale}, std::pair{&values.offset_text, &resolved.offset}}) {
    if (!*text) continue;
    HONE_ASSIGN_OR_RETURN(*number, (*text)->EvaluateNumber(dims));
  }
  return resolved;
}

Status CheckDrawable(const TensorSpec& tensor, const TensorShape& shape, const Dims& dims) {
  const auto fail = [&](std::string message) {
    return Status::InvalidArgument(fmt::format("tensor '{}' {}", tensor.name, message));
  };
  const ValueSpec& values = tensor.values;
  if (shape.elements > 0 && (values.low_text || values.high_text || values.scale_text || values.offset_text)) {
    HONE_ASSIGN_OR_RETURN(const ValueSpec resolved, ResolveValues(values, dims));
    for (const double value : {resolved.low, resolved.high, resolved.scale, resolved.offset}) {
      if (!std::isfinite(value) || std::fabs(value) > kLargestParameter) {
        return fail("has values whose low, high, scale or offset is no finite float32 number");
      }
    }
    const bool ranged =
        values.distribution == Distribution::kUniform || values.distribution == Distribution::kLogUniform;
    const bool positive = values.distribution == Distribution::kLogUniform;
    if (ranged && (!(resolved.low < resolved.high) || (positive && !(resolved.low > 0)))) {
      return fail(fmt::format("needs {}low < high, found low = {}, high = {}", positive ? "0 < " : "", resolved.low,
                              resolved.high));
    }
  }
  if (!values.index_bound) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const int64_t bound, values.index_bound->Evaluate(dims));
  if (values.distribution == Distribution::kOffsets) {
    return bound < 0 ? fail(fmt::format("holds offsets that would end at {}", bound)) : Status::Ok();
  }
  if (shape.elements == 0) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(const ValueSpec resolved, ResolveValues(values, dims));
  const auto low = static_cast<int64_t>(resolved.low);
  if (resolved.low < 0 || (low > 0 && low >= bound)) {
    return fail(fmt::format("needs 0 <= low < bound, found low = {}, bound = {}", resolved.low, bound));
  }
  if (bound <= 0) return fail(fmt::format("has indices but nothing to point to: its bound is {}", bound));
  const bool distinct = values.index_order == IndexOrder::kDistinct,
             rows = values.index_order == IndexOrder::kDistinctRows;
  const int64_t distinct_indices = distinct ? shape.elements : rows && !shape.shape.empty() ? shape.shape.back() : 1;
  if (distinct_indices > bound - low) {
    return fail(fmt::format(
        "needs {} distinct indices{}, and its bound is {}: give the bound a larger size, or the tensor a smaller one",
        distinct_indices, rows ? " a row" : "", bound));
  }
  return Status::Ok();
}

std::optional<HiddenRange> ResolveRange(const HiddenRange& range, const Dims& dims) {
  HiddenRange resolved{.dim = range.dim, .low = range.low, .high = range.high, .multiple = range.multiple};
  for (const auto& [text, number] :
       {std::pair{&range.low_text, &resolved.low}, std::pair{&range.high_text, &resolved.high},
        std::pair{&range.multiple_text, &resolved.multiple}}) {
    if (!*text) continue;
    const Result<int64_t> value = (*text)->Evaluate(dims);
    if (!value.ok()) return std::nullopt;
    *number = *value;
  }
  const int64_t largest_size = std::max({resolved.low, resolved.high, resolved.multiple});
  if (largest_size >= kLargestHiddenSize || resolved.low < 1 || resolved.multiple < 1 ||
      resolved.high / resolved.multiple * resolved.multiple < resolved.low) {
    return std::nullopt;
  }
  return resolved;
}

bool KeepsRelations(const std::vector<HiddenGroup>& groups, const Dims& dims) {
  for (const HiddenGroup& group : groups) {
    for (const HiddenRange& range : group.ranges) {
      if (!range.related()) continue;
      const std::optional<HiddenRange> resolved = ResolveRange(range, dims);
      const int64_t value = dims.at(range.dim);
      if (!resolved || (range.low_text && value < resolved->low) || (range.high_text && value > resolved->high) ||
          value % resolved->multiple != 0) {
        return false;
      }
    }
  }
  return true;
}

namespace {

// Draws one shape of the group; nullopt if its relations leave no size, or a tensor too few distinct indices.
std::optional<Dims> DrawHiddenShape(const Task& task, const HiddenGroup& group, uint64_t seed, uint64_t stream,
                                    size_t attempt) {
  Dims dims;
  for (size_t i = 0; i < group.ranges.size(); ++i) {
    const std::optional<HiddenRange> range = ResolveRange(group.ranges[i], dims);
    if (!range) return std::nullopt;
    const uint64_t bits = draw::Hash(seed, stream, attempt * group.ranges.size() + i);
    const double u = static_cast<double>(bits >> 11) * 0x1p-53;  // [0, 1)
    // The exponent is uniform over [low, high + 1), so that `high` itself can be drawn.
    const double low = static_cast<double>(range->low), high = static_cast<double>(range->high);
    int64_t value = static_cast<int64_t>(low * std::exp(u * std::log((high + 1.0) / low)));
    value = std::clamp(value, range->low, range->high);
    value = (value + range->multiple - 1) / range->multiple * range->multiple;
    if (value > range->high) value -= range->multiple;
    dims[range->dim] = value;
  }
  for (const TensorSpec& tensor : task.tensors) {
    const IndexOrder order = tensor.values.index_order;
    if (order != IndexOrder::kDistinct && order != IndexOrder::kDistinctRows) continue;
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    if (!shape.ok() || !CheckDrawable(tensor, *shape, dims).ok()) return std::nullopt;
  }
  return dims;
}

}  // namespace

std::vector<Case> DrawHiddenCases(const Task& task, uint64_t seed) {
  std::vector<Case> cases;
  for (size_t group = 0; group < task.hidden.size(); ++group) {
    for (int number = 0; number < task.hidden[group].count; ++number) {
      const uint64_t stream = group * 1000003 + static_cast<uint64_t>(number);
      std::optional<Dims> dims;
      for (size_t attempt = 0; attempt < kHiddenAttempts && !dims; ++attempt) {
        dims = DrawHiddenShape(task, task.hidden[group], seed, stream, attempt);
      }
      if (dims) cases.push_back({std::move(*dims), CaseRole::kHidden});
    }
  }
  return cases;
}

}  // namespace hone
