// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spearman's rank correlation says whether one measure orders things as another does.
//
// The correlation compares modelled times with measured ones. A model need not know microseconds to be useful, but it
// must rank kernels as the hardware does. Pure function, any thread.
#pragma once

#include <optional>
#include <vector>

namespace hone {

// Returns the correlation. Ranks of equal values are averaged. Nullopt for fewer than two pairs, when one side is
// constant, or when the sizes differ.
std::optional<double> SpearmanCorrelation(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace hone
