// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These functions give tail probabilities and quantiles of the normal and of Student's t distribution.
//
// The tails are accurate far out: the first look of a sequential test asks for one-sided probabilities near 1e-6,
// where "1 - Cdf(x)" would have lost most of its digits. The relative error of a tail is below 1e-9 down to tails of
// 1e-12; distributions_test.cc compares with closed forms. The functions are pure; any thread may call them.
#pragma once

namespace hone {

double NormalDensity(double x);
double NormalUpperTail(double x);                        // P(Z > x)
double NormalUpperQuantile(double tail);                 // x with P(Z > x) = tail; 0 < tail < 1
double StudentUpperTail(double t, double freedom);       // P(T > t), `freedom` > 0, may be fractional
double StudentUpperQuantile(double tail, double freedom);  // t with P(T > t) = tail; 0 < tail < 1

}  // namespace hone
