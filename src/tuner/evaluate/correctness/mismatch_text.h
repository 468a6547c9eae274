// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file explains in a sentence why an output was refused, with a hint where the numbers suggest a cause. It makes
// text only.
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
  const Mismatch& mismatch;    // index, expected and actual are those of the first wrong element
  std::vector<int64_t> shape;  // shape of the output
  double magnitude = 0;        // TypicalMagnitude of the largest input; 0: not known
  bool still_filled = false;   // the first wrong element still holds the fill from before the launch
};

// Explains an element that c_max or c_small refuses.
std::string WrongElementsText(const MismatchFacts& facts);

// Explains an output that c_rms refuses. `reference_rms` is the rms of the expected values; 0 where it is not known.
std::string ImpreciseText(const MismatchFacts& facts, double rms_error, double allowed_rms, double reference_rms);

// Returns the width whose tail begins at `at`: the largest power of two of which `at` is the last multiple below
// `extent`, where `extent` itself is no multiple of it; 0 where there is none of 2 or more. So 1020 of 1021 gives 4.
int64_t TailOf(int64_t at, int64_t extent);

}  // namespace hone
