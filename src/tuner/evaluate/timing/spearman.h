// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spearman's rank correlation says how far two measures order things alike.
//
// Modelled times are compared with measured ones: a model may be wrong in microseconds and still be useful, but it must
// rank kernels as the hardware does.
#pragma once

#include <optional>
#include <vector>

namespace hone {

// Returns the correlation, from -1 to 1. Ranks of equal values are averaged. Returns nullopt for fewer than two pairs,
// when one side is constant, or when the sizes differ. Pure function, any thread.
std::optional<double> SpearmanCorrelation(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace hone
