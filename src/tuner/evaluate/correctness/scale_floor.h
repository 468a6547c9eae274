// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The scale floor is the least scale by which an error is divided before it is compared with a tolerance.
//
// Errors are judged relative to the reference, or to the rms of its slice where that is larger. In a slice whose
// results cancel to zero (a row of equal numbers, centred), that scale is zero, and the rounding errors that an honest
// kernel inherits from the cancelled terms would look infinite. Those errors are about the rounding unit of the terms,
// so the scale is at least
//
//   u(output's dtype) * magnitude of the inputs
//
// which allows an absolute error of c_max * u * magnitude: for float16, some 1e-6 of the inputs. A sum in float32
// passes. A sum in float16 leaves an error of u * magnitude, which is 1 / c_max times the allowance, and fails. The
// floor does not affect a result of ordinary size, which is larger. The comparison itself raises a floor to the dtype's
// smallest normal number (device_session.h).
#pragma once

#include "hone/tuner/task.h"
#include "tuner/evaluate/case_buffers.h"

namespace hone {

// Returns the typical size of a floating-point tensor's elements in this input set, from the distribution of its
// values.
double TypicalMagnitude(const TensorSpec& tensor, const InputSet& inputs);

// Returns the floor of `output`. `dims`: sizes of the case, on which the values may depend.
double ScaleFloor(const Task& task, const TensorSpec& output, const InputSet& inputs, const Dims& dims = {});

}  // namespace hone
