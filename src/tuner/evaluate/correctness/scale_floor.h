// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The scale floor is the least scale to which an error is compared.
//
// Errors are judged relative to the reference, or to the rms of its slice where that is larger. A slice whose results
// cancel to nothing (a row of equal numbers, centred) has a scale of nothing, and the rounding errors that an honest
// kernel inherits from the terms it cancelled look infinite. They are no larger than the rounding unit of the terms, so
// the scale stops at
//
//   u(output's dtype) * magnitude of the inputs
//
// which allows an absolute error of c_max * u * magnitude: for float16, some 1e-6 of the inputs. That lets sums in
// float32 pass and is far below what a sum in float16 leaves behind (u * magnitude, 1 / c_max times the allowance). The
// floor does not affect a result of ordinary size, which is larger. The comparison itself ensures that a floor is at
// least the dtype's smallest normal number (device_session.h).
#pragma once

#include "hone/tuner/task.h"
#include "tuner/evaluate/case_buffers.h"

namespace hone {

// Returns the typical size of a floating-point tensor's elements in this input set, from the distribution of its
// values.
double TypicalMagnitude(const TensorSpec& tensor, const InputSet& inputs);

// Returns the floor of `output`. `dims` are those of the case, for values that depend on them.
double ScaleFloor(const Task& task, const TensorSpec& output, const InputSet& inputs, const Dims& dims = {});

}  // namespace hone
