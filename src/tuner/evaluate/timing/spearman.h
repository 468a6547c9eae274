// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spearman's rank correlation: does one measure order things as another does?
//
// Used to hold modelled times against measured ones. A model need not know microseconds to be of use, but it
// must rank kernels as the hardware does. Pure function, any thread.
#pragma once

#include <optional>
#include <vector>

namespace hone {

// Ranks of equal values are averaged. Nullopt for fewer than two pairs, when one side is constant, or when
// the sizes differ.
std::optional<double> SpearmanCorrelation(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace hone
