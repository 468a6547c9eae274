// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What all strategies share: when a run stops asking for more, and how it is closed.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Whether the run's budget is used up, as of now: time_spent | tokens_spent | money_spent | cost_unknown (there is a
// bound in dollars, and a reply has no price); empty: not.
// With a time limit, asking stops at three quarters of it: a sweep and the final pairing need their share.
std::string BudgetSpent(const RunView& view);

// Empty while the run may go on opening attempts; else why it stops: floor_reached | attempts_spent | no_more_ideas,
// or one of BudgetSpent.
std::string StopReason(const Knowledge& run);

// Whether every timed case of an evaluation is at least at this share of its floor.
bool AtFloor(const Evaluation& evaluation, double fraction);

// A sweep that is due before anything else: a right answer that brings new choices is judged by its best, not by its
// first (a block size made tunable changes nothing by itself). With RunOptions::sweep_seed or RunOptions::rounds, also
// the seed's own sweep, before the first attempt.
std::optional<SweepAction> DueSweep(const Knowledge& run);

// The way to the end once `reason` stands: all that is in flight is awaited, the best is swept, paired with the seed
// once more, and the run finished.
std::optional<Action> Close(const Knowledge& run, const std::string& reason);

// Draws for the decision about node `node`: the same for the same run seed, whatever happened before.
Rng DrawsFor(const RunOptions& options, int64_t node);

// No kernel is there yet to go on from: the task has no seed and nothing is more than the oracle's own code, or the run
// is for CuTe and nothing right is written in it. The next attempt writes one.
bool NeedsFirstVersion(const Knowledge& run);
// That attempt: from the oracle, whole, against the best.
AttemptAction FirstVersion(const Knowledge& run);

// Whether a version may be built upon: in a run for CuTe only what is written in it.
bool InTarget(const Knowledge& run, int64_t node);
// The version that steps start from: the best, or, where that is not in the target, the fastest right one that is.
// Needs one: see NeedsFirstVersion.
int64_t BestInTarget(const Knowledge& run);

// Whether a node was judged right.
inline bool Right(const RunNode& node) { return node.evaluation && node.evaluation->verdict == Verdict::kOk; }
// Whether there is a source that a debugger can mend: judged, and not right.
inline bool Broken(const RunNode& node) { return node.evaluation && node.evaluation->verdict != Verdict::kOk; }

}  // namespace hone
