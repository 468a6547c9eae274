// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A gate's report for each of its readers: a terminal, a program, a CI server, a pull request.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/gate/gate.h"

namespace hone {

// One sentence: what was compared, what came out, and how sure that is.
std::string GateSummary(const GateReport& report);
std::string GateText(const GateReport& report);
// The fields of `hone gate --json` (docs/gate.md).
nlohmann::json GateJson(const GateReport& report);
// JUnit XML: a test case for each kernel.
std::string GateJUnit(const GateReport& report);
// For a pull request's comment.
std::string GateMarkdown(const GateReport& report);

}  // namespace hone
