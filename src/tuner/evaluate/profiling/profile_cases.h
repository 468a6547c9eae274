// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file profiles a candidate on each timed case, one case after the other, on fresh inputs. The candidate has been
// judged before, so its outputs are not checked.
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/profile.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/judge/judge.h"

namespace hone {

// Profiles a candidate. Cases that the plan does not serve, that do not fit into memory, or whose launch fails are left
// out, and Profile::note says so. If the device has no counters, the profile has only a note. A Status means that the
// device or the session failed.
Result<Profile> ProfileCandidate(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress);

}  // namespace hone
