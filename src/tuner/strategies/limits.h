// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by all strategies: when a run stops opening attempts, and how it is closed.
#pragma once

#include <optional>
#include <string>

#include "base/random.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Returns why the run's budget is used up: time_spent | tokens_spent | money_spent | cost_unknown (there is a limit in
// dollars, and a reply has no price); empty: it is not. With a time limit, requests stop at three quarters of it: a
// sweep and the final pairing need their share.
std::string BudgetSpent(const RunView& view);

// Returns empty while the run may open attempts; else why it stops: floor_reached | attempts_spent | no_more_ideas, or
// a result of BudgetSpent.
std::string StopReason(const Knowledge& run);

// Returns whether every timed case of an evaluation reaches this share of its floor.
bool AtFloor(const Evaluation& evaluation, double fraction);

// Returns a sweep that is due before anything else: a right version with new choices is judged by its best choice, not
// by its first (a block size made tunable changes nothing by itself). With RunOptions::sweep_seed or
// RunOptions::rounds, also the seed's own sweep, before the first attempt.
std::optional<SweepAction> DueSweep(const Knowledge& run);

// Returns the next action of closing the run for `reason`: everything in flight is awaited, the best is swept, paired
// with the seed once more, and the run finished.
std::optional<Action> Close(const Knowledge& run, const std::string& reason);

// Returns the random generator for the decision about node `node`: the same for the same run seed, whatever happened
// before.
Rng DrawsFor(const RunOptions& options, int64_t node);

// Returns whether there is no kernel to develop yet: the task has no seed and nothing is better than the oracle's own
// code, or the run is for CuTe and no right version is written in it. The next attempt writes one.
bool NeedsFirstVersion(const Knowledge& run);
// Returns that attempt: a whole file from the oracle, timed against the best.
AttemptAction FirstVersion(const Knowledge& run);

// Returns whether attempts may start from a version: in a run for CuTe only from versions written in it.
bool InTarget(const Knowledge& run, int64_t node);
// Returns the version that steps start from: the best, or, if that is not in the target, the fastest right one that is.
// There must be one: see NeedsFirstVersion.
int64_t BestInTarget(const Knowledge& run);

// Returns whether a node was judged right.
inline bool Right(const RunNode& node) { return node.evaluation && node.evaluation->verdict == Verdict::kOk; }
// Returns whether a debugger can repair the node: it was judged, and not right.
inline bool Broken(const RunNode& node) { return node.evaluation && node.evaluation->verdict != Verdict::kOk; }

}  // namespace hone
