// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file counts what a candidate does on each timed case, one case after the other, on fresh inputs. The candidate
// has been judged before: nothing is checked here.
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/profile.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/judge/judge.h"

namespace hone {

// Profiles a candidate. Cases that the plan does not serve, that do not fit into memory, or whose launch fails are left
// out, and the note says so. Where the device counts nothing, the profile has only a note. A Status means that the
// device or the session failed.
Result<Profile> ProfileCandidate(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress);

}  // namespace hone
