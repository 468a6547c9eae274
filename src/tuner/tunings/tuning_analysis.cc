// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/tunings/tuning_analysis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/numbers/random.h"
#include "tuner/run/log/gain.h"

namespace hone {
namespace {

// The half width of a 95 % interval in standard deviations of a normal distribution.
constexpr double kHalfWidth = 1.959964;
// The seed of all draws is fixed, so the same points give the same rates.
constexpr uint64_t kSeed = 0x74756e65;

const Interval* SpeedupAt(const Evaluation& evaluation, const Dims& dims) {
  for (const CaseResult& c : evaluation.cases) {
    if (c.dims == dims && c.speedup) return &*c.speedup;
  }
  return nullptr;
}

// Returns the points as another sitting (another sweep of the same bindings) might have measured them.
std::vector<TunePoint> RedrawPoints(const std::vector<TunePoint>& points, Rng& rng) {
  std::vector<TunePoint> drawn = points;
  for (TunePoint& point : drawn) {
    for (CaseResult& c : point.evaluation.cases) {
      if (!c.speedup || c.speedup->low <= 0) continue;
      const double half_width = std::log(c.speedup->high / c.speedup->low) / 2;
      const double factor = std::exp(half_width / kHalfWidth * rng.Normal());
      *c.speedup = {c.speedup->median * factor, c.speedup->low * factor, c.speedup->high * factor};
    }
    if (point.gain) point.gain = GeomeanGain(point.evaluation.cases);
  }
  return drawn;
}

// The result of a choice: the binding for all shapes together, and the one for each shape.
struct Chosen {
  std::string whole;
  std::map<Dims, std::string> at;
};
Chosen ChosenOf(const std::vector<TunePoint>& points, const SweepChoice& choice) {
  Chosen chosen;
  if (!choice.best) return chosen;
  chosen.whole = BindingKey(points[*choice.best].binding);
  for (const auto& [dims, winner] : choice.winners) chosen.at[dims] = BindingKey(points[winner].binding);
  return chosen;
}

}  // namespace

std::vector<TunePoint> NewestPoints(const std::vector<MeasuredPoint>& measured) {
  std::vector<TunePoint> points;
  std::map<std::string, size_t> places;
  for (const MeasuredPoint& m : measured) {
    const auto [place, is_new] = places.emplace(BindingKey(m.binding), points.size());
    TunePoint point = MakePoint(m.binding, m.evaluation);
    if (is_new) {
      points.push_back(std::move(point));
    } else {
      points[place->second] = std::move(point);
    }
  }
  return points;
}

bool AreComparable(const TuningEntry& a, const TuningEntry& b) {
  return a.task_text == b.task_text && a.incumbent == b.incumbent && a.device == b.device && a.driver == b.driver &&
         a.sm_count == b.sm_count && a.modelled == b.modelled && a.judge == b.judge;
}

Explanation ExplainEntry(const RowPoints& entry, const std::vector<RowPoints>& others, int pairs_of_sittings) {
  Explanation explanation;
  explanation.points = NewestPoints(entry.points);
  explanation.choice = ChooseWinners(explanation.points, kShapeMargin);
  if (!explanation.choice.best) return explanation;
  const Chosen chosen = ChosenOf(explanation.points, explanation.choice);

  for (const auto& [dims, winner] : explanation.choice.winners) {
    const TunePoint& point = explanation.points[winner];
    ShapeExplanation shape;
    shape.dims = dims;
    shape.chosen = winner;
    shape.speedup = *SpeedupAt(point.evaluation, dims);
    shape.best = {entry.row.id, entry.row.entry.candidate_name, point.binding, shape.speedup};
    const auto consider = [&shape, &dims = dims](const RowPoints& other) {
      for (const TunePoint& p : NewestPoints(other.points)) {
        const Interval* speedup = p.gain ? SpeedupAt(p.evaluation, dims) : nullptr;
        if (speedup != nullptr && speedup->median > shape.best.speedup.median) {
          shape.best = {other.row.id, other.row.entry.candidate_name, p.binding, *speedup};
        }
      }
    };
    consider(entry);
    for (const RowPoints& other : others) {
      if (other.row.id != entry.row.id && AreComparable(other.row.entry, entry.row.entry)) consider(other);
    }
    shape.regret = std::max(0.0, shape.best.speedup.median / shape.speedup.median - 1);
    explanation.shapes.push_back(std::move(shape));
  }

  // Counts the past sittings, and those that chose as the newest points do.
  std::map<std::string, std::vector<MeasuredPoint>> by_sitting;
  for (const MeasuredPoint& point : entry.points) by_sitting[point.sitting].push_back(point);
  for (const auto& [sitting, points] : by_sitting) {
    const std::vector<TunePoint> of_sitting = NewestPoints(points);
    if (of_sitting.size() < 2) continue;
    const Chosen then = ChosenOf(of_sitting, ChooseWinners(of_sitting, kShapeMargin));
    for (ShapeExplanation& shape : explanation.shapes) {
      const auto at = then.at.find(shape.dims);
      if (at == then.at.end()) continue;
      ++shape.sittings;
      shape.agreeing += at->second == chosen.at.at(shape.dims);
    }
  }

  Rng rng(kSeed);
  std::map<Dims, int> flips;
  int whole_flips = 0;
  for (int i = 0; i < pairs_of_sittings; ++i) {
    const std::vector<TunePoint> first = RedrawPoints(explanation.points, rng),
                                 second = RedrawPoints(explanation.points, rng);
    const Chosen a = ChosenOf(first, ChooseWinners(first, kShapeMargin)),
                 b = ChosenOf(second, ChooseWinners(second, kShapeMargin));
    whole_flips += a.whole != b.whole;
    for (const ShapeExplanation& shape : explanation.shapes) {
      const auto in_a = a.at.find(shape.dims), in_b = b.at.find(shape.dims);
      flips[shape.dims] += in_a == a.at.end() || in_b == b.at.end() ? in_a != a.at.end() || in_b != b.at.end()
                                                                    : in_a->second != in_b->second;
    }
  }
  if (pairs_of_sittings > 0) {
    for (ShapeExplanation& shape : explanation.shapes)
      shape.flip_rate = static_cast<double>(flips[shape.dims]) / pairs_of_sittings;
    explanation.flip_rate_on_the_whole = static_cast<double>(whole_flips) / pairs_of_sittings;
  }
  return explanation;
}

}  // namespace hone
