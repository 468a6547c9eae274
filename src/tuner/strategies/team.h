// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements team: rounds of analysis, plan, code and test on an existing kernel whose signature is kept, as in Astra
// (arXiv 2509.07506). A tester proposes check cases once; every later version is checked on those on which the seed is
// correct.
//
// Differences from the published system: a round starts from the best correct version, never from an incorrect one; the
// evaluator tests and times, and not agents; the analyst reads measured figures (roofline, resources, findings); the
// tester is asked for odd sizes. With several attempts in flight, a round makes several plans at once.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeTeamStrategy();

}  // namespace hone
