// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file explains in a sentence why an output was refused, with a hint where the numbers suggest a cause. It decides
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"
#include "tuner/device/device_session.h"

namespace hone {

// MismatchFacts describes a refused comparison.
struct MismatchFacts {
  const TensorSpec& tensor;
  const Tolerance& tolerance;
  const Comparison& comparison;
  const Mismatch& mismatch;    // index, expected and actual describe the first wrong element
  std::vector<int64_t> shape;  // shape of the output
  double magnitude = 0;        // TypicalMagnitude of the largest input; 0: not known
  bool still_filled = false;   // the first wrong element still holds the fill from before the launch
  bool nan_inputs = true;      // false: no input can hold a NaN, whatever the distribution
};

// Returns the explanation of an output of which c_max or c_small, the task's bounds for single elements, refuse some.
std::string WrongElementsText(const MismatchFacts& facts);

// Returns the explanation of an output that c_rms, the task's bound for the root mean square of all errors, refuses.
// `reference_rms`: root mean square of the expected values; 0: not known.
std::string ImpreciseText(const MismatchFacts& facts, double rms_error, double allowed_rms, double reference_rms);

// Returns the width of the vectors or tiles whose incomplete last one begins at `at`: the largest power of two of which
// `at` is the last multiple below `extent` and `extent` is no multiple. Returns 0 if there is no such power of 2 or
// more. Example: `at` 1020 and `extent` 1021 give 4.
int64_t TailOf(int64_t at, int64_t extent);

// Returns the `abs` that a tolerance needs where an honest kernel was off by `error`, above 0: twelve times as much, rounded up to one digit.
// The factor is large because other honest kernels have larger errors: tanh by a fast exponential and division was off by 6.2e-7 where tanhf
// was off by 7.5e-8, and an `abs` of four times the latter refused it once in 80 judgements.
double ProposedAbs(double error);

}  // namespace hone
