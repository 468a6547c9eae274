// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aimed shapes are shapes beyond a task's hidden ranges with which a candidate is checked on a device where a check
// costs milliseconds: odd neighbors of the timed shapes, a shape for each alternative of the plan, and edges of
// alternatives.
//
// The hidden ranges are small, so that a simulated GPU can run them. A kernel may be right in all of them and at the
// timed shapes, and wrong in between. FairShapes derives from the shapes that a task names which others it allows. The
// aimed shapes depend on a secret seed and on nothing else: the same seed gives the same shapes on any machine.
//
// The search uses alternating variables over the branch distance of the plan's conditions (Korel, Automated software
// test data generation, 1990), and then a random walk within the alternative, so that its shape cannot be foreseen. All
// functions are pure functions of their arguments: no device.
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

// Returns the numbers of the plan's entries that serve a shape. The list is empty if the plan does not resolve, which a
// check will report; nullopt if the plan leaves the shape to the task's seed.
using EntriesTaken = std::function<std::optional<std::vector<size_t>>(const Dims&)>;

struct AimedShapes {
  std::vector<Case> cases;       // the shapes that were found, as hidden cases (CaseRole::kHidden)
  std::set<size_t> taken;        // entries of the plan that `cases` take
  std::set<size_t> unreachable;  // entries that no shape can take: the condition is false for all shapes, or fixes all
                                 // dimensions to a shape that an earlier entry takes
};

// Returns a shape for each alternative that is not in `taken`, in the plan's order; at most `most` shapes. The search
// evaluates the alternatives' conditions with `binding` and `facts`; a shape that it finds counts for an alternative
// only if `entries_taken` says that the shape takes it.
AimedShapes AimAtAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                              const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& taken,
                              const EntriesTaken& entries_taken, int most, uint64_t seed);

// Returns up to `count` different shapes at the edge of alternatives that are chosen at random, except those in
// `but_not`. At an edge, a dimension that a condition mentions has the largest or the smallest size at which the
// alternative is still taken while the other dimensions stay.
std::vector<Case> EdgesOfAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                                      const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& but_not,
                                      const EntriesTaken& entries_taken, int count, uint64_t seed);

// BeyondOptions limit the checks of one evaluation beyond the hidden ranges.
struct BeyondOptions {
  ShapeLimits limits;
  int neighbors = 0;  // number of odd neighbors of timed shapes
  int aimed = 0;      // limit on the shapes for alternatives that no checked case takes
  int edges = 0;      // limit on the shapes at edges of alternatives (see EdgesOfAlternatives)
  // Limit on the candidate's launches in total: one for each shape, two for an aimed shape. Edges get the launches that
  // remain, and at least one edge is tried.
  int launches = 0;
  bool timed = true;        // the timed shapes will be checked too, so alternatives that they take come last
  int64_t many_slices = 0;  // not 0: adds shapes of extreme proportions, one of them with at least this many slices
};
// Returns odd neighbors, shapes of extreme proportions, shapes for the alternatives that are not in `checked`, and
// edges.
AimedShapes ShapesBeyond(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
                         const std::set<size_t>& checked, const EntriesTaken& entries_taken,
                         const BeyondOptions& options, uint64_t seed);

}  // namespace hone
