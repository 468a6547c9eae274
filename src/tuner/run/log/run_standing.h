// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Says how far a run is, for comparisons: a run of which nothing is known yet must not count as one that found nothing.
#pragma once

#include "hone/tuner/run_view.h"

namespace hone {

// Returns whether the run has ended for good, and was not only suspended, interrupted or stopped by its provider.
bool IsOver(const RunView& view);

// Returns whether a version of an attempt was judged. Replies that could not be used say nothing of what the run finds.
bool HasJudgedAttempt(const RunView& view);

// Returns whether nothing can be said of the run yet: it is not over, and no version of an attempt was judged.
inline bool IsWaiting(const RunView& view) { return !IsOver(view) && !HasJudgedAttempt(view); }

}  // namespace hone
