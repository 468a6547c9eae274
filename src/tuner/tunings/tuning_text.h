// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the tuning database for people and for programs: what `hone db` prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/tunings/tuning_analysis.h"

namespace hone {

// Returns a table with one row for each entry, or a sentence if there are none.
std::string TuningRowsText(const std::vector<TuningRow>& rows);
// Returns [{id, task, candidate, incumbent, device, driver, sm_count, modelled, judge, points, right, sittings,
// newest}].
nlohmann::json TuningRowsJson(const std::vector<TuningRow>& rows);

// Returns which points were measured, which binding is chosen for each shape, how far it is from the best known, and
// how certain the choice is.
std::string ExplanationText(const TuningRow& row, const Explanation& explanation);
// Returns the fields that docs/evaluation-json.md lists under `hone db show`.
nlohmann::json ExplanationJson(const TuningRow& row, const Explanation& explanation);

}  // namespace hone
