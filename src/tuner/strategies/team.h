// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements team: rounds of analysis, plan, code and test on an existing kernel whose signature is kept, as in Astra
// (arXiv 2509.07506). A tester adds cases once; those on which the seed is right are frozen and join every later check.
//
// Differences from the published system: a round starts from the best right version, never from a broken one; tests and
// timing are done by the evaluator and not by agents; the analyst reads measured figures (roofline, resources,
// findings); odd sizes are encouraged. With several attempts in flight a round makes as many plans at once.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeTeamStrategy();

}  // namespace hone
