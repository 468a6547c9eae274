// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/tunings/tuning_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/numbers/hash.h"
#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

using nlohmann::json;

std::string DayText(double seconds) {
  const std::time_t whole_seconds = static_cast<std::time_t>(seconds);
  std::tm local{};
  if (localtime_r(&whole_seconds, &local) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

std::string BindingText(const Binding& binding) {
  const std::string key = BindingKey(binding);
  return key.empty() ? "(no tunables)" : key;
}

std::string SpeedupText(const Interval& speedup, bool modelled) {
  return modelled ? fmt::format("{:.3f}x", speedup.median)
                  : fmt::format("{:.3f}x [{:.3f}, {:.3f}]", speedup.median, speedup.low, speedup.high);
}

std::string PercentText(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Writes cells side by side, each column as wide as its widest cell.
std::string AlignColumns(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      text += i + 1 == line.size() ? line[i] : fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    text += "\n";
  }
  return text;
}

json RowJson(const TuningRow& row) {
  const TuningEntry& e = row.entry;
  return {{"id", row.id},
          {"task", e.task},
          {"candidate", {{"name", e.candidate_name}, {"sha256", Sha256Hex(e.candidate)}}},
          {"incumbent", {{"name", e.incumbent_name}, {"sha256", Sha256Hex(e.incumbent)}}},
          {"device", e.device},
          {"driver", e.driver},
          {"sm_count", e.sm_count},
          {"modelled", e.modelled},
          {"judge", e.judge},
          {"points", row.points},
          {"right", row.right},
          {"sittings", row.sittings},
          {"newest", row.newest}};
}

json IntervalJson(const Interval& interval) {
  return {{"median", interval.median}, {"ci95", {interval.low, interval.high}}};
}

}  // namespace

std::string TuningRowsText(const std::vector<TuningRow>& rows) {
  if (rows.empty())
    return "The tuning database holds no entry. `hone tune TASK CANDIDATE.cu` writes what it measures.\n";
  std::vector<std::vector<std::string>> lines = {
      {"id", "task", "candidate", "against", "device", "points", "right", "sittings", "newest"}};
  for (const TuningRow& row : rows) {
    const TuningEntry& e = row.entry;
    lines.push_back({row.id, e.task, e.candidate_name, e.incumbent_name, e.device + (e.modelled ? " (modelled)" : ""),
                     fmt::format("{}", row.points), fmt::format("{}", row.right), fmt::format("{}", row.sittings),
                     DayText(row.newest)});
  }
  return AlignColumns(lines);
}

json TuningRowsJson(const std::vector<TuningRow>& rows) {
  json all = json::array();
  for (const TuningRow& row : rows) all.push_back(RowJson(row));
  return all;
}

std::string ExplanationText(const TuningRow& row, const Explanation& explanation) {
  const TuningEntry& e = row.entry;
  std::string text =
      fmt::format("{}  {} of task {}, timed against {}\n", row.id, e.candidate_name, e.task, e.incumbent_name);
  text += fmt::format("on {}{}, driver {}, {} multiprocessors, judged by {}\n", e.device,
                      e.modelled ? " (modelled times, not measured)" : "", e.driver, e.sm_count, e.judge);
  text += fmt::format("{} binding(s) measured in {} sitting(s), {} right; newest {}\n", row.points, row.sittings,
                      row.right, DayText(row.newest));
  if (!explanation.choice.best) return text + "\nNo binding is right, so none is chosen.\n";
  const TunePoint& best = explanation.points[*explanation.choice.best];
  text +=
      fmt::format("\nOn the whole {} is chosen: {}", BindingText(best.binding), SpeedupText(*best.gain, e.modelled));
  text += e.modelled ? ".\n"
                     : fmt::format("; two sittings would choose differently in {} of cases.\n",
                                   PercentText(explanation.flip_rate_on_the_whole));
  std::vector<std::vector<std::string>> lines = {
      {"shape", "chosen", "speedup", "best known", "regret", "flips", "sittings that chose it"}};
  for (const ShapeExplanation& shape : explanation.shapes) {
    const bool itself = shape.regret == 0;
    lines.push_back({DimsText(shape.dims), BindingText(explanation.points[shape.chosen].binding),
                     SpeedupText(shape.speedup, e.modelled),
                     itself ? "the same"
                            : fmt::format("{}{} {:.3f}x",
                                          shape.best.entry == row.id
                                              ? ""
                                              : fmt::format("{} ({}) ", shape.best.candidate_name, shape.best.entry),
                                          BindingText(shape.best.binding), shape.best.speedup.median),
                     PercentText(shape.regret), e.modelled ? "none" : PercentText(shape.flip_rate),
                     fmt::format("{} of {}", shape.agreeing, shape.sittings)});
  }
  text += "\n" + AlignColumns(lines);
  text +=
      "\nregret: how much faster the best known binding is than the chosen one; flips: how often two sittings, drawn "
      "from the measured intervals,\n"
      "choose differently. A shape gets a binding of its own only where that is surely faster, so a small regret is a "
      "choice not to chase noise.\n";
  return text;
}

json ExplanationJson(const TuningRow& row, const Explanation& explanation) {
  json result = RowJson(row);
  json points = json::array();
  for (const TunePoint& p : explanation.points) {
    json point = {{"binding", p.binding}, {"verdict", VerdictName(p.evaluation.verdict)}};
    if (p.gain) point["speedup"] = IntervalJson(*p.gain);
    points.push_back(std::move(point));
  }
  result["bindings"] = points;
  json shapes = json::array();
  for (const ShapeExplanation& s : explanation.shapes) {
    shapes.push_back({{"dims", s.dims},
                      {"chosen", s.chosen},
                      {"speedup", IntervalJson(s.speedup)},
                      {"best_known",
                       {{"entry", s.best.entry},
                        {"candidate", s.best.candidate_name},
                        {"binding", s.best.binding},
                        {"speedup", IntervalJson(s.best.speedup)}}},
                      {"regret", s.regret},
                      {"flip_rate", s.flip_rate},
                      {"sittings", s.sittings},
                      {"sittings_that_chose_it", s.agreeing}});
  }
  result["shapes"] = shapes;
  if (explanation.choice.best) {
    result["best"] = *explanation.choice.best;
    result["flip_rate"] = explanation.flip_rate_on_the_whole;
  }
  return result;
}

}  // namespace hone
