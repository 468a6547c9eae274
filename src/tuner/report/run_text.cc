// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/run_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tuner/report/diff.h"
#include "tuner/store/run_options.h"

namespace hone {
namespace {

using Json = nlohmann::json;

std::string Clip(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  size_t end = width - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string TimeText(double us) {
  if (us >= 1e6) return fmt::format("{:.3f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.3f} ms", us / 1e3);
  return fmt::format("{:.2f} us", us);
}

std::string VerdictText(const RunNode& node) {
  if (node.state == NodeState::kUnusable) return node.problem;
  if (!node.evaluation) return "waiting";
  return std::string(VerdictName(node.evaluation->verdict));
}

std::string CaseTable(const Evaluation& evaluation) {
  std::string text;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    text += fmt::format("  {:<28} {:>12}", DimsText(c.dims), TimeText(c.time_us->median));
    if (c.baseline_us) text += fmt::format("  was {:>12}", TimeText(*c.baseline_us));
    if (c.speedup) text += fmt::format("  {:>22}", SpeedupText(*c.speedup, evaluation.modelled));
    if (c.floor_fraction) text += fmt::format("  {:.0f} % of the floor's speed", 100 * *c.floor_fraction);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string DimsText(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string DurationText(double seconds) {
  const auto total = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string SpeedupText(const Interval& speedup, bool modelled) {
  if (modelled) return fmt::format("{:.3f}x modelled", speedup.median);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", speedup.median, speedup.low, speedup.high);
}

std::string RunsTable(const std::vector<RunInfo>& runs) {
  if (runs.empty()) return "No runs yet: `hone optimize TASK` makes one.\n";
  std::string text = fmt::format("{:<22} {:<17} {:<20} {:<9} {:<18} {:<10} {:>7}  {}\n", "run", "started (UTC)", "task",
                                 "strategy", "model", "device", "events", "state");
  for (const RunInfo& run : runs) {
    text += fmt::format("{:<22} {:%Y-%m-%d %H:%M}  {:<20} {:<9} {:<18} {:<10} {:>7}  {}\n", run.id,
                        fmt::gmtime(static_cast<std::time_t>(run.started)), Clip(run.task, 20), run.strategy,
                        Clip(run.model, 18), run.device, run.events, run.state);
  }
  return text;
}

std::string NodeLine(const RunView& view, const RunNode& node) {
  std::string gain;
  if (node.id == 0)
    gain = node.evaluation && node.evaluation->verdict == Verdict::kOk ? "1.000x" : "";
  else if (node.gain)
    gain = fmt::format("{:.3f}x", node.gain->median);
  const char* fate = node.id == 0 ? "the start" : node.kept ? "kept" : "";
  const std::string speedup =
      node.kept && node.speedup ? fmt::format("{:.3f}x so far{}", *node.speedup, view.info.modelled ? ", modelled" : "")
                                : "";
  std::string line = fmt::format("{:>4}  {:<30} {:<18} {:>8}  {:<9} {}", node.id, Clip(node.idea, 30),
                                 VerdictText(node), gain, fate, speedup);
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string ResultText(const RunView& view) {
  const bool modelled = view.info.modelled;
  std::string text;
  int right = 0, kept = 0;
  for (const RunNode& n : view.nodes) {
    right += n.id != 0 && n.evaluation && n.evaluation->verdict == Verdict::kOk;
    kept += n.kept;
  }
  if (view.seed_broken) {
    const Evaluation& e = *view.node(0).evaluation;
    return fmt::format("The seed itself is not right ({}): {}\n", VerdictName(e.verdict), e.detail);
  }
  text += fmt::format("{} attempt{}, {} right, {} kept; {} evaluations in {}.\n", view.attempts,
                      view.attempts == 1 ? "" : "s", right, kept, view.evaluations, DurationText(view.seconds));
  if (view.asked_again > 0) text += fmt::format("{} request(s) had to be asked again.\n", view.asked_again);
  if (view.best == 0) {
    text += "Nothing was found that is surely faster than the seed.\n";
    if (!view.provider_failure.empty()) text += "The model did not answer: " + view.provider_failure + "\n";
    return text;
  }
  if (!view.final_result) {
    const RunNode& best = view.node(view.best);
    text += fmt::format(
        "Best so far: node {} ({}), about {:.3f}x of the seed{} by the chain of its steps; the final "
        "pairing with the seed has not been run.\n",
        best.id, best.idea, best.speedup.value_or(1.0), modelled ? ", modelled," : "");
    return text;
  }
  const Evaluation& e = view.final_result->evaluation;
  if (e.verdict != Verdict::kOk) {
    text += fmt::format("The best (node {}) failed its final check with fresh hidden cases: {}. {}\nDo not use it.\n",
                        view.final_result->node, VerdictName(e.verdict), e.detail);
    return text;
  }
  int timed = 0, surely_faster = 0, surely_slower = 0, checked = 0;
  double low = 1e300, high = 0;
  for (const CaseResult& c : e.cases) {
    checked += c.role != CaseRole::kTime;
    if (!c.speedup) continue;
    ++timed;
    surely_faster += c.speedup->low > 1.0;
    surely_slower += c.speedup->high < 1.0;
    low = std::min(low, c.speedup->median);
    high = std::max(high, c.speedup->median);
  }
  text += fmt::format("Node {} is {:.3f}x as fast as the seed{} (geometric mean of {} shapes; {:.3f}x to {:.3f}x).\n",
                      view.final_result->node, e.geomean_speedup.value_or(1.0), modelled ? ", modelled" : "", timed,
                      low, high);
  if (modelled) {
    text +=
        "How sure: its results were checked by execution on the simulated device; its times are modelled, not "
        "measured. Time it on a GPU before you rely on the figure.\n";
  } else {
    text += fmt::format(
        "How sure: paired with the seed once more, interleaved, on fresh inputs; faster beyond its 95 % interval in "
        "{} of {} shapes, slower in {}.\n",
        surely_faster, timed, surely_slower);
  }
  if (checked > 0) text += fmt::format("Right on {} check and hidden cases.\n", checked);
  if (e.guarantee != "full") text += "Guarantee: " + e.guarantee + "\n";
  text += CaseTable(e);
  return text;
}

std::string RunText(const RunView& view) {
  std::string text =
      fmt::format("Run {}: {} on {}, strategy {}, model {}, {}\n", view.info.id, view.info.task, view.info.device,
                  view.options.strategy, view.options.model, view.ended.empty() ? "open" : view.ended);
  text += fmt::format("{:>4}  {:<30} {:<18} {:>8}  {}\n", "node", "idea", "verdict", "gain", "");
  for (const RunNode& node : view.nodes) text += NodeLine(view, node) + "\n";
  return text + "\n" + ResultText(view);
}

Result<std::string> NodeText(RunStore& store, const RunView& view, int64_t id, bool full) {
  if (id < 0 || id >= static_cast<int64_t>(view.nodes.size())) {
    return Status::NotFound(
        fmt::format("run {} has nodes 0 to {}, but not {}", view.info.id, view.nodes.size() - 1, id));
  }
  const RunNode& node = view.node(id);
  std::string text = fmt::format("Node {} of run {}: {}\n", id, view.info.id, node.idea);
  if (node.parent >= 0) text += fmt::format("from node {} ({})\n", node.parent, view.node(node.parent).idea);
  text += fmt::format("verdict: {}{}\n", VerdictText(node), node.kept ? ", kept" : "");
  if (!node.detail.empty()) text += node.detail + "\n";
  if (node.evaluation) {
    if (!node.evaluation->detail.empty()) text += node.evaluation->detail + "\n";
    if (node.gain) {
      text += fmt::format("gain over node {}: {}\n", std::max<int64_t>(node.incumbent, 0),
                          SpeedupText(*node.gain, view.info.modelled));
    }
    text += CaseTable(*node.evaluation);
    for (const Finding& f : node.evaluation->findings)
      text += fmt::format("  {}: {} {}\n", f.kind, f.message, f.location);
  }
  std::string points;
  for (const SweepPoint& p : view.sweep) {
    if (p.node != id) continue;
    points += fmt::format("  {:<40} {:<14} {}\n", BindingKey(p.binding), VerdictName(p.evaluation.verdict),
                          p.evaluation.geomean_speedup ? fmt::format("{:.3f}x", *p.evaluation.geomean_speedup) : "");
  }
  if (!points.empty()) text += "swept:\n" + points;
  if (!node.reasoning.empty()) text += "\n" + node.reasoning + "\n";
  if (!node.source_hash.empty()) {
    HONE_ASSIGN_OR_RETURN(std::string source, store.Source(node.source_hash));
    if (node.parent >= 0) {
      HONE_ASSIGN_OR_RETURN(std::string parent, store.Source(view.node(node.parent).source_hash));
      text += "\n" + UnifiedDiff(parent, source, fmt::format("node-{}.cu", node.parent), fmt::format("node-{}.cu", id));
    } else {
      text += "\n" + source;
    }
  }
  if (!full || node.request < 0) return text;
  HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(view.info.id));
  for (const Event& event : events) {
    if (event.kind != EventKind::kRequest && event.kind != EventKind::kReply) continue;
    const Json payload = Json::parse(event.payload, nullptr, false);
    if (!payload.is_object() || payload.value("number", int64_t{-1}) != node.request) continue;
    if (event.kind == EventKind::kReply) {
      if (!payload.contains("text")) continue;
      HONE_ASSIGN_OR_RETURN(std::string reply, store.Source(payload["text"].get<std::string>()));
      text += fmt::format("\n=== reply of {} ===\n{}\n", payload.value("provider", ""), reply);
    } else {
      for (const Json& message : payload.value("messages", Json::array())) {
        HONE_ASSIGN_OR_RETURN(std::string message_text, store.Source(message.at("text").get<std::string>()));
        text += fmt::format("\n=== {} (request {}) ===\n{}\n", message.value("role", ""), node.request, message_text);
      }
    }
  }
  return text;
}

std::string RunToJson(const RunView& view, int indent) {
  Json nodes = Json::array();
  for (const RunNode& n : view.nodes) {
    Json node = {{"id", n.id},
                 {"parent", n.parent},
                 {"origin", n.origin},
                 {"idea", n.idea},
                 {"verdict", VerdictText(n)},
                 {"kept", n.kept},
                 {"source", n.source_hash},
                 {"seconds", n.seconds},
                 {"request", n.request}};
    if (!n.problem.empty()) node["problem"] = n.problem;
    if (!n.detail.empty()) node["detail"] = n.detail;
    if (n.gain)
      node["gain"] = {{"median", n.gain->median},
                      {"ci95", {n.gain->low, n.gain->high}},
                      {"over", std::max<int64_t>(n.incumbent, 0)}};
    if (n.speedup) node["speedup_estimate"] = *n.speedup;
    nodes.push_back(std::move(node));
  }
  Json json = {
      {"run", view.info.id},
      {"task", view.info.task},
      {"device", view.info.device},
      {"modelled", view.info.modelled},
      {"strategy", view.options.strategy},
      {"model", view.options.model},
      {"state", view.ended.empty() ? "open" : view.ended},
      {"options", RunOptionsToJson(view.options)},
      {"attempts", view.attempts},
      {"evaluations", view.evaluations},
      {"requests", view.requests},
      {"asked_again", view.asked_again},
      {"seconds", view.seconds},
      {"best", view.best},
      {"tokens", {{"input", view.usage.input}, {"output", view.usage.output}, {"estimated", view.usage.estimated}}},
      {"cost_usd", view.cost_usd},
      {"nodes", std::move(nodes)}};
  if (view.final_result) {
    json["final"] = {{"node", view.final_result->node},
                     {"evaluation", Json::parse(EvaluationToJson(view.final_result->evaluation, -1), nullptr, false)}};
  }
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hone
