// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes a gate's report for each kind of reader: a terminal, a program, a CI server, a pull request.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/gate/gate.h"

namespace hone {

// Returns one sentence: what was compared, the result, and how sure it is.
std::string GateSummary(const GateReport& report);
// Returns text for a terminal.
std::string GateText(const GateReport& report);
// Returns the fields of `hone gate --json` (docs/gate.md).
nlohmann::json GateJson(const GateReport& report);
// Returns JUnit XML with a test case for each kernel.
std::string GateJUnit(const GateReport& report);
// Returns Markdown for a comment on a pull request.
std::string GateMarkdown(const GateReport& report);

// A GateError describes a gate without a verdict: its options were wrong, or the environment failed. It is written in
// the same formats, because a CI server shows only what is in the report.
struct GateError {
  std::string base, head;  // as the caller named them
  std::string message;
  int exit_status = 3;  // 2: wrong usage
};
nlohmann::json GateErrorJson(const GateError& error);
std::string GateErrorJUnit(const GateError& error);
std::string GateErrorMarkdown(const GateError& error);

}  // namespace hone
