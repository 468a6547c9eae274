// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/evaluation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/core/evaluation/finding_text.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/plan/fallback_text.h"
#include "tuner/report/terminal_rows.h"

namespace hone {
namespace {

std::string EvaluatedTime(double us) {
  if (us >= 1e6) return fmt::format("{:.3f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3f} ms", us / 1e3);
  return fmt::format("{:.2f} us", us);
}

}  // namespace

std::string WhatRepeatsIt(const Evaluation& evaluation, bool seed_was_given) {
  switch (evaluation.verdict) {
    case Verdict::kCrashed:
    case Verdict::kTimedOut:
    case Verdict::kWrongOutput:
    case Verdict::kRuleViolation:
    case Verdict::kLaunchError:
      break;
    default:
      return "";
  }
  if (evaluation.seed == 0 || seed_was_given) return "";
  return fmt::format("  --seed {} repeats this verdict, with the same inputs and hidden cases.\n", evaluation.seed);
}

std::string Indented(std::string_view text) {
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string DescribeEvaluation(const Evaluation& evaluation, int columns) {
  std::string out = fmt::format("{}  {} on {}: {}\n", evaluation.task, evaluation.candidate, evaluation.device,
                                VerdictName(evaluation.verdict));
  out += Indented(evaluation.detail);
  if (evaluation.verdict == Verdict::kParseError) {
    out += "  docs/candidate-format.md describes launch plans, and `hone new` writes one for a kernel and its launch\n";
  }
  if (evaluation.guarantee != "full") out += "  guarantee: " + evaluation.guarantee + "\n";
  if (std::find(evaluation.labels.begin(), evaluation.labels.end(), "untimed") != evaluation.labels.end())
    out += "  untimed: without a GPU a module runs on the CPU, where no time counts\n";
  if (const std::string served = DescribeFallback(evaluation); !served.empty()) out += "  " + served + "\n";
  const char* unit = evaluation.modelled ? "modelled " : "";
  bool header = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    if (columns != 0 && columns < 130) {
      out += FlowPieces({DimsText(c.dims)}, 2, columns);
      const bool spread = !evaluation.modelled;
      out += FlowPieces(
          {unit + EvaluatedTime(c.time_us->median) +
               (spread ? fmt::format(" +-{:.1f}%", 50 * (c.time_us->high - c.time_us->low) / c.time_us->median) : ""),
           c.baseline_us ? "baseline " + EvaluatedTime(*c.baseline_us) : "",
           c.speedup ? fmt::format("{:.3f}x", c.speedup->median) +
                           (spread ? fmt::format(" [{:.3f}, {:.3f}]", c.speedup->low, c.speedup->high) : "")
                     : "",
           c.floor_us ? "floor " + EvaluatedTime(*c.floor_us) : "",
           c.floor_fraction ? fmt::format("{:.0f} % of it", 100 * *c.floor_fraction) : "",
           c.timing.status + (c.timing.decision.empty() ? "" : ", " + c.timing.decision),
           c.fallback ? "the seed ran" : ""},
          4, columns);
      continue;
    }
    if (!header) {
      out += fmt::format("  {:<34} {:>22} {:>12} {:>20} {:>12} {:>8}  {}\n", "case", fmt::format("{}time (95 %)", unit),
                         "baseline", "speedup (95 %)", "floor", "of it", "timing");
      header = true;
    }
    std::string dims;
    for (const auto& [name, value] : c.dims) dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
    out += fmt::format("  {:<34} {:>22} {:>12} {:>20} {:>12} {:>8}  {}\n", dims,
                       evaluation.modelled ? EvaluatedTime(c.time_us->median)
                                           : fmt::format("{} +-{:.1f}%", EvaluatedTime(c.time_us->median),
                                                         50 * (c.time_us->high - c.time_us->low) / c.time_us->median),
                       c.baseline_us ? EvaluatedTime(*c.baseline_us) : "-",
                       c.speedup ? (evaluation.modelled ? fmt::format("{:.3f}x", c.speedup->median)
                                                        : fmt::format("{:.3f}x [{:.3f}, {:.3f}]", c.speedup->median,
                                                                      c.speedup->low, c.speedup->high))
                                 : "-",
                       c.floor_us ? EvaluatedTime(*c.floor_us) : "-",
                       FloorIsWrong(c)    ? "wrong"
                       : c.floor_fraction ? fmt::format("{:.0f} %", 100 * *c.floor_fraction)
                                          : "-",
                       fmt::format("{}{}{}{}", c.timing.status, c.timing.decision.empty() ? "" : ", ",
                                   c.timing.decision, c.fallback ? ", the seed ran" : ""));
  }
  for (const CaseResult& c : evaluation.cases) {
    if (!FloorIsWrong(c)) continue;
    out += fmt::format(
        "  the floor of {} is wrong: the kernel takes {}{}, {:.1f} times as fast as the floor of {}, so a launch moves "
        "fewer bytes than the task counts; say them under [work] bytes in its task.toml\n",
        DimsText(c.dims), evaluation.modelled ? "a modelled " : "", EvaluatedTime(c.time_us->median), *c.floor_fraction,
        EvaluatedTime(*c.floor_us));
  }
  for (const CaseResult& c : evaluation.cases) {
    if (!c.calls_us || !c.time_us || !(c.time_us->median > 0)) continue;
    // On a GPU the calls were timed alone, so that the kernels' part is what is left of the whole.
    const double calls = *c.calls_us, whole = c.time_us->median, kernels = std::max(0.0, whole - calls);
    out += fmt::format("  library calls take {0}{1} of {2}, {3:.0f} %, and the plan's own kernels {4}, {5:.0f} %, at {6}\n", unit, EvaluatedTime(calls), EvaluatedTime(whole),
                       std::min(100.0, 100 * calls / whole), EvaluatedTime(kernels), 100 * kernels / whole, DimsText(c.dims));
  }
  if (evaluation.geomean_speedup) {
    out += fmt::format("  geometric mean of the {}speedups over {}: {:.3f}x\n", unit,
                       evaluation.baseline.empty() ? "the baseline" : evaluation.baseline, *evaluation.geomean_speedup);
  }
  int checked = 0;
  for (const CaseResult& c : evaluation.cases) checked += c.role != CaseRole::kTime;
  const auto by_hand = evaluation.metrics.find("hand_cases");
  if (evaluation.verdict == Verdict::kOk && checked == 0 && evaluation.guarantee != "full") {
    // A Python module is tried at the sizes of the timed cases alone.
    out += fmt::format("  right at the sizes of {} timed case{}, the only ones that a Python module is tried at\n",
                       evaluation.cases.size(), evaluation.cases.size() == 1 ? "" : "s");
  } else if (evaluation.verdict == Verdict::kOk) {
    out += fmt::format("  right on {} check and hidden cases{}\n", checked,
                       by_hand == evaluation.metrics.end() ? "" : fmt::format(" and {} worked out by hand", by_hand->second));
  }
  for (const KernelResources& r : evaluation.resources) {
    if (r.registers < 0) continue;
    out += fmt::format("  {}: {} registers, {} bytes spilled, {} + {} bytes shared\n", r.kernel, r.registers,
                       r.spill_bytes, r.static_shared_bytes, r.dynamic_shared_bytes);
  }
  for (const Finding& f : evaluation.findings) {
    // Leave out advice about speed for a kernel that is wrong, because it must be made right first.
    if (evaluation.verdict != Verdict::kOk && IsAdvice(f.kind)) continue;
    // Leave out a finding that the verdict's detail already contains.
    if (evaluation.detail.find(f.message) != std::string::npos) continue;
    const bool placed = f.location.empty() || f.message.ends_with("at " + f.location);
    out += fmt::format("  {}: {}{}{}\n", f.kind, f.message, placed ? "" : " at " + f.location, FindingShapes(f));
  }
  std::string stages;
  for (const Stage& s : evaluation.stages) stages += fmt::format("{}{} {:.2f} s", stages.empty() ? "" : ", ", s.name, s.seconds);
  out += fmt::format("  {:.2f} s in all ({})\n", evaluation.wall_seconds, stages);
  return out;
}

}  // namespace hone
