// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning: every binding of a candidate's tunables is judged, and the winners, shape by shape, are written into a new
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

// With the gain filled in where the verdict is ok.
TunePoint MakePoint(Binding binding, Evaluation evaluation);

// What a sweep's points come to: places in them.
struct SweepChoice {
  std::optional<size_t> best;                    // the point with the best mean; nullopt: none is right
  std::vector<std::pair<Dims, size_t>> winners;  // by time case: the point to use there
};
// A shape gets a point of its own where that is surely faster there than the best one, by the share `shape_margin`.
SweepChoice ChooseWinners(const std::vector<TunePoint>& points, double shape_margin);
inline constexpr double kShapeMargin = 0.005;

struct TuneOptions {
  std::string incumbent_source;  // all bindings are timed against it; empty: the task's seed
  std::string incumbent_name;
  int64_t max_points = 64;  // of the bindings, the first choices and their neighbours come first
  int parallel = 2;         // evaluations in flight: their compiles overlap, the device is held by one
  int correctness_trials = 1;
  bool warm = false;
  // Leave out entries that a rule for one shape cannot take. Not in a run's sweeps: recorded runs hold their texts.
  bool drop_unreachable = false;
  int max_quads = 0;
  // Secret seed of every binding's inputs: where times depend on what is drawn, bindings are told apart on the same
  // draws. 0: each has inputs of its own. A spool knows a point by its request, so there it must be the same the next
  // time, or 0.
  uint64_t seed = 0;
  // A shape gets a binding of its own when that is surely faster there, by this share.
  double shape_margin = kShapeMargin;
  std::map<std::string, Evaluation> known;  // by BindingKey: points of an earlier, interrupted sweep
  // Called for every new point, one at a time, before it is used; a Status ends the sweep.
  std::function<Status(const Binding&, const Evaluation&)> on_point;
  std::stop_token stop;
};

struct TuneResult {
  std::vector<TunePoint> points;                 // in the order tried; known ones included
  int64_t left_out = 0;                          // bindings beyond max_points, or not reached before a stop
  std::optional<size_t> best;                    // point with the best mean; nullopt: no binding was ok
  std::vector<std::pair<Dims, size_t>> winners;  // by time case: the point to use there
  std::string source;                            // the candidate with its winners; empty: none was right, or see below
  bool needs_no_change = false;                  // the first choices are the best for every shape
  std::string summary;                           // one sentence
};

// The choice among `points` and the candidate's text with it: everything of a result but `left_out`. Nothing is
// measured.
TuneResult ConcludeSweep(const Task& task, const Candidate& candidate, std::vector<TunePoint> points,
                         double shape_margin, bool drop_unreachable);

// kPending when a spool holds points that are not judged yet: all are submitted, and the sweep is asked for again
// later. kCancelled only when stopped before any point was judged; the Status of the evaluator or of on_point
// otherwise.
Result<TuneResult> TuneCandidate(Evaluator& evaluator, const Task& task, const Candidate& candidate,
                                 const TuneOptions& options);

// The bindings to try, best informed first: the first choices, then those that differ from them in one tunable, then
// the others in file order; at most `max_points`.
std::vector<Binding> SweepOrder(const LaunchPlan& plan, int64_t max_points);

}  // namespace hone
