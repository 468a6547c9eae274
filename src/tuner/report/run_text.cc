// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/run_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "hone/tuner/library_text.h"
#include "tuner/core/evaluation/finding_text.h"
#include "tuner/agents/diff.h"
#include "tuner/report/conversation.h"
#include "tuner/report/spend.h"
#include "tuner/report/terminal_rows.h"
#include "tuner/run/log/cost_text.h"
#include "tuner/run/log/run_options.h"
#include "tuner/run/log/grounding.h"
#include "tuner/run/log/repairs.h"
#include "tuner/run/log/run_standing.h"
#include "tuner/run/log/structure_rate.h"

namespace hone {
namespace {

using Json = nlohmann::json;

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

// Returns a line for each timed case: time, floor and speedup. `columns`: the terminal's width, 0: unlimited.
std::string CaseTable(const Evaluation& evaluation, int columns = 0) {
  std::string text;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    if (columns != 0 && columns < 130) {
      const bool interval = !evaluation.modelled && c.time_us->high > c.time_us->low;
      text += FlowPieces({DimsText(c.dims)}, 2, columns);
      text += FlowPieces({TimeText(c.time_us->median) +
                        (interval ? fmt::format(" [{}, {}]", TimeText(c.time_us->low), TimeText(c.time_us->high)) : ""),
                    c.baseline_us ? "was " + TimeText(*c.baseline_us) : "",
                    c.speedup ? SpeedupText(*c.speedup, evaluation.modelled) : "",
                    c.floor_fraction ? fmt::format("{:.0f} % of the floor's speed", 100 * *c.floor_fraction) : ""},
                   4, columns);
      continue;
    }
    text += fmt::format("  {:<28} {:>12}", DimsText(c.dims), TimeText(c.time_us->median));
    if (!evaluation.modelled && c.time_us->high > c.time_us->low) {
      text += fmt::format(" [{}, {}]", TimeText(c.time_us->low), TimeText(c.time_us->high));
    }
    if (c.baseline_us) text += fmt::format("  was {:>12}", TimeText(*c.baseline_us));
    if (c.speedup) text += fmt::format("  {:>22}", SpeedupText(*c.speedup, evaluation.modelled));
    if (c.floor_fraction) text += fmt::format("  {:.0f} % of the floor's speed", 100 * *c.floor_fraction);
    text += "\n";
  }
  return text;
}

Json NodeJson(const RunNode& n) {
  Json node = {{"id", n.id},
               {"parent", n.parent},
               {"origin", n.origin},
               {"idea", n.idea},
               {"verdict", VerdictText(n)},
               {"kept", n.kept},
               {"source", n.source_hash.hex()},
               {"seconds", n.seconds},
               {"request", n.request}};
  if (!n.problem.empty()) node["problem"] = n.problem;
  if (!n.detail.empty()) node["detail"] = n.detail;
  if (n.gain)
    node["gain"] = {
        {"median", n.gain->median}, {"ci95", {n.gain->low, n.gain->high}}, {"over", std::max<int64_t>(n.incumbent, 0)}};
  if (n.speedup) node["speedup_estimate"] = *n.speedup;
  if (!n.predicted_us.empty()) node["predicted_us"] = n.predicted_us;
  if (n.hint) {
    node["hint"] = {{"hint", n.hint->hint}};
    if (!n.hint->finding.empty()) {
      node["hint"].update({{"finding", n.hint->finding},
                           {"kernel", n.hint->kernel},
                           {"location", n.hint->location},
                           {"gain", n.hint->gain}});
    }
  }
  return node;
}

}  // namespace

std::string HintText(const GivenHint& hint) {
  if (hint.finding.empty()) return "hint: " + hint.hint;
  return fmt::format("hint: {}, for the finding {}{} (up to {:.0f} % of a launch's time)", hint.hint, hint.finding,
                     hint.location.empty() ? "" : " at " + hint.location, 100 * hint.gain);
}

std::string DurationText(double seconds) {
  const auto total = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string TokensText(int64_t tokens) {
  if (tokens < 1000) return std::to_string(tokens);
  if (tokens < 1'000'000) return fmt::format("{:.1f}k", static_cast<double>(tokens) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(tokens) / 1e6);
}

std::string SpeedupText(const Interval& speedup, bool modelled) {
  if (modelled) return fmt::format("{:.3f}x modelled", speedup.median);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", speedup.median, speedup.low, speedup.high);
}

RunTally Tally(const RunView& view) {
  RunTally tally;
  for (const RunNode& n : view.nodes) {
    if (n.id == 0) continue;
    const bool is_right = n.evaluation && n.evaluation->verdict == Verdict::kOk;
    if (n.origin == "sweep") {
      tally.kept_of_sweeps += n.kept;
    } else {
      tally.right += is_right;
      tally.kept += n.kept;
    }
  }
  tally.swept_bindings = static_cast<int64_t>(view.sweep.size());
  return tally;
}

std::string SweepsText(const RunTally& tally) {
  if (tally.swept_bindings == 0) return "";
  return fmt::format("{} binding{} swept, {} kept", tally.swept_bindings, tally.swept_bindings == 1 ? "" : "s",
                     tally.kept_of_sweeps);
}

std::string NodeHeader(int columns) { return RowText({"node", "idea", "verdict", "gain", "", ""}, columns); }

std::string NodeLine(const RunView& view, const RunNode& node, int columns) {
  OutcomeRow row;
  row.number = std::to_string(node.id);
  row.label = node.idea;
  row.verdict = VerdictText(node);
  if (node.id == 0) {
    row.figure = node.evaluation && node.evaluation->verdict == Verdict::kOk ? "1.000x" : "";
    row.fate = columns == 0 || columns >= 102 ? "the start" : "start";
  } else if (node.gain) {
    row.figure = fmt::format("{:.3f}x", node.gain->median);
  }
  if (node.id != 0 && node.kept) row.fate = "kept";
  if (node.rejected) row.fate = "rejected";
  if (node.kept && !node.rejected && node.speedup) {
    row.so_far = fmt::format("{:.3f}x so far{}", *node.speedup, view.info.modelled ? ", modelled" : "");
  }
  return RowText(row, columns);
}

double SweptSpeed(const SweepPoint& point) {
  return point.evaluation.verdict == Verdict::kOk ? point.evaluation.geomean_speedup.value_or(0) : -1;
}

std::string SweepLine(const SweepPoint& point, int columns) {
  OutcomeRow row;
  row.label = BindingKey(point.binding);
  row.verdict = VerdictName(point.evaluation.verdict);
  if (point.evaluation.geomean_speedup) row.figure = fmt::format("{:.3f}x", *point.evaluation.geomean_speedup);
  return RowText(row, columns);
}

std::string BaselineText(const RunView& view) {
  if (!view.from_oracle) return "";
  std::string text = view.from_module ? fmt::format("The task has no seed: speedups are over its PyTorch module in eager mode{}.\n",
                                                    view.info.modelled ? ", whose time is modelled too" : "")
                                      : "The task has no seed: speedups are over its oracle made into a kernel, simple code in double precision that is "
                                        "right and slow.\n";
  const auto first = std::find_if(view.nodes.begin(), view.nodes.end(), [](const RunNode& n) {
    return n.origin == "reply" && n.evaluation && n.evaluation->verdict == Verdict::kOk && n.speedup;
  });
  if (first == view.nodes.end() || view.best == 0) return text;
  if (first->id == view.best) return text + fmt::format("The best (node {}) is the first right version.\n", view.best);
  return text + fmt::format("Over the first right version (node {}) the best (node {}) is about {:.3f}x{}, by the chain of "
                            "its steps.\n",
                            first->id, view.best, view.node(view.best).speedup.value_or(1.0) / *first->speedup,
                            view.info.modelled ? ", modelled" : "");
}

std::string ShapesText(const Evaluation& e) {
  int timed = 0;
  double low = 1e300, high = 0;
  for (const CaseResult& c : e.cases) {
    if (!c.speedup) continue;
    ++timed;
    low = std::min(low, c.speedup->median);
    high = std::max(high, c.speedup->median);
  }
  if (timed == 0) return "no shape was timed";
  return timed == 1 ? std::string("at the one timed shape")
                    : fmt::format("geometric mean of {} shapes; {:.3f}x to {:.3f}x", timed, low, high);
}

std::string FormText(const RunView& view) {
  std::string text;
  if (const GroundingCount grounding = CountGrounding(view); grounding.any()) {
    text = fmt::format("Held to plans: {}.\n", GroundingText(grounding));
  }
  const RepairCount repairs = CountRepairs(view);
  if (repairs.failures > 0) text += fmt::format("Failures: {}.\n", RepairText(repairs));
  if (const std::string refused = RefusedText(repairs); !refused.empty()) text += fmt::format("Replies refused and told why: {}.\n", refused);
  const StructureCount count = CountStructure(view);
  if (count.failed() == 0) return text;
  return text + fmt::format("Lost to form: {}: {} could not be put in place, {} did not compile for their structure.\n",
                     StructureText(count), count.not_applied, count.broken);
}

std::string FoundNothingText(const RunView& view) {
  return fmt::format("{} that is surely faster than {}", IsOver(view) ? "Nothing was found" : "The run is not over, and nothing is known yet", StartName(view));
}

// Returns a sentence about the versions that failed their final checks; empty: there are none.
std::string RejectedText(const RunView& view) {
  std::vector<int64_t> rejected;
  for (const RunNode& node : view.nodes) {
    if (node.rejected) rejected.push_back(node.id);
  }
  if (rejected.empty()) return "";
  const bool one = rejected.size() == 1;
  std::string text = fmt::format("Node{} {} failed {} with fresh hidden cases", one ? "" : "s", fmt::join(rejected, ", "), one ? "its final check" : "their final checks");
  if (view.final_result && view.final_result->evaluation.verdict != Verdict::kOk) {
    const Evaluation& e = view.final_result->evaluation;
    text += fmt::format(": {}{}. {}\nDo not use {}.\n", one ? "" : fmt::format("node {} last, ", view.final_result->node), VerdictName(e.verdict), e.detail, one ? "it" : "them");
    return text;
  }
  return text + fmt::format(". Do not use {}.\n", one ? "it" : "them");
}

// Returns OutcomeText without the versions that failed their final checks.
std::string FoundText(const RunView& view) {
  const bool modelled = view.info.modelled;
  const std::string start = StartName(view);
  if (view.seed_broken) {
    const Evaluation& e = *view.node(0).evaluation;
    return fmt::format("{} itself is not right ({}): {}\n", view.from_module ? "The module in PyTorch" : view.from_oracle ? "The oracle's kernel" : "The seed",
                       VerdictName(e.verdict), e.detail);
  }
  std::string text;
  if (view.best == 0) {
    text = FoundNothingText(view) + ".\n";
    if (!view.provider_failure.empty()) text += "The model did not answer: " + view.provider_failure + "\n";
    return text;
  }
  if (!view.final_result || view.final_result->node != view.best) {
    const RunNode& best = view.node(view.best);
    return fmt::format(
        "Best so far: node {} ({}), about {:.3f}x of {}{} by the chain of its steps; the final "
        "pairing with {} has not been run.\n",
        best.id, best.idea, best.speedup.value_or(1.0), start, modelled ? ", modelled," : "", start);
  }
  const Evaluation& e = view.final_result->evaluation;
  if (e.verdict != Verdict::kOk) {
    return fmt::format("The best (node {}) failed its final check with fresh hidden cases: {}. {}\nDo not use it.\n",
                       view.final_result->node, VerdictName(e.verdict), e.detail);
  }
  int timed = 0, surely_faster = 0, surely_slower = 0, checked = 0;
  for (const CaseResult& c : e.cases) {
    checked += c.role != CaseRole::kTime;
    if (!c.speedup) continue;
    ++timed;
    surely_faster += c.speedup->low > 1.0;
    surely_slower += c.speedup->high < 1.0;
  }
  if (modelled) {
    text =
        "How sure: its results were checked by execution on the simulated device; its times are modelled, not "
        "measured. Time it on a GPU before you rely on the figure.\n";
  } else {
    text = fmt::format(
        "How sure: paired with {} once more, interleaved, on fresh inputs; faster beyond its 95 % interval in "
        "{} of {} shapes, slower in {}.\n",
        start, surely_faster, timed, surely_slower);
  }
  if (checked > 0) text += fmt::format("Right on {} check and hidden cases.\n", checked);
  if (e.guarantee != "full") text += "Guarantee: " + e.guarantee + "\n";
  return text;
}

std::string OutcomeText(const RunView& view) { return FoundText(view) + RejectedText(view); }

std::string ResultText(const RunView& view, int columns) {
  if (view.seed_broken) return WrapText(OutcomeText(view), columns);
  const RunTally tally = Tally(view);
  std::string text = BaselineText(view);
  text += fmt::format("{} attempt{}: {} right, {} kept; {}{} evaluation{} in {}.\n", view.attempts,
                      view.attempts == 1 ? "" : "s", tally.right, tally.kept,
                      tally.swept_bindings == 0 ? "" : SweepsText(tally) + "; ", view.evaluations,
                      view.evaluations == 1 ? "" : "s", DurationText(view.seconds));
  if (view.asked_again > 0) {
    text += fmt::format("{} request{} had to be asked again.\n", view.asked_again, view.asked_again == 1 ? "" : "s");
  }
  text += SpentText(view) + FormText(view);
  const bool proven = view.best != 0 && view.final_result && view.final_result->node == view.best && view.final_result->evaluation.verdict == Verdict::kOk;
  if (!proven) return WrapText(text + OutcomeText(view), columns);
  const Evaluation& e = view.final_result->evaluation;
  text += fmt::format("Node {} is {:.3f}x as fast as {}{} ({}).\n", view.final_result->node,
                      e.geomean_speedup.value_or(1.0), StartName(view), view.info.modelled ? ", modelled" : "",
                      ShapesText(e));
  return WrapText(text + OutcomeText(view) + CaseTable(e, columns) + DescribeLibraries(e, "  "), columns);
}

std::string ReasonText(const RunView& view) {
  const std::string& why = view.ended;
  const RunOptions& o = view.options;
  if (why == "floor_reached") {
    return fmt::format("every timed shape runs at {:.0f} % or more of the speed that the device allows", 100 * o.floor_fraction);
  }
  if (why == "attempts_spent") return o.max_attempts == 1 ? std::string("the only attempt was used") : fmt::format("all {} attempts were used", o.max_attempts);
  if (why == "time_spent") return fmt::format("three quarters of {} were used; the rest is for the last measurements", DurationText(o.max_seconds));
  if (why == "tokens_spent") return fmt::format("{} tokens were used", TokensText(o.max_tokens));
  if (why == "money_spent") return fmt::format("${:.2f} were spent", o.max_cost_usd);
  if (why == "cost_unknown") return "a reply came without a known cost, and the run is bound by --max-cost";
  if (why == "no_more_ideas") return "the model has nothing more to propose";
  if (why == "depth_reached") return "the strategy's number of steps was done (refine.depth)";
  if (why == "rounds_done") return "the strategy's number of rounds was done";
  if (why == "provider_failed") return "the model did not answer";
  if (why == "seed_broken") return "what the run starts from is not right";
  if (why == "interrupted") return "it was stopped";
  if (why == "suspended") return "answers or evaluations are waited for";
  return why;
}

std::string SpentText(const RunView& view) {
  const int64_t tokens = view.usage.input + view.usage.output;
  if (tokens == 0 && view.cost_usd == 0 && view.unpriced_replies == 0) return "";
  std::string text = fmt::format("Spent: {}{} tokens in {} request{}, {}", view.usage.estimated ? "about " : "",
                                 TokensText(tokens), view.requests, view.requests == 1 ? "" : "s",
                                 CostText(view.cost_usd, view.unpriced_replies));
  if (view.unpriced_replies > 0) {
    text += fmt::format("{}; what {} of {} replies cost is not known", view.cost_usd > 0 ? "" : " cost",
                        view.unpriced_replies, view.replies);
  }
  return text + ".\n";
}

std::string RemarksText(const RunView& view, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, view.remarks.size()); ++i) {
    const RunRemark& remark = view.remarks[i];
    text += fmt::format("note{}: {}\n", remark.request < 0 ? "" : fmt::format(" on request {}", remark.request), remark.text);
  }
  if (view.remarks.size() > most) text += fmt::format("({} more notes: hone show {} --json)\n", view.remarks.size() - most, view.info.id);
  return text;
}

std::string JudgedOn(const RunView& view) {
  if (!view.info.device.starts_with("spool:")) return view.info.device;
  for (const RunNode& node : view.nodes) {
    if (node.evaluation && !node.evaluation->device.empty()) return node.evaluation->device;
  }
  return view.info.device;
}

std::string RunText(const RunView& view, int columns) {
  std::string text =
      fmt::format("Run {}: {} on {}, strategy {}, model {}, {}\n", view.info.id, view.info.task, JudgedOn(view),
                  view.options.strategy, view.options.model, view.ended.empty() ? "open" : view.ended);
  text = WrapText(text, columns) + NodeHeader(columns) + "\n";
  for (const RunNode& node : view.nodes) text += NodeLine(view, node, columns) + "\n";
  text += WrapText("A gain is over the version that was the best when its node was begun.\n", columns);
  return text + "\n" + ResultText(view, columns) + WrapText(GatesText(view), columns) +
         WrapText(RemarksText(view, 20), columns);
}

bool AsksNoModel(const RunView& view) { return view.options.model == "builtin"; }

int64_t VerdictsOfOlderGates(const RunView& view) {
  const auto older = [](const Evaluation& e) { return e.verdict == Verdict::kOk && e.gates < kGatesVersion; };
  int64_t count = view.final_result && older(view.final_result->evaluation);
  for (const RunNode& node : view.nodes) count += node.evaluation && older(*node.evaluation);
  return count;
}

std::string GatesText(const RunView& view) {
  const int64_t count = VerdictsOfOlderGates(view);
  if (count == 0) return "";
  return fmt::format("{} verdict{} \"ok\" of this run {} given before the gates were as they are (version {}). {}\n", count,
                     count == 1 ? "" : "s", count == 1 ? "was" : "were", kGatesVersion,
                     view.ended.empty() ? "When it goes on, the best is judged by the present ones at its end."
                                        : fmt::format("Judge the best again: hone show {} --source > best.cu, then "
                                                      "hone eval {} best.cu",
                                                      view.info.id, view.info.task));
}

std::string MismatchText(const Mismatch& m) {
  std::string index;
  for (const int64_t i : m.index) index += fmt::format("{}{}", index.empty() ? "" : ", ", i);
  return fmt::format("{}[{}] is {:.9g}, expected {:.9g}; {} of {} elements wrong, {}, {} inputs, seed {:#x}", m.tensor,
                     index, m.actual, m.expected, m.wrong_elements, m.total_elements, DimsText(m.dims), m.distribution,
                     m.seed);
}

bool TellsMismatch(const Evaluation& e) {
  return e.mismatch && e.detail.find(fmt::format("{} of {} elements wrong", e.mismatch->wrong_elements,
                                                 e.mismatch->total_elements)) != std::string::npos;
}

std::string ResourcesText(const Evaluation& e) {
  std::vector<std::string> parts;
  for (const KernelResources& r : e.resources) {
    std::string part = r.kernel + ": ";
    part += r.registers >= 0 ? fmt::format("{} registers", r.registers) : "registers not known";
    if (r.spill_bytes > 0) part += fmt::format(", {} bytes spilled", r.spill_bytes);
    if (r.static_shared_bytes + r.dynamic_shared_bytes > 0)
      part += fmt::format(", {} bytes shared", r.static_shared_bytes + r.dynamic_shared_bytes);
    if (r.occupancy > 0) part += fmt::format(", occupancy {:.0f} %", 100 * r.occupancy);
    // A plan may launch the same kernel in several alternatives: it is listed once.
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

namespace {

Status CheckNode(const RunView& view, int64_t id) {
  if (id >= 0 && id < static_cast<int64_t>(view.nodes.size())) return Status::Ok();
  return Status::NotFound(fmt::format("there is no node {}: {}", id, NodesText(view)));
}

Result<std::string> ExchangeText(RunStore& store, const Exchange& e) {
  std::string text;
  for (const auto& [role, hash] : e.messages) {
    HONE_ASSIGN_OR_RETURN(const std::string message, store.Source(hash));
    text +=
        fmt::format("\n=== {} (request {}{}) ===\n{}\n", role, e.number, e.role.empty() ? "" : ", " + e.role, message);
  }
  for (const std::string& note : e.notes) text += "\nnote: " + note + "\n";
  if (!e.reply.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string reply, store.Source(e.reply));
    text += fmt::format("\n=== reply of {}{} ({} tokens in, {} out, {}{:.1f} s) ===\n{}\n", e.provider,
                        e.model.empty() || e.model == e.provider ? "" : " " + e.model, e.input_tokens, e.output_tokens,
                        !e.cost_known      ? "cost not known, "
                        : e.cost_usd > 0 ? fmt::format("${:.4f}, ", e.cost_usd)
                                         : "",
                        e.seconds, reply);
  } else if (!e.error.empty()) {
    text += fmt::format("\n=== no reply: {} ===\n", e.error);
  } else {
    text += "\n=== no reply yet ===\n";
  }
  return text;
}

}  // namespace

Result<std::string> NodeText(RunStore& store, const RunView& view, int64_t id, bool prompts, int columns) {
  HONE_RETURN_IF_ERROR(CheckNode(view, id));
  const RunNode& node = view.node(id);
  std::string text = fmt::format("Node {} of run {}: {}\n", id, view.info.id, node.idea);
  if (node.parent >= 0) {
    text += fmt::format("{} from node {} ({})\n", node.purpose.empty() ? node.origin : node.purpose, node.parent,
                        view.node(node.parent).idea);
  }
  if (!node.turns.empty()) {
    std::string turns;
    for (const Turn& t : node.turns) {
      turns += fmt::format("{}{} (temperature {:g}", turns.empty() ? "" : ", then ", t.role, t.temperature);
      if (!t.shown.empty()) turns += fmt::format("; shown nodes {}", fmt::join(t.shown, ", "));
      turns += ")";
    }
    text += AsksNoModel(view) ? "made by a mechanical rewrite; no model was asked\n" : "asked: " + turns + "\n";
  }
  if (node.hint) text += HintText(*node.hint) + "\n";
  text += fmt::format("verdict: {}{}\n", VerdictText(node),
                      node.rejected ? ", rejected by the final check"
                      : node.kept   ? ", kept"
                                    : "");
  if (!node.repaired.empty())
    text += fmt::format("the first reply was unusable ({}) and was asked for again\n", node.repaired);
  if (!node.widened.empty())
    text += fmt::format("beside its plan's spans it took in {}\n", fmt::join(node.widened, ", "));
  if (!node.predicted_us.empty()) {
    std::string times;
    for (const double us : node.predicted_us) times += fmt::format("{}{}", times.empty() ? "" : ", ", TimeText(us));
    text += fmt::format("reckoned before it was measured: {}\n", times);
  }
  // Several records (a node's detail, its evaluation's, a finding, a memo) may contain the same sentence, which is
  // printed once.
  const auto say = [&text](const std::string& line) {
    if (!line.empty() && text.find(line) == std::string::npos) text += line + "\n";
  };
  say(node.detail);
  if (node.evaluation) {
    say(node.evaluation->detail);
    if (const auto& m = node.evaluation->mismatch; m && !TellsMismatch(*node.evaluation))
      say("first wrong: " + MismatchText(*m));
    if (node.gain) {
      text += fmt::format("gain over node {}: {}\n", std::max<int64_t>(node.incumbent, 0),
                          SpeedupText(*node.gain, view.info.modelled));
    }
    text += CaseTable(*node.evaluation, columns);
    if (!node.evaluation->resources.empty())
      text += WrapText("resources: " + ResourcesText(*node.evaluation) + "\n", columns);
    for (const Finding& f : node.evaluation->findings) {
      if (text.find(f.message) != std::string::npos) continue;
      const bool placed = f.location.empty() || f.message.ends_with("at " + f.location);
      text += fmt::format("  {}: {}{}{}\n", f.kind, f.message, placed ? "" : " at " + f.location, FindingShapes(f));
    }
  }
  std::vector<const SweepPoint*> points;
  for (const SweepPoint& p : view.sweep) {
    if (p.node == id) points.push_back(&p);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const SweepPoint* a, const SweepPoint* b) { return SweptSpeed(*a) > SweptSpeed(*b); });
  if (!points.empty()) text += "swept, the fastest first:\n";
  for (const SweepPoint* p : points) text += SweepLine(*p, columns) + "\n";
  for (const Memo& memo : view.memos) {
    if (memo.node != id) continue;
    text += fmt::format("\n--- {}{} ---\n", memo.kind,
                        memo.regions.empty() ? "" : fmt::format(" (regions {})", fmt::join(memo.regions, ", ")));
    for (const PlanSpan& s : memo.spans) {
      text += s.last < s.first ? fmt::format("marks the place for a new region {}\n", s.region)
              : s.whole        ? fmt::format("marks the region {}\n", s.region)
                               : fmt::format("marks {} line{} of {}\n", s.last - s.first + 1, s.last == s.first ? "" : "s", s.region);
    }
    if (!memo.problem.empty()) {
      text += memo.problem + (text.find(memo.detail) == std::string::npos ? ": " + memo.detail : "") + "\n";
    }
    if (memo.idea != node.idea && !memo.idea.empty()) text += memo.idea + "\n";
    if (!memo.text.empty()) text += memo.text + "\n";
  }
  if (!node.reasoning.empty() && text.find(node.reasoning) == std::string::npos) text += "\n" + node.reasoning + "\n";
  if (!node.source_hash.empty()) {
    HONE_ASSIGN_OR_RETURN(std::string source, store.Source(node.source_hash));
    const bool parent_has_source = node.parent >= 0 && !view.node(node.parent).source_hash.empty();
    if (parent_has_source) {
      HONE_ASSIGN_OR_RETURN(std::string parent, store.Source(view.node(node.parent).source_hash));
      text += "\n" + UnifiedDiff(parent, source, fmt::format("node-{}.cu", node.parent), fmt::format("node-{}.cu", id));
    } else {
      text += "\n" + source;
    }
  }
  if (!prompts) return text;
  HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(view.info.id));
  for (const Exchange& e : ReadExchanges(events)) {
    if (!BelongsTo(e, node)) continue;
    HONE_ASSIGN_OR_RETURN(const std::string one, ExchangeText(store, e));
    text += one;
  }
  return text;
}

Result<std::string> NodeToJson(RunStore& store, const RunView& view, int64_t id, bool prompts, int indent) {
  HONE_RETURN_IF_ERROR(CheckNode(view, id));
  const RunNode& node = view.node(id);
  Json json = NodeJson(node);
  json["run"] = view.info.id;
  json["reasoning"] = node.reasoning;
  Json turns = Json::array();
  for (const Turn& t : node.turns) {
    turns.push_back({{"role", t.role},
                     {"prompt", t.prompt},
                     {"temperature", t.temperature},
                     {"profile", t.profile},
                     {"ledger", t.ledger},
                     {"shown", t.shown},
                     {"bound", t.bound}});
  }
  json["turns"] = std::move(turns);
  Json memos = Json::array();
  for (const Memo& m : view.memos) {
    if (m.node != id) continue;
    Json memo = {{"kind", m.kind}, {"turn", m.turn}, {"request", m.request},
                 {"idea", m.idea}, {"text", m.text}, {"regions", m.regions}};
    if (!m.spans.empty()) {
      memo["spans"] = Json::array();
      for (const PlanSpan& s : m.spans) {
        memo["spans"].push_back({{"region", s.region}, {"first", s.first}, {"last", s.last}, {"whole", s.whole}});
      }
    }
    if (!m.problem.empty()) memo["problem"] = m.problem, memo["detail"] = m.detail;
    memos.push_back(std::move(memo));
  }
  json["memos"] = std::move(memos);
  if (node.evaluation) json["evaluation"] = ReadJsonText(EvaluationToJson(*node.evaluation, -1));
  if (!node.source_hash.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string source, store.Source(node.source_hash));
    json["source_text"] = source;
    if (node.parent >= 0 && !view.node(node.parent).source_hash.empty()) {
      HONE_ASSIGN_OR_RETURN(const std::string parent, store.Source(view.node(node.parent).source_hash));
      json["diff"] = UnifiedDiff(parent, source, fmt::format("node-{}.cu", node.parent), fmt::format("node-{}.cu", id));
    }
  }
  if (prompts) {
    HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(view.info.id));
    Json exchanges = Json::array();
    for (const Exchange& e : ReadExchanges(events)) {
      if (!BelongsTo(e, node)) continue;
      Json messages = Json::array();
      for (const auto& [role, hash] : e.messages) {
        HONE_ASSIGN_OR_RETURN(const std::string message, store.Source(hash));
        messages.push_back({{"role", role}, {"text", message}});
      }
      Json one = {{"number", e.number},
                  {"role", e.role},
                  {"temperature", e.temperature},
                  {"provider", e.provider},
                  {"model", e.model},
                  {"attempts", e.attempts},
                  {"messages", std::move(messages)},
                  {"input_tokens", e.input_tokens},
                  {"output_tokens", e.output_tokens},
                  {"cost_usd", e.cost_usd},
                  {"cost_known", e.cost_known},
                  {"notes", e.notes},
                  {"seconds", e.seconds}};
      if (!e.reply.empty()) {
        HONE_ASSIGN_OR_RETURN(const std::string reply, store.Source(e.reply));
        one["reply"] = reply;
      }
      if (!e.error.empty()) one["error"] = e.error;
      exchanges.push_back(std::move(one));
    }
    json["requests"] = std::move(exchanges);
  }
  return DumpJson(json, indent);
}

std::string RunToJson(const RunView& view, int indent) {
  Json nodes = Json::array();
  for (const RunNode& n : view.nodes) nodes.push_back(NodeJson(n));
  Json json = {
      {"run", view.info.id},
      {"task", view.info.task},
      {"device", view.info.device},
      {"modelled", view.info.modelled},
      {"baseline", view.from_module ? "module" : view.from_oracle ? "oracle" : "seed"},
      {"strategy", view.options.strategy},
      {"model", view.options.model},
      {"state", view.ended.empty() ? "open" : view.ended},
      {"options", RunOptionsToJson(view.options)},
      {"attempts", view.attempts},
      {"evaluations", view.evaluations},
      {"verdicts_of_older_gates", VerdictsOfOlderGates(view)},
      {"requests", view.requests},
      {"asked_again", view.asked_again},
      {"seconds", view.seconds},
      {"best", view.best},
      {"tokens", {{"input", view.usage.input}, {"output", view.usage.output}, {"estimated", view.usage.estimated}}},
      {"cost_usd", view.cost_usd},
      {"cost_known", view.unpriced_replies == 0},
      {"replies", view.replies},
      {"unpriced_replies", view.unpriced_replies},
      {"nodes", std::move(nodes)}};
  Json remarks = Json::array();
  for (const RunRemark& r : view.remarks) remarks.push_back({{"node", r.node}, {"request", r.request}, {"text", r.text}});
  json["notes"] = std::move(remarks);
  const StructureCount structure = CountStructure(view);
  json["structure"] = {{"replies", structure.replies},
                       {"not_applied", structure.not_applied},
                       {"broken", structure.broken},
                       {"rate", structure.rate()}};
  const GroundingCount grounding = CountGrounding(view);
  json["grounding"] = {{"plans", grounding.plans},
                       {"misquoted", grounding.misquoted},
                       {"answers", grounding.codes},
                       {"outside", grounding.outside},
                       {"widened", grounding.widened}};
  const RepairCount repairs = CountRepairs(view);
  json["repairs"] = {{"judged", repairs.judged},
                     {"right", repairs.right},
                     {"failures", repairs.failures},
                     {"repaired", repairs.repaired},
                     {"replies", Json::object()}};
  for (const auto& [problem, replies] : repairs.replies) {
    json["repairs"]["replies"][problem] = {{"told", replies.told}, {"mended", replies.mended}};
  }
  if (view.final_result) {
    json["final"] = {{"node", view.final_result->node},
                     {"evaluation", ReadJsonText(EvaluationToJson(view.final_result->evaluation, -1))}};
  }
  return DumpJson(json, indent);
}

}  // namespace hone
