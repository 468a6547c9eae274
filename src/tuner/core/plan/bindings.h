// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Assigns values to the tunables of a plan entry, for resolving plans and building translation units.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/candidate.h"

namespace hone {

// Returns the defaults, overridden by `binding`, overridden by the entry's own `with`.
Binding EffectiveBinding(const LaunchPlan& plan, const Binding& binding, const PlanEntry& entry);

// Returns `text` with every whole identifier that names a bound tunable replaced by its value: "k<VEC>" -> "k<8>".
std::string SubstituteTunables(std::string_view text, const Binding& binding);

// Returns whether every constraint of the plan holds; a constraint without a value (a division by zero) does not.
bool SatisfiesConstraints(const LaunchPlan& plan, const Binding& binding);

}  // namespace hone
