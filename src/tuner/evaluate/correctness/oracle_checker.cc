// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/correctness/oracle_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/packed_numbers.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/device/host_tensor_ops.h"
#include "tuner/evaluate/correctness/mismatch_text.h"
#include "tuner/evaluate/correctness/scale_floor.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

constexpr uint64_t kArenaPurpose = 0x0c5a;
// The references in memory at a time take at most one part in this many of the free device memory. Larger references
// are computed one group of slices at a time.
constexpr int64_t kLargestReferenceShare = 2;
// A block that a reference's process maps is kept for the next case if it takes at most one part in this many of the
// device's memory.
constexpr int64_t kKeptShare = 40;

// Returns whether a launch overwrites this tensor's input content.
bool IsOverwritten(const Task& task, const TensorSpec& tensor) {
  if (tensor.role == TensorRole::kInOut) return true;
  return std::any_of(task.tensors.begin(), task.tensors.end(),
                     [&](const TensorSpec& other) { return other.alias == tensor.name; });
}

// Returns the coordinates of element `linear` in row-major order.
std::vector<int64_t> CoordinatesOf(int64_t linear, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = linear % shape[i];
    linear /= shape[i];
  }
  return index;
}

// Returns the bytes of a value that is certainly wrong where `original` is right: for a floating-point type, the
// largest finite number of the other sign (if infinity is right, the largest number of the same sign might be
// accepted); for an integer, the value with its top bit flipped.
std::array<uint8_t, 8> FarAway(DType dtype, const uint8_t* original) {
  const auto width = static_cast<size_t>(DTypeBytes(dtype));
  std::array<uint8_t, 8> bytes{};
  std::copy(original, original + width, bytes.begin());
  if (IsPacked(dtype)) {  // both numbers get the other sign and the largest magnitude
    const bool floats = dtype == DType::kFloat4Pair;
    bytes[0] = static_cast<uint8_t>((~original[0] & 0x88) | (floats ? 0x77 : (original[0] & 0x08 ? 0x07 : 0) | (original[0] & 0x80 ? 0x70 : 0)));
    return bytes;
  }
  if (!IsFloating(dtype)) {
    bytes[width - 1] = static_cast<uint8_t>(bytes[width - 1] ^ 0x80);
    return bytes;
  }
  std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(width), uint8_t{0xff});
  if (dtype == DType::kFloat8E4M3) bytes[0] = 0x7e;
  if (dtype == DType::kFloat8E5M2) bytes[0] = 0x7b;
  if (dtype == DType::kFloat8E8M0) {  // the type has no sign, so take the other end of its range
    bytes[0] = (original[0] & 0x80) != 0 ? 0x00 : 0xfe;
    return bytes;
  }
  if (dtype == DType::kFloat16) bytes[1] = 0x7b;
  if (dtype == DType::kBFloat16) {
    bytes[0] = 0x7f;
    bytes[1] = 0x7f;
  }
  if (dtype == DType::kFloat32) {
    bytes[2] = 0x7f;
    bytes[3] = 0x7f;
  }
  if (dtype == DType::kFloat64) {
    bytes[6] = 0xef;
    bytes[7] = 0x7f;
  }
  const bool negative = (original[width - 1] & 0x80) != 0;
  if (!negative) bytes[width - 1] = static_cast<uint8_t>(bytes[width - 1] | 0x80);
  return bytes;
}

}  // namespace

std::optional<size_t> FirstUnlikeHand(const std::vector<double>& computed, const std::vector<double>& by_hand) {
  // Hand-worked values are given to about twelve digits, but inputs and scalars may have been rounded to their dtype.
  constexpr double kHandTolerance = 1e-7;
  double largest_magnitude = 0;
  for (const double value : by_hand)
    largest_magnitude = std::max(largest_magnitude, std::isfinite(value) ? std::fabs(value) : 0.0);
  for (size_t i = 0; i < by_hand.size(); ++i) {
    const bool is_same = computed[i] == by_hand[i] || (std::isnan(computed[i]) && std::isnan(by_hand[i])) ||
                         std::fabs(computed[i] - by_hand[i]) <=
                             kHandTolerance * std::max(std::fabs(by_hand[i]), 1e-3 * largest_magnitude);
    if (!is_same) return i;
  }
  return std::nullopt;
}

KeptIndices KeptOf(const TensorSpec& tensor, const ProblemPart& part) {
  KeptIndices kept_indices;
  if (tensor.slice_axis >= 0) kept_indices[tensor.slice_axis] = part.slices;
  for (size_t axis = 0; axis < tensor.shape.size() && !part.dimension.empty(); ++axis) {
    if (tensor.shape[axis].text() == part.dimension) kept_indices[static_cast<int>(axis)] = part.indices;
  }
  return kept_indices;
}

double AllowedRms(const Tolerance& tolerance, int64_t elements) {
  const double grown = tolerance.c_rms * std::sqrt(1 + 5.0 / static_cast<double>(std::max<int64_t>(elements, 1)));
  return std::max(tolerance.c_rms, std::min(grown, tolerance.c_max));
}

bool OracleChecker::PassesRms(const TensorSpec& tensor, const Tolerance& tolerance, const Comparison& comparison,
                              double* allowed, double* error) {
  *allowed = AllowedRms(tolerance, comparison.total);
  *error = comparison.rms_error;
  if (*error > *allowed) return false;
  if (comparison.total >= policy::kLeastRmsElements || comparison.total == 0) return true;
  ErrorSums& sums = error_sums_[{incumbent_, tensor.name}];
  sums.squares += comparison.rms_error * comparison.rms_error * static_cast<double>(comparison.total);
  sums.elements += comparison.total;
  *allowed = AllowedRms(tolerance, sums.elements);
  *error = std::sqrt(sums.squares / static_cast<double>(sums.elements));
  return *error <= *allowed;
}

Result<CheckOutcome> OracleChecker::Check(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart* part,
                                          bool require_rms, References* references) {
  const Bindings& bound = buffers.set(index);
  Dims dims = buffers.dims();
  std::map<std::string, KeptIndices> kept_indices;
  if (part != nullptr) {
    dims[task_.slice] = static_cast<int64_t>(part->slices.size());
    if (!part->dimension.empty()) dims[part->dimension] = static_cast<int64_t>(part->indices.size());
    for (const TensorSpec& tensor : task_.tensors) kept_indices[tensor.name] = KeptOf(tensor, *part);
  }
  const auto gather = [&](const TensorSpec& tensor, const TensorView& source, const TensorView& view) {
    return part->dimension.empty() ? session_.GatherSlices(source, view, part->slices)
                                   : session_.GatherBox(source, view, kept_indices.at(tensor.name));
  };
  ResolvedPlan plan;  // the oracle's; empty where a process on the host computes
  if (oracle_.host == nullptr) {
    HONE_ASSIGN_OR_RETURN(plan, ResolvePlan(*oracle_.candidate, task_, dims, {}, session_.facts()));
  }

  // There is one arena for everything: sizes first, addresses after.
  std::vector<BlockRequest> blocks;
  std::map<std::string, size_t> reference_block, pristine_block, gathered_in_block, gathered_out_block, workspace_block;
  std::map<std::string, TensorShape> compact;
  for (const TensorSpec& tensor : task_.tensors) {
    HONE_ASSIGN_OR_RETURN(TensorShape resolved, ResolveShape(tensor, dims));
    compact[tensor.name] = DenseShape(tensor, resolved.shape);
    const bool sliced = !kept_indices[tensor.name].empty();
    if (IsOutput(tensor)) {
      if (task_.tolerance.contains(tensor.name)) {
        reference_block[tensor.name] = blocks.size();
        blocks.push_back({AnswerNumbers(tensor, compact[tensor.name]) * 8, 256, false});
      }
      if (sliced) {
        gathered_out_block[tensor.name] = blocks.size();
        blocks.push_back({compact[tensor.name].span_bytes, 256, false});
      }
    }
    if (tensor.role != TensorRole::kOut) {
      if (IsOverwritten(task_, tensor)) {
        pristine_block[tensor.name] = blocks.size();
        // If the candidate's tensor is a repeated tile, the oracle's copy repeats in the same way.
        blocks.push_back({buffers.shape(tensor.name).span_bytes, std::max<int64_t>(tensor.align, 256),
                          /*exact_align=*/false, buffers.sampled()});
      }
      if (sliced) {
        gathered_in_block[tensor.name] = blocks.size();
        blocks.push_back({compact[tensor.name].span_bytes, 256, false});
      }
    }
  }
  for (const Property& property : properties_) {
    HONE_ASSIGN_OR_RETURN(compact[property.name], ResolveShape(ResidualsOf(property), dims));
    reference_block[property.name] = blocks.size();
    blocks.push_back({compact[property.name].elements * 8, 256, false});
  }
  for (const ResolvedWorkspace& workspace : plan.workspaces) {
    workspace_block[workspace.name] = blocks.size();
    blocks.push_back({workspace.bytes, workspace.align, false});
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Arena> arena, session_.Allocate(blocks, Keyed(inputs.key, kArenaPurpose, 0)));

  Bindings oracle_bindings;
  std::map<std::string, TensorView> outputs;
  for (const TensorSpec& tensor : task_.tensors) {
    TensorView source = bound.tensors.at(tensor.name);
    if (pristine_block.contains(tensor.name)) {
      source.address = arena->address(pristine_block[tensor.name]);
      HONE_RETURN_IF_ERROR(buffers.DrawTensor(tensor, inputs, source));
    }
    if (gathered_in_block.contains(tensor.name)) {
      const TensorView view = MakeView(tensor, compact[tensor.name], arena->address(gathered_in_block[tensor.name]));
      HONE_RETURN_IF_ERROR(gather(tensor, source, view));
      source = view;
    }
    oracle_bindings.tensors[tensor.name] = source;
    // An oracle writes references alone, and the simulated GPU then need not watch who writes what the oracle reads.
    oracle_bindings.read_only.insert(tensor.name);
    if (IsOutput(tensor)) {
      if (reference_block.contains(tensor.name)) {
        oracle_bindings.references["ref:" + tensor.name] = arena->address(reference_block[tensor.name]);
      }
      TensorView produced = bound.tensors.at(tensor.name);
      if (gathered_out_block.contains(tensor.name)) {
        const TensorView view = MakeView(tensor, compact[tensor.name], arena->address(gathered_out_block[tensor.name]));
        HONE_RETURN_IF_ERROR(gather(tensor, produced, view));
        produced = view;
      }
      outputs[tensor.name] = produced;
      // Properties are checked on the outputs that the candidate has written.
      if (!properties_.empty()) oracle_bindings.tensors[tensor.name] = produced;
    }
  }
  for (const Property& property : properties_) {
    const uint64_t address = arena->address(reference_block[property.name]);
    oracle_bindings.references["ref:" + property.name] = address;
    // Bytes of 0xff are a NaN, so an element that the oracle does not write fails the comparison.
    const int64_t bytes = compact[property.name].elements * 8;
    if (bytes > 0) HONE_RETURN_IF_ERROR(session_.Fill(address, bytes, 0xff));
  }
  for (const auto& [name, block] : workspace_block) oracle_bindings.workspaces[name] = arena->address(block);
  for (const ResolvedWorkspace& workspace : plan.workspaces) {
    if (workspace.bytes > 0)
      HONE_RETURN_IF_ERROR(session_.Fill(oracle_bindings.workspaces[workspace.name], workspace.bytes, 0));
  }

  if (!properties_.empty() && session_.facts().modelled) {
    // The simulated GPU stops a kernel that reads memory that was never written. If the candidate left output elements
    // unwritten, the oracle must be able to read the poison there, so copy the outputs over themselves.
    for (const auto& [name, view] : outputs) {
      std::vector<char> bytes(static_cast<size_t>(view.elements == 0 ? 0 : view.span_bytes));
      if (bytes.empty()) continue;
      HONE_RETURN_IF_ERROR(session_.CopyToHost(bytes.data(), view.address, view.span_bytes));
      HONE_RETURN_IF_ERROR(session_.CopyFromHost(view.address, bytes.data(), view.span_bytes));
    }
  }

  const auto start = std::chrono::steady_clock::now();
  HONE_RETURN_IF_ERROR(oracle_.host != nullptr ? RunHost(oracle_bindings, dims)
                                               : RunProgram(plan, oracle_bindings, dims));
  last_oracle_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (inputs.hand != nullptr) HONE_RETURN_IF_ERROR(CompareWithHandWorkedCase(*inputs.hand, oracle_bindings, dims));

  CheckOutcome outcome;
  if (references != nullptr) {
    for (const auto& [name, block] : reference_block) {
      std::vector<double>& computed = (*references)[name];
      const TensorSpec* const output = task_.FindTensor(name);  // null: a property
      const int64_t numbers = output != nullptr ? AnswerNumbers(*output, compact[name]) : compact[name].elements;
      computed.resize(static_cast<size_t>(numbers));
      const int64_t bytes = numbers * 8;
      if (bytes == 0) continue;
      HONE_RETURN_IF_ERROR(session_.CopyToHost(computed.data(), arena->address(block), bytes));
      HONE_RETURN_IF_ERROR(session_.Fill(arena->address(block), bytes, 0xee));
    }
    return outcome;
  }
  for (const TensorSpec& tensor : task_.tensors) {
    if (!IsOutput(tensor) || !task_.tolerance.contains(tensor.name)) continue;
    Tolerance tolerance = task_.tolerance.at(tensor.name);
    tolerance.floor = ScaleFloor(task_, tensor, inputs, dims);
    const uint64_t reference = oracle_bindings.references.at("ref:" + tensor.name);
    HONE_ASSIGN_OR_RETURN(Comparison comparison, session_.Compare(outputs.at(tensor.name), reference, tolerance));
    outcome.max_scaled_error = std::max(outcome.max_scaled_error, comparison.max_scaled);
    outcome.rms_error = std::max(outcome.rms_error, comparison.rms_error);
    outcome.max_ulp = std::max(outcome.max_ulp, comparison.max_ulp);
    double allowed_rms = 0, rms_error = 0;
    const bool rms_failed = require_rms && !PassesRms(tensor, tolerance, comparison, &allowed_rms, &rms_error);
    if ((comparison.wrong > 0 || rms_failed) && !outcome.mismatch) {
      Mismatch mismatch;
      mismatch.tensor = tensor.name;
      mismatch.dims = buffers.dims();
      mismatch.distribution = inputs.name();
      mismatch.wrong_elements = comparison.wrong;
      mismatch.total_elements = comparison.total;
      mismatch.seed = inputs.key;
      if (comparison.first_wrong) {
        const int64_t numbers = NumbersPerElement(tensor.dtype);
        mismatch.index = CoordinatesOf(*comparison.first_wrong / numbers, outputs.at(tensor.name).shape);
        for (const auto& [axis, indices] : kept_indices[tensor.name]) {
          int64_t& at = mismatch.index[static_cast<size_t>(axis)];
          at = indices[static_cast<size_t>(at)];
        }
        mismatch.expected = comparison.first_expected;
        mismatch.actual = comparison.first_actual;
      }
      double magnitude = 0;
      if (const double unit = 0x1p-24; IsFloating(tensor.dtype)) {
        TensorSpec single = tensor;
        single.dtype = DType::kFloat32;
        magnitude = ScaleFloor(task_, single, inputs, dims) / unit;
      }
      MismatchFacts facts{.tensor = tensor,
                          .tolerance = tolerance,
                          .comparison = comparison,
                          .mismatch = mismatch,
                          .shape = bound.tensors.at(tensor.name).shape,
                          .magnitude = magnitude,
                          .nan_inputs = std::any_of(task_.tensors.begin(), task_.tensors.end(), [&](const TensorSpec& in) {
                            return in.role != TensorRole::kOut && (ValuesOf(in, inputs).special & kSpecialNan) != 0;
                          })};
      if (comparison.wrong > 0) {
        if (comparison.first_wrong) {
          HONE_ASSIGN_OR_RETURN(facts.still_filled, buffers.StillFilled(index, tensor.name, mismatch.index));
        }
        outcome.detail = WrongElementsText(facts);
      } else {
        HONE_ASSIGN_OR_RETURN(const double reference_rms, RmsOfSmallOutput(reference, comparison.total));
        outcome.detail = ImpreciseText(facts, rms_error, allowed_rms, reference_rms);
      }
      outcome.mismatch = std::move(mismatch);
    }
    // Wipe the references, so that no later launch finds an expected output in freed memory.
    const int64_t bytes = AnswerNumbers(tensor, compact[tensor.name]) * 8;
    if (bytes > 0) HONE_RETURN_IF_ERROR(session_.Fill(reference, bytes, 0xee));
  }
  for (const Property& property : properties_) {
    HONE_RETURN_IF_ERROR(CheckProperty(property, compact[property.name], oracle_bindings.references.at("ref:" + property.name), buffers,
                                       inputs, part, outcome));
  }
  return outcome;
}

Status OracleChecker::CheckProperty(const Property& property, const TensorShape& shape, uint64_t address, const CaseBuffers& buffers,
                                    const InputSet& inputs, const ProblemPart* part, CheckOutcome& outcome) {
  if (shape.elements == 0) return Status::Ok();
  std::vector<double> residuals(static_cast<size_t>(shape.elements));
  HONE_RETURN_IF_ERROR(session_.CopyToHost(residuals.data(), address, shape.elements * 8));
  int64_t exceeding = 0, first = -1;
  for (int64_t i = 0; i < shape.elements; ++i) {
    if (residuals[static_cast<size_t>(i)] <= property.bound) continue;  // false for NaN
    ++exceeding;
    if (first < 0) first = i;
  }
  if (exceeding == 0 || outcome.mismatch) return Status::Ok();
  Mismatch mismatch;
  mismatch.tensor = property.name;
  mismatch.dims = buffers.dims();
  mismatch.distribution = inputs.name();
  mismatch.index = CoordinatesOf(first, shape.shape);
  for (size_t axis = 0; axis < property.shape.size(); ++axis) {
    if (part == nullptr || property.shape[axis].text() != task_.slice) continue;
    mismatch.index[axis] = part->slices[static_cast<size_t>(mismatch.index[axis])];
  }
  mismatch.expected = property.bound;
  mismatch.actual = residuals[static_cast<size_t>(first)];
  mismatch.wrong_elements = exceeding;
  mismatch.total_elements = shape.elements;
  mismatch.seed = inputs.key;
  outcome.detail = fmt::format(
      "{}{} does not hold for {} ({} inputs): {} of {} residuals are too large, the first at [{}] is {:.9g}, allowed "
      "{:.9g}",
      property.name, property.summary.empty() ? "" : " (" + property.summary + ")", DimsText(buffers.dims()),
      mismatch.distribution, exceeding, shape.elements, fmt::join(mismatch.index, ", "), mismatch.actual,
      property.bound);
  outcome.mismatch = std::move(mismatch);
  return Status::Ok();
}

// Compares the oracle's results with the hand-worked ones. If they disagree, one of the two is wrong and the task is
// invalid. If they agree, the candidate is compared with the oracle's values, which are more exact.
Status OracleChecker::CompareWithHandWorkedCase(const HandWorkedCase& hand, const Bindings& bindings,
                                                const Dims& dims) {
  for (const TensorSpec& tensor : task_.tensors) {
    if (!IsOutput(tensor) || !task_.tolerance.contains(tensor.name)) continue;
    const std::vector<double>& expected = hand.outputs.at(tensor.name);
    if (expected.empty()) continue;
    const uint64_t reference = bindings.references.at("ref:" + tensor.name);
    const auto bytes = static_cast<int64_t>(expected.size() * sizeof(double));
    std::vector<double> computed(expected.size());
    HONE_RETURN_IF_ERROR(session_.CopyToHost(computed.data(), reference, bytes));
    if (const std::optional<size_t> at = FirstUnlikeHand(computed, expected)) {
      return Status::InvalidArgument(
          fmt::format("task {}: for the hand-worked case {} its oracle gives {}[{}] = {:.12g}, worked out by hand it is {:.12g}; mend "
                      "the one that is wrong (`hone tasks check` tries both)",
                      task_.name, DimsText(dims), tensor.name, *at, computed[*at], expected[*at]));
    }
  }
  return Status::Ok();
}

// Returns the root mean square of a reference that is short enough to be read back; 0 for a longer one.
Result<double> OracleChecker::RmsOfSmallOutput(uint64_t reference, int64_t elements) {
  if (elements == 0 || elements >= policy::kLeastRmsElements) return 0.0;
  std::vector<double> values(static_cast<size_t>(elements));
  HONE_RETURN_IF_ERROR(session_.CopyToHost(values.data(), reference, elements * 8));
  double squares = 0;
  for (const double value : values) squares += std::isfinite(value) ? value * value : 0;
  return std::sqrt(squares / static_cast<double>(elements));
}

Status OracleChecker::RunProgram(const ResolvedPlan& plan, const Bindings& bindings, const Dims& dims) {
  LaunchRequest request{.plan = &plan, .bindings = &bindings, .limit_seconds = oracle_.limit_seconds, .trusted = true};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome launched, session_.Launch(*oracle_.program, request));
  if (launched.status == LaunchStatus::kOk) return Status::Ok();
  const std::string limit = launched.status == LaunchStatus::kTimedOut
                                ? " (an oracle has twelve times --launch-limit, at least 20 s and at most 120 s)"
                                : "";
  return Status::InvalidArgument(
      fmt::format("task {}: its oracle failed for {}: {}{}", task_.name, DimsText(dims), launched.detail, limit));
}

Status OracleChecker::RunHost(const Bindings& bindings, const Dims& dims) {
  const HostReference::Fill fill = [&](const std::string& tensor, void* elements) {
    const TensorView& view = bindings.tensors.at(tensor);
    return view.elements == 0 ? Status::Ok() : session_.CopyToHost(elements, view.address, view.span_bytes);
  };
  const HostReference::Take take = [&](const std::string& tensor, const double* values) -> Status {
    // The number of values follows from `dims`, which may be those of some slices; the output's view in `bindings` is
    // always the whole tensor.
    const TensorSpec& output = *task_.FindTensor(tensor);
    HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(output, dims));
    if (shape.elements == 0) return Status::Ok();
    return session_.CopyFromHost(bindings.references.at("ref:" + tensor), values, AnswerNumbers(output, shape) * 8);
  };
  const HostReference::OnDevice calls = {
      .most_kept = session_.facts().memory_bytes / kKeptShare,
      .share = [&](int64_t bytes) { return session_.Share(bytes); },
      .mine = [&](const SharedBlock& block) { return session_.Shares(block); },
      .fill =
          [&](const std::string& tensor, uint64_t address) {
            const TensorView& view = bindings.tensors.at(tensor);
            return view.elements == 0 ? Status::Ok() : session_.CopyOnDevice(address, view.address, view.span_bytes);
          },
      .take = [&](const std::string& tensor, uint64_t address) -> Status {
        const TensorSpec& output = *task_.FindTensor(tensor);
        HONE_ASSIGN_OR_RETURN(const TensorShape shape, ResolveShape(output, dims));
        return session_.CopyOnDevice(bindings.references.at("ref:" + tensor), address, AnswerNumbers(output, shape) * 8);
      },
      .wait = [&] { return session_.WaitForCopies(); },
      .wipe = [&](uint64_t address, int64_t bytes) { return session_.Fill(address, bytes, 0xee); }};
  const Result<bool> computed = oracle_.host->ComputeOnDevice(dims, calls);
  if (computed.ok() && *computed) return Status::Ok();
  return (computed.ok() ? oracle_.host->Compute(dims, fill, take) : computed.status())
      .WithContext(fmt::format("task {}: its reference for {}", task_.name, DimsText(dims)));
}

Result<CheckOutcome> OracleChecker::CheckAll(CaseBuffers& buffers, int index, const InputSet& inputs,
                                             bool require_rms) {
  int64_t reference_bytes = 0;
  for (const TensorSpec& tensor : task_.tensors) {
    if (IsOutput(tensor)) reference_bytes += AnswerNumbers(tensor, buffers.shape(tensor.name)) * 8;
  }
  const int64_t free_bytes = session_.FreeBytes();
  if (task_.slice.empty() || reference_bytes * kLargestReferenceShare <= free_bytes || buffers.slices() < 2) {
    return Check(buffers, index, inputs, nullptr, require_rms);
  }
  // The outcome is the worst of all groups. Testing the rms of each group is stricter than testing that of all slices.
  const int64_t groups =
      std::min(buffers.slices(), 1 + reference_bytes * 2 * kLargestReferenceShare / std::max<int64_t>(free_bytes, 1));
  CheckOutcome worst;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t begin = buffers.slices() * group / groups, end = buffers.slices() * (group + 1) / groups;
    std::vector<int64_t> slices(static_cast<size_t>(end - begin));
    std::iota(slices.begin(), slices.end(), begin);
    if (slices.empty()) continue;
    HONE_ASSIGN_OR_RETURN(CheckOutcome outcome, CheckSlices(buffers, index, inputs, slices, require_rms));
    worst.max_scaled_error = std::max(worst.max_scaled_error, outcome.max_scaled_error);
    worst.rms_error = std::max(worst.rms_error, outcome.rms_error);
    worst.max_ulp = std::max(worst.max_ulp, outcome.max_ulp);
    if (outcome.mismatch) {
      worst.mismatch = outcome.mismatch;
      worst.detail = outcome.detail;
      break;
    }
  }
  return worst;
}

Result<CheckOutcome> OracleChecker::CheckSlices(CaseBuffers& buffers, int index, const InputSet& inputs,
                                                const std::vector<int64_t>& slices, bool require_rms) {
  HONE_CHECK(!task_.slice.empty(), "CheckSlices on a task without a slice dimension");
  const ProblemPart part{.slices = slices, .dimension = {}, .indices = {}};
  return Check(buffers, index, inputs, &part, require_rms);
}

Result<CheckOutcome> OracleChecker::CheckPart(CaseBuffers& buffers, int index, const InputSet& inputs,
                                              const ProblemPart& part, bool require_rms) {
  HONE_CHECK(!task_.slice.empty() && oracle_.host == nullptr, "CheckPart needs slices and an oracle that is a program");
  return Check(buffers, index, inputs, &part, require_rms);
}

Result<bool> OracleChecker::IsIndependent(CaseBuffers& buffers, int index, const InputSet& inputs,
                                          const ProblemPart& part) {
  References whole, of_part;
  HONE_RETURN_IF_ERROR(Check(buffers, index, inputs, nullptr, /*require_rms=*/false, &whole).status());
  HONE_RETURN_IF_ERROR(Check(buffers, index, inputs, &part, /*require_rms=*/false, &of_part).status());
  for (const auto& [name, values] : of_part) {
    const TensorSpec& tensor = *task_.FindTensor(name);
    const KeptIndices kept_indices = KeptOf(tensor, part);
    HONE_ASSIGN_OR_RETURN(const TensorShape full, ResolveShape(tensor, buffers.dims()));
    TensorView from = MakeView(tensor, DenseShape(tensor, full.shape), 0);
    std::vector<int64_t> extents = full.shape;
    for (const auto& [axis, indices] : kept_indices)
      extents[static_cast<size_t>(axis)] = static_cast<int64_t>(indices.size());
    const TensorView to = MakeView(tensor, DenseShape(tensor, extents), 0);
    bool same_bits = true;
    host::ForEachInBox(from, to, kept_indices, [&same_bits, &all = whole[name], &some = values](int64_t a, int64_t b) {
      same_bits &= std::memcmp(&all[static_cast<size_t>(a)], &some[static_cast<size_t>(b)], sizeof(double)) == 0;
    });
    if (!same_bits) return false;
  }
  return true;
}

Status OracleChecker::PlantAndFind(CaseBuffers& buffers, int index, const InputSet& inputs, uint64_t seed) {
  for (const TensorSpec& tensor : task_.tensors) {
    const TensorView& view = buffers.set(index).tensors.at(tensor.name);
    if (!IsOutput(tensor) || view.elements == 0) continue;
    const int64_t linear = static_cast<int64_t>(draw::Mix(seed ^ inputs.key) % static_cast<uint64_t>(view.elements));
    const std::vector<int64_t> at = CoordinatesOf(linear, view.shape);
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) offset += at[i] * view.strides[i];
    const int64_t width = DTypeBytes(tensor.dtype);
    const uint64_t address = view.address + static_cast<uint64_t>(offset * width);
    uint8_t original[8] = {};
    HONE_RETURN_IF_ERROR(session_.CopyToHost(original, address, width));
    const std::array<uint8_t, 8> planted = FarAway(tensor.dtype, original);
    HONE_RETURN_IF_ERROR(session_.CopyFromHost(address, planted.data(), width));
    Result<CheckOutcome> check_outcome = CheckAll(buffers, index, inputs, /*require_rms=*/false);
    HONE_RETURN_IF_ERROR(session_.CopyFromHost(address, original, width));
    if (!check_outcome.ok()) return check_outcome.status();
    if (!check_outcome->mismatch) {
      return Status::Internal(fmt::format(
          "the checker did not see an element planted wrong in {} at [{}]; no verdict of this session can be believed",
          tensor.name, fmt::join(at, ", ")));
    }
  }
  return Status::Ok();
}

}  // namespace hone
