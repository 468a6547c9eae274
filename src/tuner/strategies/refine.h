// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements refine, which develops one kernel step by step, as in CuTeGen (arXiv 2604.01489). It writes a first
// version if there is nothing to start from. Each step is one optimisation from the menu of the task's class. A step
// that fails is diagnosed and patched; after a limited number of patches, it is written anew. For the first steps,
// whose number depends on the class, profiles are withheld.
//
// Differences from the published system: every step starts from the best version instead of the newest, tried ideas are
// shown and not repeated, patches are anchored to regions, and the last repair is judged too. With several attempts in
// flight, a step is tried in several ways at once.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeRefineStrategy();

}  // namespace hone
