// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/draft_tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/evaluate/lint/precision_variants.h"

namespace hone {
namespace {

constexpr double kUnits = 3;  // rounding units of the output's dtype that c_max leaves at least
constexpr double kLeastFloat32 = 1e-4;
constexpr double kRmsRoom = 4;  // a raised c_rms is this many times the rms error of honest kernels

// Rounds up to two significant digits, so that the number is short and no smaller.
double RoundedUp(double value) {
  const double digit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / digit - 1e-9) * digit;
}

std::string Text(double value) { return fmt::format("{:.1e}", value); }

// Replaces the value of `key` in the section [tolerance.OUTPUT]. Returns whether the key was found.
bool Replace(std::string& toml, const std::string& output, const std::string& key, double value) {
  const size_t section = toml.find(fmt::format("\n[tolerance.{}]\n", output));
  if (section == std::string::npos) return false;
  const size_t line = toml.find(fmt::format("\n{} = ", key), section + 1), next = toml.find("\n[", section + 1);
  if (line == std::string::npos || line > next) return false;
  const size_t begin = line + key.size() + 4, end = std::min(toml.find_first_of(" \n", begin), toml.size());
  toml.replace(begin, end - begin, Text(value));
  return true;
}

}  // namespace

// Returns the c_max that follows from the error measured with an honest kernel; the present one if nothing was
// measured.
double MeasuredCMax(const OutputPrecision& output, DType dtype) {
  const double present = output.tolerance.c_max;
  if (dtype == DType::kFloat64 || !IsFloating(dtype) || output.proposed_c_max <= 0) return present;
  const double unit = UnitRoundoff(dtype), honest = output.proposed_c_max / 2;
  double fitted = kUnits * unit + kGrowth * std::max(0.0, honest - unit);
  if (dtype == DType::kFloat32) fitted = std::max(fitted, kLeastFloat32);
  if (fitted >= present && honest <= present) return present;
  return RoundedUp(honest > present ? std::min(fitted, 3 * honest) : fitted);
}

FittedTolerance FitTolerance(const Task& task, const std::vector<OutputPrecision>& precision,
                             const std::string& task_toml) {
  FittedTolerance fitted{.task_toml = task_toml, .lines = {}, .wider = false};
  for (const OutputPrecision& output : precision) {
    const TensorSpec* tensor = task.FindTensor(output.output);
    if (tensor == nullptr) continue;
    const double c_max = MeasuredCMax(output, tensor->dtype), present = output.tolerance.c_max;
    if (c_max != present && Replace(fitted.task_toml, output.output, "c_max", c_max)) {
      fitted.wider = fitted.wider || c_max > present;
      fitted.lines.push_back(fmt::format(
          "{}: c_max = {} in place of {:.1e}, for the kernel, and the oracle in float32, are off by {:.1e} of "
          "the scale at most",
          output.output, Text(c_max), present, output.proposed_c_max / 2));
    }
    const double c_rms = RoundedUp(kRmsRoom * std::max(output.honest_rms, 1e-30));
    if (output.tolerance.c_rms < kRmsRoom / 3 * output.honest_rms && output.tolerance.c_rms > 0 &&
        Replace(fitted.task_toml, output.output, "c_rms", c_rms)) {
      fitted.wider = true;
      fitted.lines.push_back(fmt::format("{}: c_rms = {} in place of {:.1e}, for their rms error is {:.1e}",
                                         output.output, Text(c_rms), output.tolerance.c_rms, output.honest_rms));
    }
  }
  return fitted;
}

}  // namespace hone
