// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts double to the bits of 8- and 16-bit floating types, rounding once (to nearest, ties to even). Pure functions.
#pragma once

#include <cstdint>

#include "hone/tuner/task.h"

namespace hone {

uint16_t HalfBits(double value);      // IEEE binary16; larger values become infinity
uint16_t BFloat16Bits(double value);  // the upper half of IEEE binary32
double HalfValue(uint16_t bits);
double BFloat16Value(uint16_t bits);
// These functions convert between the bits and the value of an 8-bit float, by values/float8.h. `dtype`: one for which
// IsFloat8 holds.
uint8_t Float8Bits(DType dtype, double value);
double Float8Value(DType dtype, uint8_t bits);
// Returns `value` rounded to a floating `dtype`; with an integer dtype `value` itself.
double RoundedTo(DType dtype, double value);

}  // namespace hone
