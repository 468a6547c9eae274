// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups attempts into chains: a step and the debug attempts that follow it until it is right or given up. Both
// CuTeGen's chain (diagnose, then patch, a bounded number of times) and Astra's coder (which repeats until its code
// compiles) consist of these.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/tuner/strategy.h"

namespace hone {

struct Chain {
  int64_t first = -1;      // the attempt that began the chain
  int64_t source = -1;     // the last node with a source to repair; -1: none
  int64_t fixes = 0;       // debug attempts opened
  bool in_flight = false;  // the result of its last node is not known yet
  bool right = false;      // ended with a right version
  // Returns whether the chain was judged wrong, and another repair is allowed.
  bool Mendable(int64_t most) const { return !in_flight && !right && source >= 0 && fixes < most; }
  bool Failed(int64_t most) const { return !in_flight && !right && !Mendable(most); }
};

// Returns the chains by the number of their first node.
std::vector<Chain> Chains(const Knowledge& run);

// Counts the finished steps: each chain that ended well, and each run of `generations` consecutive failures. Chains in
// flight or under repair do not count.
int64_t StepsDone(const std::vector<Chain>& chains, int64_t fixes, int64_t generations);

}  // namespace hone
