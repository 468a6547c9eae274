// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a launch plan into numbers for one case, and refuses launches that no device could run. The candidate causes
// every error here, so errors name the line and field of the plan.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "hone/tuner/candidate.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/values/float_bits.h"

namespace hone {

namespace {

// Number of algorithms that the library is asked for per product.
constexpr int64_t kMostAlgorithms = 32;

// A PlanScope gives the values of names in an entry's expressions: dimensions, tunables, device facts, align(),
// stride(), occupancy().
class PlanScope : public Scope {
 public:
  PlanScope(const Candidate& candidate, const Task& task, const Dims& dims, const DeviceFacts& facts,
            const std::map<std::string, int64_t>& base_align, const Binding& binding)
      : candidate_(candidate), task_(task), dims_(dims), facts_(facts), base_align_(base_align), binding_(binding) {}

  // Computes occupancy(); if empty, the function is not known.
  std::function<Result<int64_t>(const std::vector<std::string>&)> occupancy;

  std::optional<int64_t> Name(std::string_view name) const override {
    const std::string key(name);
    if (const auto found = binding_.find(key); found != binding_.end()) return found->second;
    if (const auto found = dims_.find(key); found != dims_.end()) return found->second;
    if (name == "sm_count") return facts_.sm_count;
    if (name == "cc") return facts_.cc_major * 10 + facts_.cc_minor;
    if (name == "l2_bytes") return facts_.l2_bytes;
    if (name == "smem_optin") return facts_.smem_optin;
    return std::nullopt;
  }

  std::optional<Result<int64_t>> Call(std::string_view function,
                                      const std::vector<std::string>& arguments) const override {
    if (function == "align" && arguments.size() == 1) {
      if (const auto found = base_align_.find(arguments[0]); found != base_align_.end()) return found->second;
      if (const TensorSpec* tensor = task_.FindTensor(arguments[0])) return tensor->align;
      for (const WorkspaceSpec& workspace : candidate_.plan.workspaces) {
        if (workspace.name == arguments[0]) return workspace.align;
      }
    }
    if (function == "stride" && arguments.size() == 2) {
      const TensorSpec* tensor = task_.FindTensor(arguments[0]);
      if (tensor == nullptr) return std::nullopt;
      Result<TensorShape> shape = ResolveShape(*tensor, dims_);
      if (!shape.ok()) return Result<int64_t>(shape.status());
      const size_t axis = static_cast<size_t>(arguments[1][0] - '0');
      if (axis >= shape->strides.size())
        return Status::InvalidArgument(fmt::format("stride: no axis {}", arguments[1]));
      return shape->strides[axis];
    }
    if (function == "occupancy" && occupancy) return occupancy(arguments);
    return std::nullopt;
  }

 private:
  const Candidate& candidate_;
  const Task& task_;
  const Dims& dims_;
  const DeviceFacts& facts_;
  const std::map<std::string, int64_t>& base_align_;
  const Binding& binding_;
};

template <typename T>
std::vector<uint8_t> BytesOfValue(T value) {
  std::vector<uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Returns the integer in its C type, or nullopt when it does not fit.
std::optional<std::vector<uint8_t>> IntegerBytes(const std::string& type, int64_t value) {
  if (type == "i64") return BytesOfValue<int64_t>(value);
  if (type == "u64" && value >= 0) return BytesOfValue<uint64_t>(static_cast<uint64_t>(value));
  if (type == "i32" && value == static_cast<int32_t>(value)) return BytesOfValue<int32_t>(static_cast<int32_t>(value));
  if (type == "u32" && value == static_cast<uint32_t>(value))
    return BytesOfValue<uint32_t>(static_cast<uint32_t>(value));
  if (type == "bool" && (value == 0 || value == 1)) return BytesOfValue<uint8_t>(static_cast<uint8_t>(value));
  return std::nullopt;
}

// Returns the scalar's bytes in the type of the argument. The value is first rounded to the scalar's own dtype: if the
// task says that it is a float, an f64 argument too gets the value of a float.
std::vector<uint8_t> ScalarBytes(const ScalarSpec& scalar, const std::string& type) {
  const double value = RoundedTo(scalar.dtype, scalar.value);
  if (type == "f64") return BytesOfValue<double>(value);
  if (type == "f16") return BytesOfValue<uint16_t>(HalfBits(value));
  if (type == "bf16") return BytesOfValue<uint16_t>(BFloat16Bits(value));
  return BytesOfValue<float>(static_cast<float>(value));
}

std::string DimsText(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

class Resolver {
 public:
  Resolver(const Candidate& candidate, const Task& task, const Dims& dims, const Binding& binding,
           const DeviceFacts& facts, const OccupancyQuery& occupancy, const std::map<std::string, int64_t>& base_align)
      : candidate_(candidate),
        plan_(candidate.plan),
        task_(task),
        dims_(dims),
        binding_(binding),
        facts_(facts),
        occupancy_(occupancy),
        base_align_(base_align) {}

  Result<ResolvedPlan> Run() {
    for (const auto& [name, value] : binding_) {
      const bool is_tunable = std::any_of(plan_.tunables.begin(), plan_.tunables.end(),
                                          [&, key = name](const auto& tunable) { return tunable.first == key; });
      if (!is_tunable)
        return Status::InvalidArgument(fmt::format("{}: '{}' is not a tunable of this plan", candidate_.name, name));
    }
    HONE_RETURN_IF_ERROR(ResolveStorage());
    if (plan_.host_mode) {
      HONE_RETURN_IF_ERROR(ResolveHost());
      return std::move(result_);
    }
    for (size_t first = 0; first < plan_.entries.size();) {
      size_t last = first;
      while (last < plan_.entries.size() && plan_.entries[last].step == plan_.entries[first].step) ++last;
      HONE_RETURN_IF_ERROR(ResolveStep(first, last));
      first = last;
    }
    return std::move(result_);
  }

 private:
  Status At(const PlanEntry& entry, std::string_view field, const Status& status) const {
    return status.WithContext(fmt::format("{}:{}: [[{}]] field '{}'", candidate_.name, entry.line,
                                          entry.table(), field));
  }
  Status Fail(const PlanEntry& entry, std::string_view field, std::string message) const {
    return At(entry, field, Status::InvalidArgument(std::move(message)));
  }
  Status ExceedsLimit(const PlanEntry& entry, std::string_view field, std::string message) const {
    return At(entry, field, Status::ResourceExhausted(std::move(message)));
  }
  // Evaluates an expression of an entry; an error gets the entry's line and field.
  Result<int64_t> Value(const PlanEntry& entry, std::string_view field, const Expression& expression,
                        const Scope& scope) const {
    Result<int64_t> value = expression.Evaluate(scope);
    if (!value.ok()) return At(entry, field, value.status());
    return value;
  }

  // Resolves workspaces and tensor maps. They belong to the whole plan, so an entry's `with` does not affect them.
  Status ResolveStorage() {
    const Binding plan_binding = EffectiveBinding(plan_, binding_, PlanEntry{});
    const PlanScope scope(candidate_, task_, dims_, facts_, base_align_, plan_binding);
    for (const WorkspaceSpec& workspace : plan_.workspaces) {
      const std::string where = fmt::format("{}: [[workspace]] '{}' field 'bytes'", candidate_.name, workspace.name);
      Result<int64_t> bytes = workspace.bytes.Evaluate(scope);
      if (!bytes.ok()) return bytes.status().WithContext(where);
      if (*bytes < 0) {
        return Status::InvalidArgument(fmt::format("'{}' is negative ({})", workspace.bytes.text(), *bytes))
            .WithContext(where);
      }
      result_.workspaces.push_back({workspace.name, *bytes, workspace.align, workspace.zero_on_entry});
    }
    for (const TensorMapSpec& map : plan_.tensor_maps) {
      ResolvedTensorMap resolved;
      resolved.spec = map;
      const auto fill = [&](const std::vector<Expression>& expressions, std::vector<int64_t>& values,
                            std::string_view field, int64_t least) -> Status {
        const std::string where = fmt::format("{}: [[tensor_map]] '{}' field '{}'", candidate_.name, map.name, field);
        for (const Expression& expression : expressions) {
          Result<int64_t> value = expression.Evaluate(scope);
          if (!value.ok()) return value.status().WithContext(where);
          if (*value < least) {
            return Status::InvalidArgument(fmt::format("'{}' is {}, less than {}", expression.text(), *value, least))
                .WithContext(where);
          }
          values.push_back(*value);
        }
        return Status::Ok();
      };
      // Extents of 0 are allowed, because a case without elements launches nothing.
      HONE_RETURN_IF_ERROR(fill(map.dims, resolved.dims, "dims", 0));
      HONE_RETURN_IF_ERROR(fill(map.strides, resolved.strides, "strides", 0));
      HONE_RETURN_IF_ERROR(fill(map.box, resolved.box, "box", 1));
      HONE_RETURN_IF_ERROR(fill(map.element_strides, resolved.element_strides, "element_strides", 1));
      if (resolved.element_strides.empty()) resolved.element_strides.assign(resolved.dims.size(), 1);
      result_.tensor_maps.push_back(std::move(resolved));
    }
    return Status::Ok();
  }

  // Resolves the first alternative in [first, last) that holds.
  Status ResolveStep(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const PlanEntry& entry = plan_.entries[i];
      const Binding binding = EffectiveBinding(plan_, binding_, entry);
      PlanScope scope(candidate_, task_, dims_, facts_, base_align_, binding);
      if (entry.when) {
        HONE_ASSIGN_OR_RETURN(const int64_t holds, Value(entry, "when", *entry.when, scope));
        if (holds == 0) continue;
      }
      result_.chosen.push_back(i);
      if (entry.call) return ResolveCall(entry, *entry.call, i, scope);
      return entry.is_memset ? ResolveMemset(entry, i, scope) : ResolveLaunch(entry, i, binding, scope);
    }
    return Status::NotFound(
        fmt::format("{}:{}: no alternative of step {} holds for {}; leave `when` out of the last one, so that every "
                    "shape is served",
                    candidate_.name, plan_.entries[last - 1].line, plan_.entries[first].step, DimsText(dims_)));
  }

  // Adds the step of a [[memset]].
  Status ResolveMemset(const PlanEntry& entry, size_t index, const PlanScope& scope) {
    ResolvedStep step;
    step.is_memset = true;
    step.entry = index;
    step.target = entry.target;
    step.memset_value = entry.memset_value;
    HONE_ASSIGN_OR_RETURN(const int64_t available, BytesOf(entry.target));
    step.memset_bytes = available;
    if (entry.memset_bytes) {
      HONE_ASSIGN_OR_RETURN(step.memset_bytes, Value(entry, "bytes", *entry.memset_bytes, scope));
      if (step.memset_bytes < 0 || step.memset_bytes > available) {
        return Fail(
            entry, "bytes",
            fmt::format("{} bytes do not lie within '{}', which has {}", step.memset_bytes, entry.target, available));
      }
    }
    if (step.memset_bytes > 0) result_.steps.push_back(std::move(step));
    return Status::Ok();
  }

  // Evaluates a size of a call, which must fit a library's 32-bit sizes.
  Result<int64_t> EvaluateSize(const PlanEntry& entry, std::string_view field, const Expression& expression,
                               const Scope& scope) const {
    HONE_ASSIGN_OR_RETURN(const int64_t value, Value(entry, field, expression, scope));
    if (value < 0) return Fail(entry, field, fmt::format("'{}' is negative ({}) for {}", expression.text(), value, DimsText(dims_)));
    if (value > std::numeric_limits<int32_t>::max()) {
      return ExceedsLimit(entry, field,
                          fmt::format("'{}' is {} for {}; a call takes at most {}", expression.text(), value,
                                      DimsText(dims_), std::numeric_limits<int32_t>::max()));
    }
    return value;
  }

  // Resolves the operand for a matrix of `extents` elements, which must lie within its tensor or workspace. A tensor
  // without an offset is used whole.
  Result<ResolvedOperand> ResolveOperand(const PlanEntry& entry, std::string_view field, const Argument& operand, DType dtype,
                                         const std::vector<int64_t>& extents, std::string_view shape, const Scope& scope) const {
    ResolvedOperand resolved{.name = operand.name};
    const int64_t width = DTypeBytes(dtype);
    HONE_ASSIGN_OR_RETURN(const int64_t available, BytesOf(operand.name));
    const int64_t unit = operand.kind == ArgumentKind::kTensor ? width : 1;
    if (operand.offset) {
      HONE_ASSIGN_OR_RETURN(const int64_t offset, Value(entry, field, *operand.offset, scope));
      if (offset < 0 || offset > available / unit) {
        return Fail(entry, field, fmt::format("the offset '{}' is {}, outside of '{}' with its {} bytes", operand.offset->text(), offset,
                                              operand.name, available));
      }
      resolved.byte_offset = offset * unit;
      if (resolved.byte_offset % width != 0) {
        return Fail(entry, field, fmt::format("the offset '{}' is {} bytes, no multiple of a {} of {} bytes", operand.offset->text(),
                                              resolved.byte_offset, DTypeName(dtype), width));
      }
    }
    double elements = 1;
    for (const int64_t extent : extents) elements *= static_cast<double>(extent);
    // The product of three 31-bit sizes may overflow, so it is first computed as a double, which is exact enough to
    // tell that no memory has so many elements.
    const bool too_many = elements > 1e15;
    int64_t bytes = width;
    for (const int64_t extent : extents) bytes = too_many ? 0 : bytes * extent;
    const bool is_whole_tensor = operand.kind == ArgumentKind::kTensor && !operand.offset;
    if (too_many || bytes > available - resolved.byte_offset || (is_whole_tensor && bytes != available)) {
      return Fail(entry, field,
                  fmt::format("{} is {} elements for {}, and '{}' has {}{}; check {}", shape, elements, DimsText(dims_), operand.name,
                              (available - resolved.byte_offset) / width, operand.offset ? " behind the offset" : "",
                              shape.find("channels") == shape.npos ? "m, n, k, batch and the transposes" : "the convolution's sizes"));
    }
    resolved.bytes = bytes;
    return resolved;
  }

  // Adds the step of a [[call]] that is a matrix product, or passes a convolution on.
  Status ResolveCall(const PlanEntry& entry, const LibraryCall& call, size_t index, const PlanScope& scope) {
    ResolvedCall matmul;
    if (call.algorithm) {
      HONE_ASSIGN_OR_RETURN(matmul.algorithm, EvaluateSize(entry, "algorithm", *call.algorithm, scope));
      if (matmul.algorithm >= kMostAlgorithms) {
        return ExceedsLimit(entry, "algorithm",
                            fmt::format("'{}' is {}; the library is asked for {} at most", call.algorithm->text(),
                                        matmul.algorithm, kMostAlgorithms));
      }
    }
    matmul.dtype = call.dtype;
    if (call.convolution) return ResolveConvolution(entry, call, std::move(matmul), index, scope);
    HONE_ASSIGN_OR_RETURN(matmul.m, EvaluateSize(entry, "m", call.m, scope));
    HONE_ASSIGN_OR_RETURN(matmul.n, EvaluateSize(entry, "n", call.n, scope));
    HONE_ASSIGN_OR_RETURN(matmul.k, EvaluateSize(entry, "k", call.k, scope));
    if (call.batch) {
      HONE_ASSIGN_OR_RETURN(matmul.batch, EvaluateSize(entry, "batch", *call.batch, scope));
    }
    // An empty product launches nothing, like a grid without blocks.
    if (matmul.m == 0 || matmul.n == 0 || matmul.batch == 0) return Status::Ok();
    if (matmul.k == 0) {
      return Fail(entry, "k", fmt::format("'{}' is 0 for {}: a sum of no terms is not computed by a call; serve such shapes by another "
                                          "alternative, with a `when`",
                                          call.k.text(), DimsText(dims_)));
    }
    matmul.transpose_a = call.transpose_a;
    matmul.transpose_b = call.transpose_b;
    matmul.epilogue = call.epilogue;
    HONE_ASSIGN_OR_RETURN(matmul.a, ResolveOperand(entry, "a", call.a, call.dtype, {matmul.batch, matmul.m, matmul.k},
                                                   call.transpose_a ? "batch * k * m" : "batch * m * k", scope));
    HONE_ASSIGN_OR_RETURN(matmul.b, ResolveOperand(entry, "b", call.b, call.dtype, {matmul.batch, matmul.k, matmul.n},
                                                   call.transpose_b ? "batch * n * k" : "batch * k * n", scope));
    HONE_ASSIGN_OR_RETURN(matmul.out, ResolveOperand(entry, "out", call.out, call.dtype, {matmul.batch, matmul.m, matmul.n},
                                                     "batch * m * n", scope));
    if (call.bias) {
      HONE_ASSIGN_OR_RETURN(matmul.bias, ResolveOperand(entry, "bias", *call.bias, call.dtype, {matmul.n}, "n", scope));
    }
    return TakeCall(entry, std::move(matmul), index);
  }

  // Adds the step of a [[call]] that is a convolution. `resolved`: what it shares with a matrix product.
  Status ResolveConvolution(const PlanEntry& entry, const LibraryCall& call, ResolvedCall resolved, size_t index, const PlanScope& scope) {
    const ConvolutionSizes& sizes = *call.convolution;
    ResolvedConvolution convolution{.transposed = sizes.transposed};
    HONE_ASSIGN_OR_RETURN(convolution.batch, EvaluateSize(entry, "batch", sizes.batch, scope));
    HONE_ASSIGN_OR_RETURN(convolution.in_channels, EvaluateSize(entry, "in_channels", sizes.in_channels, scope));
    HONE_ASSIGN_OR_RETURN(convolution.out_channels, EvaluateSize(entry, "out_channels", sizes.out_channels, scope));
    if (sizes.groups) {
      HONE_ASSIGN_OR_RETURN(convolution.groups, EvaluateSize(entry, "groups", *sizes.groups, scope));
    }
    const auto fail = [&](std::string_view field, const std::string& what) {
      return Fail(entry, field, fmt::format("{} for {}", what, DimsText(dims_)));
    };
    if (convolution.batch == 0 || convolution.out_channels == 0) return Status::Ok();
    if (convolution.in_channels == 0)
      return fail("in_channels", "it is 0, and a sum of no terms is not computed by a call,");
    if (convolution.groups == 0 || convolution.in_channels % convolution.groups != 0 ||
        convolution.out_channels % convolution.groups != 0) {
      return fail("groups", fmt::format("{} groups do not divide {} channels of the input and {} of out",
                                        convolution.groups, convolution.in_channels, convolution.out_channels));
    }
    const size_t axes = sizes.size.size();
    const auto values = [&](std::string_view field, const std::vector<Expression>& expressions, int64_t usual, int64_t least,
                            std::vector<int64_t>* into) -> Status {
      into->assign(axes, usual);
      for (size_t axis = 0; axis < expressions.size(); ++axis) {
        HONE_ASSIGN_OR_RETURN((*into)[axis], EvaluateSize(entry, field, expressions[axis], scope));
        if ((*into)[axis] < least) return fail(field, fmt::format("'{}' is {}; it must be at least {}", expressions[axis].text(), (*into)[axis], least));
      }
      return Status::Ok();
    };
    HONE_RETURN_IF_ERROR(values("size", sizes.size, 1, 0, &convolution.size));
    HONE_RETURN_IF_ERROR(values("kernel", sizes.kernel, 1, 1, &convolution.kernel));
    HONE_RETURN_IF_ERROR(values("stride", sizes.stride, 1, 1, &convolution.stride));
    HONE_RETURN_IF_ERROR(values("padding", sizes.padding, 0, 0, &convolution.padding));
    HONE_RETURN_IF_ERROR(values("dilation", sizes.dilation, 1, 1, &convolution.dilation));
    HONE_RETURN_IF_ERROR(values("output_padding", sizes.output_padding, 0, 0, &convolution.output_padding));
    std::vector<int64_t> input = {convolution.batch, convolution.in_channels},
                         out = {convolution.batch, convolution.out_channels};
    std::vector<int64_t> weight =
        convolution.transposed ? std::vector{convolution.in_channels, convolution.out_channels / convolution.groups}
                               : std::vector{convolution.out_channels, convolution.in_channels / convolution.groups};
    for (size_t axis = 0; axis < axes; ++axis) {
      // The products below are of 31-bit numbers, so they do not overflow.
      if (convolution.size[axis] < 1 || convolution.OutSize(axis) < 1 ||
          (!convolution.transposed && convolution.size[axis] + 2 * convolution.padding[axis] <
                                          convolution.dilation[axis] * (convolution.kernel[axis] - 1) + 1)) {
        return fail("size", fmt::format("axis {} of out would have no elements", axis));
      }
      if (convolution.output_padding[axis] > 0 &&
          convolution.output_padding[axis] >= std::max(convolution.stride[axis], convolution.dilation[axis])) {
        return fail("output_padding",
                    fmt::format("{} is not below the stride or the dilation", convolution.output_padding[axis]));
      }
      input.push_back(convolution.size[axis]);
      weight.push_back(convolution.kernel[axis]);
      out.push_back(convolution.OutSize(axis));
    }
    HONE_ASSIGN_OR_RETURN(resolved.a, ResolveOperand(entry, "input", call.a, call.dtype, input, "batch * in_channels * size", scope));
    HONE_ASSIGN_OR_RETURN(resolved.b,
                          ResolveOperand(entry, "weight", call.b, call.dtype, weight,
                                         convolution.transposed ? "in_channels * out_channels / groups * kernel"
                                                                : "out_channels * in_channels / groups * kernel",
                                         scope));
    HONE_ASSIGN_OR_RETURN(resolved.out, ResolveOperand(entry, "out", call.out, call.dtype, out, "batch * out_channels * the size of out", scope));
    if (call.bias) {
      HONE_ASSIGN_OR_RETURN(resolved.bias, ResolveOperand(entry, "bias", *call.bias, call.dtype,
                                                          {convolution.out_channels}, "out_channels", scope));
    }
    resolved.convolution = std::move(convolution);
    return TakeCall(entry, std::move(resolved), index);
  }

  // Adds the step of a call whose operands are known.
  Status TakeCall(const PlanEntry& entry, ResolvedCall call, size_t index) {
    const auto overlaps = [&](const ResolvedOperand& read) {
      return read.name == call.out.name && read.byte_offset < call.out.byte_offset + call.out.bytes &&
             call.out.byte_offset < read.byte_offset + read.bytes;
    };
    if (overlaps(call.a) || overlaps(call.b) || (call.bias && overlaps(*call.bias))) {
      return Fail(entry, "out", fmt::format("it overlaps what the call reads of '{}' for {}; give it another offset or workspace",
                                            call.out.name, DimsText(dims_)));
    }
    ResolvedStep step;
    step.entry = index;
    step.call = std::move(call);
    result_.steps.push_back(std::move(step));
    return Status::Ok();
  }

  // Returns the addressable bytes of a tensor or workspace.
  Result<int64_t> BytesOf(const std::string& name) const {
    for (const ResolvedWorkspace& workspace : result_.workspaces) {
      if (workspace.name == name) return workspace.bytes;
    }
    const TensorSpec* tensor = task_.FindTensor(name);
    HONE_CHECK(tensor != nullptr, "a plan was accepted that names neither tensor nor workspace: " + name);
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(*tensor, dims_));
    return shape.span_bytes;
  }

  // Evaluates extents, each of which must lie between `least` and its axis's `most`, into `values`.
  Status EvaluateExtents(const PlanEntry& entry, std::string_view field, const std::vector<Expression>& expressions,
                         const Scope& scope, int64_t least, const std::array<int64_t, 3>& most,
                         std::array<int64_t, 3>& values) const {
    for (size_t axis = 0; axis < expressions.size(); ++axis) {
      HONE_ASSIGN_OR_RETURN(values[axis], Value(entry, field, expressions[axis], scope));
      if (values[axis] < least) {
        return Fail(entry, field,
                    fmt::format("'{}' is {} for {}; it must be at least {}", expressions[axis].text(), values[axis],
                                DimsText(dims_), least));
      }
      if (values[axis] > most[axis]) {
        return ExceedsLimit(entry, field,
                            fmt::format("'{}' is {} for {}; axis {} takes at most {}", expressions[axis].text(),
                                        values[axis], DimsText(dims_), "xyz"[axis], most[axis]));
      }
    }
    return Status::Ok();
  }

  // Evaluates the block and the dynamic shared memory of a launch, within the device's limits.
  Status BlockAndShared(const PlanEntry& entry, const Scope& scope, ResolvedStep& step) const {
    HONE_RETURN_IF_ERROR(EvaluateExtents(entry, "block", entry.block, scope, 1, {1024, 1024, 64}, step.block));
    const int64_t threads = step.block[0] * step.block[1] * step.block[2];
    if (threads > facts_.max_threads_per_block) {
      return ExceedsLimit(
          entry, "block",
          fmt::format("{} threads in a block; this device takes at most {}", threads, facts_.max_threads_per_block));
    }
    if (entry.shared) {
      HONE_ASSIGN_OR_RETURN(step.shared_bytes, Value(entry, "shared", *entry.shared, scope));
      if (step.shared_bytes < 0) {
        return Fail(entry, "shared", fmt::format("'{}' is negative ({})", entry.shared->text(), step.shared_bytes));
      }
      const int64_t most = std::max(facts_.smem_optin, facts_.smem_per_block);
      if (step.shared_bytes > most) {
        return ExceedsLimit(
            entry, "shared",
            fmt::format("{} bytes of shared memory; a block of this device gets at most {}", step.shared_bytes, most));
      }
    }
    return Status::Ok();
  }

  // Returns blocks of the entry's kernel per SM. Before compiling, this is an upper bound by threads and shared memory.
  Result<int64_t> Occupancy(const PlanEntry& entry, const ResolvedStep& launch, const Binding& binding,
                            const Scope& scope, const std::vector<std::string>& arguments) const {
    if (!arguments.empty()) {
      const std::string macro_kernel = SubstituteTunables(arguments[0], binding);
      const std::string base = launch.kernel.substr(0, launch.kernel.find('<'));
      if (macro_kernel != launch.kernel && macro_kernel != base) {
        return Status::InvalidArgument(
            fmt::format("occupancy({}) in an entry that launches '{}'; it tells of the entry's own "
                        "kernel only",
                        arguments[0], launch.kernel));
      }
    }
    ResolvedStep sizes;
    HONE_RETURN_IF_ERROR(BlockAndShared(entry, scope, sizes));
    const int64_t threads = sizes.block[0] * sizes.block[1] * sizes.block[2];
    if (occupancy_) return occupancy_(launch.kernel, launch.binding_key, threads, sizes.shared_bytes);
    int64_t blocks = std::min<int64_t>(facts_.max_blocks_per_sm, facts_.max_threads_per_sm / threads);
    if (sizes.shared_bytes > 0 && facts_.smem_per_sm > 0)
      blocks = std::min(blocks, facts_.smem_per_sm / sizes.shared_bytes);
    return std::max<int64_t>(blocks, 1);
  }

  // Adds the step of a [[launch]], unless its grid is empty.
  Status ResolveLaunch(const PlanEntry& entry, size_t index, const Binding& binding, PlanScope& scope) {
    ResolvedStep step;
    step.entry = index;
    step.binding_key = BindingKey(binding);
    step.kernel = SubstituteTunables(entry.kernel, binding);
    step.cooperative = entry.cooperative;
    const PlanScope scope_without_occupancy = scope;
    scope.occupancy = [&](const std::vector<std::string>& arguments) {
      return Occupancy(entry, step, binding, scope_without_occupancy, arguments);
    };

    HONE_RETURN_IF_ERROR(EvaluateExtents(entry, "grid", entry.grid, scope, 0,
                                         {std::numeric_limits<int32_t>::max(), 65535, 65535}, step.grid));
    // A grid without blocks launches nothing. The other fields need not make sense for such a shape.
    if (step.grid[0] == 0 || step.grid[1] == 0 || step.grid[2] == 0) return Status::Ok();
    HONE_RETURN_IF_ERROR(BlockAndShared(entry, scope, step));
    HONE_RETURN_IF_ERROR(ResolveCluster(entry, scope, step));
    // A dependent launch may depend only on the kernel before it in this plan, not on the harness, a memset or a
    // library's kernel.
    step.programmatic_dependent_launch =
        entry.programmatic_dependent_launch && !result_.steps.empty() && result_.steps.back().is_launch();
    for (size_t i = 0; i < entry.args.size(); ++i) {
      Result<ResolvedArgument> argument = ResolveArgument(entry, entry.args[i], i, scope);
      if (!argument.ok()) return argument.status();
      step.args.push_back(std::move(argument).value());
    }
    result_.steps.push_back(std::move(step));
    return Status::Ok();
  }

  // Evaluates the cluster of a launch, which must divide its grid.
  Status ResolveCluster(const PlanEntry& entry, const Scope& scope, ResolvedStep& step) const {
    if (entry.cluster.empty()) return Status::Ok();
    if (facts_.cc_major < 9)
      return ExceedsLimit(entry, "cluster", "clusters need a device of compute capability 9.0 or newer");
    step.cluster = {1, 1, 1};
    HONE_RETURN_IF_ERROR(EvaluateExtents(entry, "cluster", entry.cluster, scope, 1, {16, 16, 16}, step.cluster));
    const int64_t blocks = step.cluster[0] * step.cluster[1] * step.cluster[2];
    if (blocks > 16)
      return ExceedsLimit(entry, "cluster", fmt::format("{} blocks in a cluster; at most 16 are possible", blocks));
    for (size_t axis = 0; axis < 3; ++axis) {
      if (step.grid[axis] % step.cluster[axis] != 0) {
        return Fail(entry, "cluster",
                    fmt::format("the grid's {} blocks on axis {} are no multiple of the cluster's {}", step.grid[axis],
                                "xyz"[axis], step.cluster[axis]));
      }
    }
    return Status::Ok();
  }

  // Returns argument `number` of an entry with its numbers: an offset, or the bytes of a value.
  Result<ResolvedArgument> ResolveArgument(const PlanEntry& entry, const Argument& argument, size_t number,
                                           const Scope& scope) const {
    const auto fail = [&](std::string message) {
      return Fail(entry, "args", fmt::format("argument {}: {}", number + 1, message));
    };
    ResolvedArgument resolved;
    resolved.kind = argument.kind;
    resolved.name = argument.name;
    switch (argument.kind) {
      case ArgumentKind::kReference:
      case ArgumentKind::kTensorMap:
        break;
      case ArgumentKind::kTensor:
      case ArgumentKind::kWorkspace: {
        if (!argument.offset) break;
        HONE_ASSIGN_OR_RETURN(const int64_t offset, Value(entry, "args", *argument.offset, scope));
        HONE_ASSIGN_OR_RETURN(const int64_t available, BytesOf(argument.name));
        const TensorSpec* tensor = argument.kind == ArgumentKind::kTensor ? task_.FindTensor(argument.name) : nullptr;
        const int64_t unit = tensor == nullptr ? 1 : DTypeBytes(tensor->dtype);
        // The offset may be one past the end, which is a valid pointer.
        if (offset < 0 || offset > available / unit) {
          return fail(fmt::format("the offset '{}' is {}, outside of '{}' with its {} bytes", argument.offset->text(),
                                  offset, argument.name, available));
        }
        resolved.byte_offset = offset * unit;
        break;
      }
      case ArgumentKind::kInteger: {
        HONE_ASSIGN_OR_RETURN(const int64_t value, Value(entry, "args", *argument.value, scope));
        std::optional<std::vector<uint8_t>> bytes = IntegerBytes(argument.type, value);
        if (!bytes)
          return fail(
              fmt::format("'{}' is {}, which does not fit in {}", argument.value->text(), value, argument.type));
        resolved.bytes = std::move(*bytes);
        break;
      }
      case ArgumentKind::kScalar: {
        const ScalarSpec* scalar = task_.FindScalar(argument.name);
        HONE_CHECK(scalar != nullptr, "a plan was accepted that names no scalar: " + argument.name);
        resolved.bytes = ScalarBytes(*scalar, argument.type);
        break;
      }
      case ArgumentKind::kStruct:
        resolved.name = argument.type;
        for (const Argument& field : argument.fields) {
          HONE_ASSIGN_OR_RETURN(ResolvedArgument inner, ResolveArgument(entry, field, number, scope));
          resolved.fields.push_back(std::move(inner));
        }
        break;
    }
    return resolved;
  }

  // Adds the only step of a host-mode plan: the call of its function.
  Status ResolveHost() {
    const PlanEntry& entry = plan_.entries.front();
    const Binding binding = EffectiveBinding(plan_, binding_, entry);
    const PlanScope scope(candidate_, task_, dims_, facts_, base_align_, binding);
    ResolvedStep step;
    step.binding_key = BindingKey(binding);
    step.kernel = plan_.host_function;
    for (size_t i = 0; i < entry.args.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(ResolvedArgument argument, ResolveArgument(entry, entry.args[i], i, scope));
      step.args.push_back(std::move(argument));
    }
    result_.steps.push_back(std::move(step));
    return Status::Ok();
  }

  const Candidate& candidate_;
  const LaunchPlan& plan_;
  const Task& task_;
  const Dims& dims_;
  const Binding& binding_;
  const DeviceFacts& facts_;
  const OccupancyQuery& occupancy_;
  const std::map<std::string, int64_t>& base_align_;
  ResolvedPlan result_;
};

}  // namespace

Result<ResolvedPlan> ResolvePlan(const Candidate& candidate, const Task& task, const Dims& dims, const Binding& binding,
                                 const DeviceFacts& facts, const OccupancyQuery& occupancy,
                                 const std::map<std::string, int64_t>& base_align) {
  return Resolver(candidate, task, dims, binding, facts, occupancy, base_align).Run();
}

}  // namespace hone
