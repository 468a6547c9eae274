// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups attempts into chains. A chain is a step and the debug attempts that follow it, until a version is correct or
// the step is given up. CuTeGen's chain (diagnose, then patch, a limited number of times) and Astra's coder (which
// repeats until its code compiles) are of this kind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hone/tuner/strategy.h"

namespace hone {

struct Chain {
  int64_t first = -1;      // the attempt that began the chain
  int64_t source = -1;     // the last node with a source to repair; -1: none
  int64_t fixes = 0;       // debug attempts opened
  bool in_flight = false;  // the result of its last node is not known yet
  bool right = false;      // ended with a correct version
  // Returns whether the chain's last version is incorrect and another repair is allowed. `most_fixes`: the limit for
  // `fixes`.
  bool CanRepair(int64_t most_fixes) const { return !in_flight && !right && source >= 0 && fixes < most_fixes; }
  // Returns whether the chain is given up.
  bool IsGivenUp(int64_t most_fixes) const { return !in_flight && !right && !CanRepair(most_fixes); }
};

// Returns the attempt that repairs the first chain that may have a repair, with these turns; nullopt: none may.
std::optional<AttemptAction> DueRepair(const Knowledge& run, const std::vector<Chain>& chains, int64_t most_fixes, std::vector<Turn> turns);

// Returns the chains, in the order of their first nodes.
std::vector<Chain> Chains(const Knowledge& run);

// Returns the number of finished steps. A step is finished by a chain that ended with a correct version, or by
// `generations` consecutive chains that were given up after `fixes` repairs. Chains in flight or under repair do not
// count.
int64_t StepsDone(const std::vector<Chain>& chains, int64_t fixes, int64_t generations);

}  // namespace hone
