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

// A gate that came to no verdict: its options were wrong, or the environment failed. A CI server shows what lies in the
// report, so the reason stands there too.
struct GateError {
  std::string base, head;  // as the caller named them
  std::string message;
  int exit_status = 3;  // 2: wrong usage
};
nlohmann::json GateErrorJson(const GateError& error);
std::string GateErrorJUnit(const GateError& error);
std::string GateErrorMarkdown(const GateError& error);

}  // namespace hone
