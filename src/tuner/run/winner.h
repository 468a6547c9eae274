// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rule that decides which kernel wins. It is applied when a node settles, to its evaluation alone, so that no log
// can disagree with its own view. Which form of the rule holds follows from the version of the log
// (docs/formats/run-store.md).
#pragma once

#include "hone/tuner/run_view.h"

namespace hone {

// Whether `node`, which was judged right and has a gain, takes the place of view.best. What is surely faster does. Of
// several that were timed against one and the same version and are surely faster than it, the fastest does: each is an
// improvement, and which of them happens to have the lowest number says nothing.
bool TakesThePlace(const RunView& view, const RunNode& node);

}  // namespace hone
