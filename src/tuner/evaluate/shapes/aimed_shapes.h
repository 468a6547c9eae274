// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes beyond a task's hidden ranges that a candidate is checked with on a device where a check costs milliseconds:
// odd neighbors of the timed shapes, for each alternative of the plan a shape that takes it, and edges of alternatives.
//
// The hidden ranges are small, so that a simulated GPU gets through them; a kernel may be right in all of them and at
// the timed shapes, and wrong in between. What a task allows there is read off what it names (FairShapes). The shapes
// follow from a secret seed and nothing else: the same seed gives the same ones, on any machine, however loaded.
//
// Method of the search: alternating variables over the branch distance of the plan's conditions (Korel, Automated
// software test data generation, 1990), and then a random walk within the alternative, so that nobody knows which shape
// it will be. Pure functions of their arguments: no device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/shapes/fair_shapes.h"

namespace hone {

// Which entries of the plan serve a shape: none where it does not resolve, which a check will say; nullopt where they
// leave it to the task's seed.
using EntriesTaken = std::function<std::optional<std::vector<size_t>>(const Dims&)>;

struct AimedShapes {
  std::vector<Case> cases;       // role kHidden
  std::set<size_t> taken;        // entries of the plan that `cases` take
  std::set<size_t> unreachable;  // entries that no shape takes: by their constants, or by the only shape they allow
};

// For each alternative that is not in `taken`, in the plan's order, a shape that takes it; at most `most` shapes.
// `binding` and `facts` as the plan is resolved with; `entries_taken` has the last word.
AimedShapes AimAtAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                              const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& taken,
                              const EntriesTaken& entries_taken, int most, uint64_t seed);

// Up to `count` different shapes at the edge of alternatives that chance chooses, none of `but_not`: a dimension that a
// condition speaks of has the largest or the smallest size, all else equal, at which the alternative is still taken.
std::vector<Case> EdgesOfAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                                      const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& but_not,
                                      const EntriesTaken& entries_taken, int count, uint64_t seed);

// What one evaluation checks beyond the hidden ranges: odd neighbors of timed shapes that the plan serves; shapes for
// the alternatives that are not in `checked`, those first that no timed shape takes either; and edges of alternatives,
// where what a condition promises and a kernel may not keep goes wrong first.
struct BeyondOptions {
  ShapeLimits limits;
  int neighbors = 0;
  int aimed = 0;  // at most
  int edges = 0;  // at most
  // Of the candidate, in all: one for each shape, two for one that was aimed. What is left of them is for edges, one at
  // least.
  int launches = 0;
  bool timed = true;  // the timed shapes will be checked
};
AimedShapes ShapesBeyond(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
                         const std::set<size_t>& checked, const EntriesTaken& entries_taken,
                         const BeyondOptions& options, uint64_t seed);

}  // namespace hone
