// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Aimed shapes are shapes beyond a task's hidden ranges with which a candidate is checked on a device where a check
// costs milliseconds: odd neighbors of the timed shapes, a shape for each alternative of the plan, and edges of
// alternatives.
//
// The hidden ranges are small, so that a simulated GPU can run them; a kernel may be right in all of them and at the
// timed shapes, and wrong in between. FairShapes derives what a task allows there from what it names. The shapes follow
// from a secret seed and nothing else: the same seed gives the same ones, on any machine, however loaded.
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

// Returns the entries of the plan that serve a shape: none where the plan does not resolve, which a check will report;
// nullopt where the entries leave the shape to the task's seed.
using EntriesTaken = std::function<std::optional<std::vector<size_t>>(const Dims&)>;

struct AimedShapes {
  std::vector<Case> cases;       // role kHidden
  std::set<size_t> taken;        // entries of the plan that `cases` take
  std::set<size_t> unreachable;  // entries that no shape takes: by their constants, or by the only shape they allow
};

// Returns a shape for each alternative that is not in `taken`, in the plan's order; at most `most` shapes. The plan is
// resolved with `binding` and `facts`; `entries_taken` decides.
AimedShapes AimAtAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                              const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& taken,
                              const EntriesTaken& entries_taken, int most, uint64_t seed);

// Returns up to `count` different shapes at the edge of alternatives that are chosen at random, none of them in
// `but_not`: a dimension that a condition mentions has the largest or the smallest size, all else equal, at which the
// alternative is still taken.
std::vector<Case> EdgesOfAlternatives(const Task& task, const LaunchPlan& plan, const Binding& binding,
                                      const DeviceFacts& facts, const FairShapes& fair, const std::set<size_t>& but_not,
                                      const EntriesTaken& entries_taken, int count, uint64_t seed);

// BeyondOptions limit the checks of one evaluation beyond the hidden ranges: odd neighbors of timed shapes that the
// plan serves; shapes of extreme proportions; shapes for the alternatives that are not in `checked`, those first that no timed shape takes either; and
// edges of alternatives, where a kernel fails first that does not keep its condition's promise.
struct BeyondOptions {
  ShapeLimits limits;
  int neighbors = 0;
  int aimed = 0;  // at most
  int edges = 0;  // at most
  // Launches of the candidate in all: one for each shape, two for an aimed one. The rest of them is for edges, at least
  // one.
  int launches = 0;
  bool timed = true;  // the timed shapes will be checked
  int64_t many_slices = 0;  // not 0: shapes of extreme proportions too, one of them with so many slices or more
};
AimedShapes ShapesBeyond(const Task& task, const LaunchPlan& plan, const Binding& binding, const DeviceFacts& facts,
                         const std::set<size_t>& checked, const EntriesTaken& entries_taken,
                         const BeyondOptions& options, uint64_t seed);

}  // namespace hone
