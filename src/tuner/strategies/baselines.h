// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the baselines of the papers, so that their comparisons can be repeated under equal conditions:
//   sample     best of K attempts, each written from the seed, without feedback (STARK's sampling agent)
//   reflexion  one agent that continues from its last version, right or wrong, and reflects on it (STARK's)
//   single     one agent that tests, profiles, plans and codes in one answer (Astra's)
// All of them return the best version; the published reflexion does not.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeSampleStrategy();
std::unique_ptr<Strategy> MakeReflexionStrategy();
std::unique_ptr<Strategy> MakeSingleStrategy();

}  // namespace hone
