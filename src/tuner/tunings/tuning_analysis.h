// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Explains a choice of bindings by the measured points: the binding for each shape, its distance from the best known
// one, and how often a second sitting (a sweep; see tuning_database.h) would choose another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/sweep/tune.h"
#include "tuner/tunings/tuning_database.h"

namespace hone {

// Returns the newest measurement of each binding, in the order of their first measurement.
std::vector<TunePoint> NewestPoints(const std::vector<MeasuredPoint>& measured);

// The fastest point known for a shape, of any candidate with comparable times.
struct BestKnown {
  std::string entry;  // id of the entry that it belongs to
  std::string candidate_name;
  Binding binding;
  Interval speedup;  // speedup over the incumbent, which is the same for all comparable entries
};

struct ShapeExplanation {
  Dims dims;
  size_t chosen = 0;  // index in Explanation::points
  Interval speedup;   // speedup of the chosen point
  BestKnown best;
  // The difference best / chosen - 1 of medians, never below 0. The best of many noisy figures looks better than it is,
  // so this is more likely too large than too small.
  double regret = 0;
  // The share of pairs of sittings that choose differently here: each sitting draws every point's speedup anew from a
  // normal distribution of its logarithm that has the measured interval, and applies the rule of `hone tune`. 0 where
  // times are modelled, for they have no spread.
  double flip_rate = 0;
  // The number of sittings that measured at least two bindings, and how many of those chose the binding that the newest
  // points choose.
  int64_t sittings = 0, agreeing = 0;
};

struct Explanation {
  std::vector<TunePoint> points;  // the newest measurement of each binding
  SweepChoice choice;
  std::vector<ShapeExplanation> shapes;  // one for each timed case of the best point
  double flip_rate_on_the_whole = 0;     // like flip_rate, but for the choice of the binding with the best mean over all shapes
};

// An entry with its points. ExplainEntry also gets such values for entries whose times are comparable with its own
// (AreComparable); the entry itself may be among them.
struct RowPoints {
  TuningRow row;
  std::vector<MeasuredPoint> points;
};
// Explains the entry's choice from its own points; `others` are the entries with comparable times, from which the best
// known binding of each shape may come. `pairs_of_sittings`: how many pairs are drawn for the flip rates.
Explanation ExplainEntry(const RowPoints& entry, const std::vector<RowPoints>& others, int pairs_of_sittings = 500);

// Returns whether speedups of two entries can be compared: the same task, incumbent, device, driver and judge.
bool AreComparable(const TuningEntry& a, const TuningEntry& b);

}  // namespace hone
