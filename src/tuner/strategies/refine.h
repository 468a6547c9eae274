// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements refine: one evolving kernel, one optimisation per step from the menu of its class, as in CuTeGen (arXiv
// 2604.01489): generate if there is nothing to start from, optimise, and where a step fails diagnose, patch, and after
// a bounded number of patches generate it anew. Profile feedback is withheld for the first steps, by class.
//
// Differences from the published system: every step starts from the best version instead of the newest, tried ideas are
// shown and not repeated, patches are anchored to regions, and the last repair is judged too. With several attempts in
// flight a step is tried in as many ways at once.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeRefineStrategy();

}  // namespace hone
