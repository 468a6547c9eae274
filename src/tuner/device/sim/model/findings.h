// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a child's report into findings for a reader: fills in source lines, chooses a status, adds advice.
#pragma once

#include <string>

#include "tuner/device/device_session.h"
#include "tuner/device/sim/image/source_lines.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

// Returns kCrashed for errors that fault on a GPU, kUnsupported for features that are not simulated, kRuleViolation for
// races, divergent barriers, undefined reads and written inputs; else kOk with findings that are only advice
// (bank_conflict, uncoalesced: the most expensive lines). The detail begins with the kernel's name.
LaunchOutcome JudgeReport(const std::string& kernel, const LaunchReport& report, SourceLines& lines);

// Returns the finding for a kernel whose own machine code faulted. `where` names block and thread, or is empty; so is
// `place`.
Finding SignalFinding(int signal, const std::string& where, const std::string& place);

}  // namespace hone::sim
