// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which kernel wins. The rule is applied when a node settles, to its evaluation alone, so that no log can
// disagree with its own view. The version of the log selects the form of the rule (docs/formats/run-store.md).
#pragma once

#include "hone/tuner/run_view.h"

namespace hone {

// Returns whether `node`, which was judged correct and has a gain, replaces view.best. A surely faster node does. Of
// several nodes that were timed against the same version and are surely faster than it, the fastest does: each is an
// improvement, and their numbers are irrelevant.
bool TakesThePlace(const RunView& view, const RunNode& node);

}  // namespace hone
