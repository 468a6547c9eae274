// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/correctness/mismatch_text.h"

#include <fmt/format.h>

#include <cmath>

#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

// Where terms as large as the inputs cancel, float32 arithmetic leaves an error of this share of the inputs'
// magnitude: 16 times float32's unit roundoff, 2^-24.
constexpr double kCancelled = 0x1p-20;
// Widest vector or tile whose incomplete last one (the tail) is named as a possible cause.
constexpr int64_t kWidestTail = 1024;

// Returns the hint for an error that Cancelled holds for.
std::string CancelHint(const MismatchFacts& facts, double error) {
  return fmt::format(
      "; the error, {:.2g}, is rounding beside inputs of about {:.2g}, and it is large only beside results that cancel "
      "to nearly nothing: "
      "where honest kernels are refused so, abs = {:.1g} under [tolerance.{}] of the task forgives it",
      error, facts.magnitude, ProposedAbs(error), facts.tensor.name);
}

// Returns whether an absolute `error` is no more than rounding of the inputs, in a result of this `size` that is far
// smaller than they are: the result has cancelled.
bool IsCancellationError(const MismatchFacts& facts, double error, double size) {
  return IsFloating(facts.tensor.dtype) && facts.magnitude > 0 && error <= kCancelled * facts.magnitude &&
         size < facts.magnitude / 16;
}

// Returns whether `value` is an end of the dtype's range: the initial value of a search for a maximum or minimum, or a
// clipped result.
bool IsLargestNumber(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
      return std::fabs(value) == 0x1.fffffep127;
    case DType::kFloat16:
      return std::fabs(value) == 65504.0;
    case DType::kBFloat16:
      return std::fabs(value) == 0x1.fep127;
    case DType::kFloat8E5M2:
      return std::fabs(value) == 57344.0;
    case DType::kFloat64:
      return std::fabs(value) == 0x1.fffffffffffffp1023;
    default:
      return false;
  }
}

// Returns the hint that only an incomplete last vector or tile is wrong; empty if that does not fit the wrong elements.
std::string TailHint(const MismatchFacts& facts) {
  if (facts.shape.empty() || facts.mismatch.index.size() != facts.shape.size()) return "";
  // A single wrong element may lie anywhere by chance.
  if (facts.comparison.wrong < 2) return "";
  int64_t linear = 0, elements = 1;
  for (size_t i = 0; i < facts.shape.size(); ++i) {
    linear = linear * facts.shape[i] + facts.mismatch.index[i];
    elements *= facts.shape[i];
  }
  const int64_t row = facts.shape.back(), at = facts.mismatch.index.back();
  int64_t tail = TailOf(at, row);
  const char* unit_text = "of a row";
  // The hint is given only if all wrong elements fit into tails.
  if (tail == 0 || facts.comparison.wrong > (row - at) * (elements / row)) {
    tail = TailOf(linear, elements);
    unit_text = "of the tensor";
    if (tail == 0 || facts.comparison.wrong > elements - linear) return "";
  }
  // Results along the slices' axis do not depend on each other, so that some wrong ones near its end are no tail; only
  // all of them are.
  const bool along_slices = facts.tensor.slice_axis == static_cast<int>(facts.shape.size()) - 1;
  if (along_slices && facts.comparison.wrong < row - at) return "";
  return fmt::format(
      "; what is wrong begins with the end {} that is left over by groups of {}: a kernel that serves multiples of {} "
      "alone says "
      "so by `when` in its plan (the seed serves the rest), and a task by --multiple of `hone new`",
      unit_text, tail, tail);
}

}  // namespace

int64_t TailOf(int64_t at, int64_t extent) {
  int64_t listed_mismatches = 0;
  for (int64_t width = 2; width <= kWidestTail && width <= at; width *= 2) {
    if (extent % width != 0 && at == extent / width * width) listed_mismatches = width;
  }
  return listed_mismatches;
}

std::string WrongElementsText(const MismatchFacts& facts) {
  const Comparison& c = facts.comparison;
  const Mismatch& m = facts.mismatch;
  const bool packed = IsPacked(facts.tensor.dtype);
  const bool number_expected = std::isfinite(m.expected), number_got = std::isfinite(m.actual);
  std::string text = fmt::format(
      "{} differs from the double-precision oracle for {} ({} inputs): {} of {} {} wrong, first at [{}]{}: "
      "expected {:.9g}, got {:.9g}",
      facts.tensor.name, DimsText(m.dims), m.distribution, c.wrong, c.total, packed ? "numbers" : "elements",
      fmt::join(m.index, ", "),
      !packed                              ? ""
      : c.first_wrong.value_or(0) % 2 == 0 ? ", its low half"
                                           : ", its high half",
      m.expected, m.actual);
  if (c.unwritten > 0) {
    text += fmt::format("; elements were never written ({} unwritten)", c.unwritten);
  } else if (facts.still_filled) {
    text += "; this element was never written: it holds what was there before the launch";
  } else if (!number_got) {
    text += "; the output holds NaN or Inf";
  }
  // An error relative to an infinity has no meaning.
  if (number_expected && number_got) {
    text += fmt::format("; worst error {:.3g} of the scale, allowed {:.3g}", c.max_scaled, facts.tolerance.c_max);
  } else if (!number_expected && number_got) {
    text += fmt::format("; no number stands for {}{}", std::isnan(m.expected) ? "NaN" : "an infinity",
                        IsLargestNumber(facts.tensor.dtype, m.actual)
                            ? fmt::format(", {:.3g} neither: begin a maximum or a minimum with an infinity", m.actual)
                            : std::string());
    // The oracle itself may be wrong; say so, before the reader looks for a fault in the candidate.
    if (std::isnan(m.expected) && m.distribution.find("special") == std::string::npos) {
      text += "; if NaN is not the answer there, the task's oracle is at fault (`hone tasks check` tries it)";
    }
  }
  if (std::isnan(m.expected) && m.distribution.find("special") != std::string::npos && !facts.nan_inputs) {
    text +=
        "; the oracle answers NaN, and no input is NaN: if NaN is not meant for rows that are all -inf, or hold inf, "
        "write special = [...] "
        "without them in task.toml, or give another oracle";
  }
  if (c.max_scaled <= facts.tolerance.c_max && facts.tolerance.c_small > 0 && c.max_small > facts.tolerance.c_small) {
    text += fmt::format("; an element far smaller than its neighbors is off by {:.3g} of its own size, allowed {:.3g}",
                        c.max_small, facts.tolerance.c_small);
  }
  if (c.unwritten == 0 && !facts.still_filled && number_expected && number_got &&
      IsCancellationError(facts, std::fabs(m.expected - m.actual), std::fabs(m.expected))) {
    text += CancelHint(facts, std::fabs(m.expected - m.actual));
  } else {
    text += TailHint(facts);
  }
  return text;
}

std::string ImpreciseText(const MismatchFacts& facts, double rms_error, double allowed_rms, double reference_rms) {
  std::string text =
      fmt::format("{} is less precise than {} allows for {} ({} inputs): rms error {:.3g} of the rms, allowed {:.3g}",
                  facts.tensor.name, DTypeName(facts.tensor.dtype), DimsText(facts.mismatch.dims),
                  facts.mismatch.distribution, rms_error, allowed_rms);
  if (facts.comparison.max_scaled > 0) text += fmt::format("; worst error {:.3g} of the scale", facts.comparison.max_scaled);
  if (!IsFloating(facts.tensor.dtype)) {
    return text +
           "; more elements are off by one than ties explain: are values cut off where they should be rounded to the "
           "nearest?";
  }
  if (reference_rms > 0 && IsCancellationError(facts, rms_error * reference_rms, reference_rms)) {
    return text + CancelHint(facts, rms_error * reference_rms);
  }
  return text +
         "; a lower precision than the task's was used somewhere, or values were cut off where they should be rounded, or "
         "a small constant, such as an eps, is missing or different, or a few inputs are left out";
}

double ProposedAbs(double error) {
  constexpr double kRoom = 12;  // the proposal is this many times the error
  const double unit = std::pow(10.0, std::floor(std::log10(kRoom * error)));
  return std::ceil(kRoom * error / unit) * unit;
}

}  // namespace hone
