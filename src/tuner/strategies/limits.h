// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides what all strategies share: when a run stops opening attempts, and how it is closed.
#pragma once

#include <optional>
#include <string>

#include "base/numbers/random.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Returns why the run's budget is spent: time_spent | tokens_spent | money_spent | cost_unknown (there is a limit in
// dollars, and a reply has no price); empty: it is not. Three quarters of a time limit are for attempts: a sweep and
// the final evaluation need the rest.
std::string BudgetSpent(const RunView& view);

// Returns why the run opens no more attempts: floor_reached | attempts_spent | no_more_ideas, or a result of
// BudgetSpent; empty: it may open them.
std::string StopReason(const Knowledge& run);

// Returns whether in every timed case of an evaluation the floor's time is at least `fraction` of the measured time.
bool AtFloor(const Evaluation& evaluation, double fraction);

// Returns a sweep that is due before anything else; nullopt: none is. A correct version with new tunables is due,
// because it is judged by its best binding and not by its first choices (a block size that is made tunable changes
// nothing by itself). With RunOptions::sweep_seed or RunOptions::rounds, the seed is due before the first attempt.
std::optional<SweepAction> DueSweep(const Knowledge& run);

// Returns the next action by which the run is closed for `reason`: the best version is swept, then evaluated once more
// against the seed, then the run is finished. nullopt: work in flight is awaited.
std::optional<Action> Close(const Knowledge& run, const std::string& reason);

// Returns the random generator for the decision that opens node `node`. It depends only on the run's random seed and
// the number.
Rng DrawsFor(const RunOptions& options, int64_t node);

// Returns whether the next attempt must write a first version: the task has no seed and nothing is better than the
// oracle's own code, or the run's target is CuTe and no correct version uses it.
bool NeedsFirstVersion(const Knowledge& run);
// Returns the attempt that writes the first version: a whole file from the oracle, timed against the best.
AttemptAction FirstVersion(const Knowledge& run);

// Returns an attempt of one coder with this prompt, which shows the profile and the ledger.
AttemptAction CoderAttempt(const Knowledge& run, int64_t parent, const char* prompt, std::string note);
// Returns the turn of a coder that repairs a failed version and sees neither profile nor ledger.
Turn FixTurn(const Knowledge& run);

// Returns whether attempts may start from a version: if the run's target is CuTe, only from versions that use it, and never
// from the PyTorch module with which a run without a seed begins.
bool InTarget(const Knowledge& run, int64_t node);
// Returns the version from which steps start: the best, or, if that is not in the target, the fastest correct one that
// is. If there is none (NeedsFirstVersion), returns the best.
int64_t BestInTarget(const Knowledge& run);

// Returns whether a node was judged correct.
inline bool Right(const RunNode& node) { return node.evaluation && node.evaluation->verdict == Verdict::kOk; }
// Returns whether a node was judged incorrect, so that a debugger may repair it.
inline bool IsIncorrect(const RunNode& node) { return node.evaluation && node.evaluation->verdict != Verdict::kOk; }

}  // namespace hone
