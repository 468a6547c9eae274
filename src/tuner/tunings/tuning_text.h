// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tuning database for people and programs: what `hone db` prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/tunings/tuning_analysis.h"

namespace hone {

// A row for each entry, and a sentence where there is none.
std::string TuningRowsText(const std::vector<TuningRow>& rows);
// [{id, task, candidate, incumbent, device, driver, sm_count, modelled, judge, points, right, sittings, newest}]
nlohmann::json TuningRowsJson(const std::vector<TuningRow>& rows);

// Describes what is measured, which binding is chosen for each shape, how far it is from the best known, and how sure
// the choice is.
std::string ExplanationText(const TuningRow& row, const Explanation& explanation);
// The fields of docs/evaluation-json.md, `hone db show`.
nlohmann::json ExplanationJson(const TuningRow& row, const Explanation& explanation);

}  // namespace hone
