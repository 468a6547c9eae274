// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file turns the LaunchStatus of a candidate's launch into a verdict on the candidate.
#pragma once

#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"

namespace hone {

inline Verdict VerdictOf(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::kOk: return Verdict::kOk;
    case LaunchStatus::kLaunchError: return Verdict::kLaunchError;
    case LaunchStatus::kResourceLimit: return Verdict::kResourceLimit;
    case LaunchStatus::kCrashed: return Verdict::kCrashed;
    case LaunchStatus::kTimedOut: return Verdict::kTimedOut;
    case LaunchStatus::kRuleViolation: return Verdict::kRuleViolation;
    case LaunchStatus::kUnsupported: return Verdict::kUnsupported;
  }
  return Verdict::kCrashed;
}

}  // namespace hone
