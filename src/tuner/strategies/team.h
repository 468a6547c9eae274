// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// team: rounds of analysis, plan, code and test on an existing kernel whose signature is kept, as Astra does it (arXiv
// 2509.07506). A tester adds cases once; those on which the seed is right are frozen and join every later check.
//
// What differs from the published system: a round starts from the best right version, never from a broken one;
// running tests and timing is the evaluator's work and no agent's; the analyst reads real figures (roofline,
// resources, findings); odd sizes are wanted. With several attempts in flight a round makes as many plans at once.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeTeamStrategy();

}  // namespace hone
