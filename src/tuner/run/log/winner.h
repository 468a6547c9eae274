// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which version is the best of a run. The rule is applied when a node settles and uses only evaluations in the
// log, so that reading a log again gives the same result. The log's version selects the form of the rule
// (docs/formats/run-store.md).
#pragma once

#include "hone/tuner/run_view.h"

namespace hone {

// Returns whether `node`, which was judged correct and has a gain, replaces view.best. It does if it is surely faster
// than the best, by the factor 1 + keep_above. It also does (since log version 4) if both were timed against the same
// version, `node` is surely faster than that version by the same factor, and its median gain is the larger one: the
// order of their numbers then does not matter.
bool TakesThePlace(const RunView& view, const RunNode& node);

// Returns the node that is the best once the one before it was rejected: the fastest of those that are right, not rejected
// and surely faster than node 0 by the factor 1 + keep_above, kept or not; 0 if there is none. In logs up to version 7 it is
// the last of those that were kept.
int64_t BestOfTheOthers(const RunView& view);

}  // namespace hone
