// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/task_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

std::string TaskReportToJson(const TaskReport& report, int indent) {
  Json json;
  json["task"] = report.task;
  json["verdict"] = report.valid() ? "ok" : "invalid_task";
  json["problems"] = report.problems;
  json["warnings"] = report.warnings;
  json["device"] = report.device;
  json["seed"] = report.seed;
  json["seed_runs"] = report.seed_runs;
  json["seconds"] = report.seconds;
  json["hand"] = Json::array();
  for (const HandCheck& hand : report.hand) {
    json["hand"].push_back(
        {{"dims", hand.dims}, {"oracle_ok", hand.oracle_ok}, {"seed_ok", hand.seed_ok}, {"detail", hand.detail}});
  }
  json["inputs"] = Json::array();
  for (const InputInfluence& input : report.inputs) {
    json["inputs"].push_back({{"input", input.input},
                              {"scalar", input.scalar},
                              {"rms_change", NumberOrNull(input.rms_change)},
                              {"matters", input.matters}});
  }
  json["trivial"] = Json::array();
  for (const TrivialAnswer& trivial : report.trivial) {
    json["trivial"].push_back({{"output", trivial.output},
                               {"answer", trivial.answer},
                               {"max_scaled", NumberOrNull(trivial.max_scaled)},
                               {"rms_error", NumberOrNull(trivial.rms_error)},
                               {"accepted", trivial.accepted}});
  }
  json["precision"] = Json::array();
  for (const OutputPrecision& output : report.precision) {
    Json trials = Json::array();
    for (const PrecisionTrial& trial : output.trials) {
      trials.push_back({{"variant", trial.variant},
                        {"judgement", trial.judgement},
                        {"rms_error", NumberOrNull(trial.rms_error)},
                        {"max_scaled", NumberOrNull(trial.max_scaled)},
                        {"stress_max_scaled", NumberOrNull(trial.stress_max_scaled)},
                        {"max_small", NumberOrNull(trial.max_small)},
                        {"accepted", trial.accepted},
                        {"has_effect", trial.has_effect}});
    }
    json["precision"].push_back({{"output", output.output},
                                 {"c_max", output.tolerance.c_max},
                                 {"c_rms", output.tolerance.c_rms},
                                 {"honest_rms", NumberOrNull(output.honest_rms)},
                                 {"dishonest_rms", NumberOrNull(output.dishonest_rms)},
                                 {"least_dishonest", output.least_dishonest},
                                 {"gap", NumberOrNull(output.gap)},
                                 {"proposed_c_rms", NumberOrNull(report.module ? 0 : output.proposed_c_rms)},
                                 {"proposed_c_max", NumberOrNull(report.module ? 0 : output.proposed_c_max)},
                                 {"proposed_c_small", NumberOrNull(report.module ? 0 : output.proposed_c_small)},
                                 {"trials", trials}});
  }
  json["cancelling"] = Json::array();
  for (const CancellingOutput& output : report.cancelling) {
    json["cancelling"].push_back({{"output", output.output},
                                  {"fewest", output.fewest},
                                  {"error", NumberOrNull(output.error)},
                                  {"value", NumberOrNull(output.value)},
                                  {"proposed_abs", NumberOrNull(output.proposed_abs)}});
  }
  json["whole_numbers"] = Json::array();
  for (const WholeNumbers& output : report.whole_numbers) {
    json["whole_numbers"].push_back({{"output", output.output},
                                     {"dtype", output.dtype},
                                     {"c_max", output.tolerance.c_max},
                                     {"c_rms", output.tolerance.c_rms},
                                     {"abs", output.tolerance.absolute}});
  }
  if (report.floor) {
    json["floor"] = {{"dims", report.floor->dims},
                     {"seed_us", report.floor->seed_us},
                     {"floor_us", report.floor->floor_us},
                     {"modelled", report.floor->modelled}};
  }
  return DumpJson(json, indent);
}

std::string TaskReportToText(const TaskReport& report) {
  std::string text = fmt::format("{} on {}, {:.1f} s\n", report.task, report.device, report.seconds);
  int reproduced = 0;
  for (const HandCheck& hand : report.hand) reproduced += hand.oracle_ok && hand.seed_ok ? 1 : 0;
  text += report.hand.empty() ? "  hand-worked cases   none\n" : fmt::format("  hand-worked cases   {} of {} reproduced\n", reproduced, report.hand.size());
  for (const HandCheck& hand : report.hand) {
    if (!hand.detail.empty()) text += fmt::format("    {}: {}\n", DimsText(hand.dims), hand.detail);
  }
  text += report.seed_runs == 0 ? "  seed                not checked\n" : fmt::format("  seed                checked {} times\n", report.seed_runs);
  if (report.floor) {
    text += fmt::format("  floor               the seed takes {}{:.2f} us for {}, the floor is {:.2f} us\n",
                        report.floor->modelled ? "a modelled " : "", report.floor->seed_us,
                        DimsText(report.floor->dims), report.floor->floor_us);
  }
  text += "  inputs              ";
  for (size_t i = 0; i < report.inputs.size(); ++i) {
    const InputInfluence& input = report.inputs[i];
    text += fmt::format("{}{} {} ({:.2g})", i == 0 ? "" : ", ", input.input,
                        input.matters ? "matters" : "DOES NOT MATTER", input.rms_change);
  }
  text += "\n";
  for (const TrivialAnswer& trivial : report.trivial) {
    text += fmt::format("  {:<19} as {}: {} (rms error {:.2g})\n", trivial.answer, trivial.output,
                        trivial.accepted ? "ACCEPTED" : "refused", trivial.rms_error);
  }
  for (const OutputPrecision& output : report.precision) {
    text += fmt::format("  precision of {}: c_rms = {:.3g}, c_max = {:.3g}\n", output.output, output.tolerance.c_rms,
                        output.tolerance.c_max);
    for (const PrecisionTrial& trial : output.trials) {
      if (!trial.has_effect && trial.judgement != "honest") continue;
      text += fmt::format("    {:<24} {:<10} rms {:<9.3g} max {:<9.3g} {}\n", trial.variant, trial.judgement,
                          trial.rms_error, std::max(trial.max_scaled, trial.stress_max_scaled),
                          trial.accepted ? "accepted" : "refused");
    }
    if (output.gap > 0) {
      text += fmt::format("    gap {:.3g} between honest and {}", output.gap, output.least_dishonest);
      text += report.module ? " on these small shapes; the tolerance was derived at larger ones" : fmt::format("; midpoint c_rms = {:.2g}", output.proposed_c_rms);
      if (!report.module && output.proposed_c_max > 0) text += fmt::format(", suggested c_max = {:.2g}", output.proposed_c_max);
      if (!report.module && output.proposed_c_small > 0) text += fmt::format(", suggested c_small = {:.2g}", output.proposed_c_small);
      text += "\n";
    }
    if (output.proposed_c_max == 0 && !output.trials.empty()) {
      const bool finite = std::all_of(output.trials.begin(), output.trials.end(), [](const PrecisionTrial& trial) {
        return trial.judgement != "honest" || std::isfinite(std::max(trial.max_scaled, trial.stress_max_scaled));
      });
      text += finite
                  ? fmt::format(
                        "    no c_max can be suggested: an honest kernel's {} is wrong by half its own size or more on "
                        "some "
                        "inputs. Results that cancel need `abs`; inputs may need another scale or offset\n",
                        output.output)
                  : fmt::format(
                        "    no c_max can be suggested: an honest kernel's {} is infinite or NaN where the oracle's is "
                        "finite. Give its inputs a smaller scale, or stress = false where hard values overflow\n",
                        output.output);
    }
  }
  for (const WholeNumbers& output : report.whole_numbers) {
    text += fmt::format("  precision of {}: {}", output.output, output.dtype);
    const Tolerance& t = output.tolerance;
    if (t.absolute == 0 && t.c_max == 0) {
      text += ", right where it equals the oracle's; no lower precision is tried on whole numbers\n";
    } else {
      text +=
          fmt::format(", c_rms = {:.3g}, c_max = {:.3g}, abs = {:.3g}; no lower precision is tried on whole numbers\n",
                      t.c_rms, t.c_max, t.absolute);
    }
  }
  for (const std::string& warning : report.warnings) text += "  warning: " + warning + "\n";
  for (const std::string& problem : report.problems) text += "  problem: " + problem + "\n";
  text += report.valid() ? "ok" : "invalid_task";
  return text;
}

}  // namespace hone
