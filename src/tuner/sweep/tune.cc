// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/sweep/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "tuner/run/log/gain.h"
#include "tuner/sweep/dispatch.h"

namespace hone {
namespace {

// Returns in how many tunables the bindings differ.
int CountDifferences(const Binding& a, const Binding& b) {
  int distance = 0;
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    distance += other == b.end() || other->second != value;
  }
  return distance;
}

// Returns a point's speedup in the case with these dimensions; null if it has none.
const Interval* SpeedupIn(const Evaluation& evaluation, const Dims& dims) {
  for (const CaseResult& c : evaluation.cases) {
    if (c.dims == dims && c.speedup) return &*c.speedup;
  }
  return nullptr;
}

// Returns whether a is more than b by over 0.1 %. Among equals the binding tried first wins: it is nearer to the
// author's choice, and a repeated sweep does not switch between bindings whose difference cannot be measured.
bool ClearlyAbove(double a, double b) { return a > b * 1.001; }

}  // namespace

std::vector<Binding> SweepOrder(const LaunchPlan& plan, int64_t max_points) {
  std::vector<Binding> bindings = AllBindings(plan);
  const Binding first = DefaultBinding(plan);
  std::stable_sort(bindings.begin(), bindings.end(), [&](const Binding& a, const Binding& b) {
    return std::min(CountDifferences(a, first), 2) < std::min(CountDifferences(b, first), 2);
  });
  if (static_cast<int64_t>(bindings.size()) > max_points)
    bindings.resize(static_cast<size_t>(std::max<int64_t>(max_points, 1)));
  return bindings;
}

TunePoint MakePoint(Binding binding, Evaluation evaluation) {
  TunePoint point{std::move(binding), std::move(evaluation), std::nullopt};
  if (point.evaluation.verdict == Verdict::kOk) point.gain = GeomeanGain(point.evaluation.cases);
  return point;
}

SweepChoice ChooseWinners(const std::vector<TunePoint>& points, double shape_margin) {
  SweepChoice choice;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i].gain) continue;
    // Within 0.1 % of the best so far, the earlier point stays the best.
    if (!choice.best || ClearlyAbove(points[i].gain->median, points[*choice.best].gain->median)) choice.best = i;
  }
  if (!choice.best) return choice;
  for (const CaseResult& c : points[*choice.best].evaluation.cases) {
    if (!c.speedup) continue;
    size_t winner = *choice.best;
    // Another binding replaces the common one for a shape only if it is surely faster there: the best of many noisy
    // numbers always looks good.
    const double to_beat = c.speedup->high * (1 + shape_margin);
    for (size_t i = 0; i < points.size(); ++i) {
      if (!points[i].gain) continue;
      const Interval* speedup_here = SpeedupIn(points[i].evaluation, c.dims);
      if (speedup_here == nullptr || speedup_here->low <= to_beat) continue;
      if (winner == *choice.best ||
          ClearlyAbove(speedup_here->median, SpeedupIn(points[winner].evaluation, c.dims)->median)) {
        winner = i;
      }
    }
    choice.winners.emplace_back(c.dims, winner);
  }
  return choice;
}

TuneResult ConcludeSweep(const Task& task, const Candidate& candidate, std::vector<TunePoint> points,
                         double shape_margin, bool drop_unreachable) {
  TuneResult result;
  result.points = std::move(points);
  SweepChoice choice = ChooseWinners(result.points, shape_margin);
  result.best = choice.best;
  result.winners = std::move(choice.winners);
  if (!result.best) {
    result.summary = result.points.size() == 1
                         ? std::string("the only binding tried is not right")
                         : fmt::format("none of the {} bindings tried is right", result.points.size());
    return result;
  }
  const TunePoint& best = result.points[*result.best];
  std::vector<ShapeChoice> shapes;
  for (const auto& [dims, winner] : result.winners) shapes.push_back({dims, result.points[winner].binding});
  std::vector<DispatchRule> rules =
      shapes.empty() ? std::vector<DispatchRule>() : MakeDispatchRules(shapes, best.binding);
  if (!drop_unreachable) {
    for (DispatchRule& rule : rules) rule.shape.reset();
  }
  const bool first_choices = best.binding == DefaultBinding(candidate.plan);
  if (rules.empty() && first_choices) {
    result.needs_no_change = true;
    result.summary = result.points.size() == 1 ? std::string("the only binding tried is right")
                                               : fmt::format("the first choices ({}) are the best of {} bindings",
                                                             BindingKey(best.binding), result.points.size());
    return result;
  }
  Result<std::string> dispatch_source = WriteDispatch(candidate, task, best.binding, rules);
  std::string why_single;  // why one binding serves all shapes, although other shapes have other winners; else empty
  if (!dispatch_source.ok() && !rules.empty() && !first_choices) {
    // One binding for all shapes is still better than the first choices.
    why_single = fmt::format(" ({})", dispatch_source.status().message());
    dispatch_source = WriteDispatch(candidate, task, best.binding, {});
  }
  if (!dispatch_source.ok()) {
    result.summary = fmt::format("winners were found but cannot be written: {}", dispatch_source.status().message());
    return result;
  }
  result.source = std::move(*dispatch_source);
  result.summary =
      fmt::format("{} is the best of {} bindings on the whole", BindingKey(best.binding), result.points.size());
  if (!rules.empty() && why_single.empty())
    result.summary += fmt::format("; {} rule(s) choose others by shape", rules.size());
  result.summary += why_single;
  return result;
}

Result<TuneResult> TuneCandidate(Evaluator& evaluator, const Task& task, const Candidate& candidate,
                                 const TuneOptions& options) {
  const std::vector<Binding> bindings = SweepOrder(candidate.plan, options.max_points);
  std::vector<std::optional<Evaluation>> results(bindings.size());
  std::mutex mutex;
  size_t next = 0;
  Status failure, pending;
  // Every thread runs this: it takes the next binding that is not known from an earlier sweep, and judges it.
  const auto work = [&] {
    while (true) {
      size_t index = 0;  // of the binding that this thread judges now
      {
        std::lock_guard lock(mutex);
        if (!failure.ok() || options.stop.stop_requested()) return;
        while (next < bindings.size()) {
          const auto known = options.known.find(BindingKey(bindings[next]));
          if (known == options.known.end()) break;
          results[next++] = known->second;
        }
        if (next == bindings.size()) return;
        index = next++;
      }
      EvaluationRequest request;
      request.source = candidate.source;
      request.name = candidate.name;
      request.binding = bindings[index];
      request.incumbent_source = options.incumbent_source;
      request.incumbent_name = options.incumbent_name;
      request.correctness_trials = options.correctness_trials;
      request.warm = options.warm;
      request.max_quads = options.max_quads;
      request.seed = options.seed;
      Result<Evaluation> evaluation = evaluator.Evaluate(task, request);
      std::lock_guard lock(mutex);
      if (evaluation.status().code() == StatusCode::kPending) {
        // A spool has accepted the point; the others go there too, so that one visit to the device judges them all.
        pending = evaluation.status();
        continue;
      }
      if (!evaluation.ok()) {
        if (failure.ok()) failure = evaluation.status();
        return;
      }
      if (evaluation->verdict == Verdict::kDeviceLost) {
        if (failure.ok()) failure = Status::Unavailable("the device was lost during the sweep: " + evaluation->detail);
        return;
      }
      if (options.on_point && failure.ok()) failure = options.on_point(bindings[index], *evaluation);
      results[index] = std::move(*evaluation);
    }
  };
  {
    std::vector<std::jthread> threads;
    const size_t count = std::clamp<size_t>(static_cast<size_t>(std::max(options.parallel, 1)), 1, bindings.size());
    for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
    work();
  }
  HONE_RETURN_IF_ERROR(failure);
  HONE_RETURN_IF_ERROR(pending);

  std::vector<TunePoint> points;
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (!results[i]) continue;
    points.push_back(MakePoint(bindings[i], std::move(*results[i])));
  }
  if (points.empty()) return Status::Cancelled("the sweep was stopped before anything was judged");
  TuneResult result = ConcludeSweep(task, candidate, std::move(points), options.shape_margin, options.drop_unreachable);
  result.left_out = static_cast<int64_t>(AllBindings(candidate.plan).size() - result.points.size());
  return result;
}

}  // namespace hone
