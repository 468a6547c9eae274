// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the toolkit's complex numbers, as far as CUTLASS's headers name them.
#pragma once

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

inline cuFloatComplex make_cuFloatComplex(float real, float imaginary) { return make_float2(real, imaginary); }
inline cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) { return make_double2(real, imaginary); }
inline float cuCrealf(cuFloatComplex x) { return x.x; }
inline float cuCimagf(cuFloatComplex x) { return x.y; }
inline double cuCreal(cuDoubleComplex x) { return x.x; }
inline double cuCimag(cuDoubleComplex x) { return x.y; }
