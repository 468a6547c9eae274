// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tunes a candidate: judges every binding of its tunables, and writes the winners, shape by shape, into a new
// candidate. No model is asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"

namespace hone {

struct TunePoint {
  Binding binding;
  Evaluation evaluation;
  std::optional<Interval> gain;  // geometric mean over the incumbent; only when the verdict is ok
};

// Makes a point, with the gain filled in if the verdict is ok.
TunePoint MakePoint(Binding binding, Evaluation evaluation);

// The winners among a sweep's points, as indexes.
struct SweepChoice {
  std::optional<size_t> best;                    // the point with the best mean; nullopt: none is right
  std::vector<std::pair<Dims, size_t>> winners;  // for each time case: the winning point
};
// Chooses the best point by the mean, and other points for the shapes where they are surely faster than it, by more
// than the share `shape_margin`.
SweepChoice ChooseWinners(const std::vector<TunePoint>& points, double shape_margin);
inline constexpr double kShapeMargin = 0.005;  // share by which another binding must be surely faster in a shape

struct TuneOptions {
  std::string incumbent_source;  // the version that all bindings are timed against; empty: the task's seed
  std::string incumbent_name;
  int64_t max_points = 64;  // if exceeded, the first choices and their neighbours are kept
  int parallel = 2;         // evaluations in flight: their compiles overlap; only one of them uses the device at a time
  int correctness_trials = 1;
  bool warm = false;
  // Omit launch entries that cannot accept the single shape of a rule. false in a run's sweeps, because recorded runs
  // hold their candidates' texts.
  bool drop_unreachable = false;
  int max_quads = 0;  // largest number of paired measurements for each timed case; 0: the protocol's own
  // Secret seed of every binding's inputs, so that bindings are compared on the same inputs even if times depend on the
  // data. 0: each binding has different inputs. A spool identifies a point by its request: when a sweep is repeated
  // there, the seed must be the same, or 0.
  uint64_t seed = 0;
  // Share by which another binding must be surely faster in a shape to be used there.
  double shape_margin = kShapeMargin;
  std::map<std::string, Evaluation> known;  // keyed by BindingKey: points of an earlier, interrupted sweep
  // Called for every new point, one at a time, before the point is used; a Status ends the sweep.
  std::function<Status(const Binding&, const Evaluation&)> on_point;
  std::stop_token stop;
};

struct TuneResult {
  std::vector<TunePoint> points;                 // in the order tried; known ones included
  int64_t left_out = 0;                          // bindings beyond max_points, or not reached before a stop
  std::optional<size_t> best;                    // point with the best mean; nullopt: no binding was ok
  std::vector<std::pair<Dims, size_t>> winners;  // for each time case: the winning point
  std::string source;                            // the candidate's text with its winners; empty: no binding was right,
                                                 // or needs_no_change
  bool needs_no_change = false;                  // the first choices are the best for every shape
  std::string summary;                           // one sentence
};

// Chooses among `points` and writes the candidate's text: everything of a result except `left_out`. Measures nothing.
TuneResult ConcludeSweep(const Task& task, const Candidate& candidate, std::vector<TunePoint> points,
                         double shape_margin, bool drop_unreachable);

// Judges the bindings and chooses the winners. kPending when a spool holds points that are not judged yet: all are
// submitted, and the sweep must be repeated later. kCancelled only when stopped before any point was judged. Otherwise
// the Status of the evaluator or of on_point.
Result<TuneResult> TuneCandidate(Evaluator& evaluator, const Task& task, const Candidate& candidate,
                                 const TuneOptions& options);

// Returns the bindings to try, most promising first: the first choices, then those that differ from them in one
// tunable, then the others in file order; at most `max_points`.
std::vector<Binding> SweepOrder(const LaunchPlan& plan, int64_t max_points);

}  // namespace hone
