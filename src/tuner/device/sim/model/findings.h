// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// From what a child reports to what a reader sees: source lines filled in, a status chosen, advice added.
#pragma once

#include <string>

#include "tuner/device/device_session.h"
#include "tuner/device/sim/image/source_lines.h"
#include "tuner/device/sim/worker/launch_types.h"

namespace hone::sim {

// kCrashed for what a GPU faults on, kUnsupported for what is not simulated, kRuleViolation for races, divergent
// barriers, undefined reads and written inputs, else kOk with findings that are advice only (bank_conflict,
// uncoalesced: the dearest lines). The detail begins with the kernel's name.
LaunchOutcome JudgeReport(const std::string& kernel, const LaunchReport& report, SourceLines& lines);

// Of a kernel whose own machine code faulted. `where` names block and thread, or is empty; so is `place`.
Finding SignalFinding(int signal, const std::string& where, const std::string& place);

}  // namespace hone::sim
