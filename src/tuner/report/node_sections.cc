// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/node_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/markup.h"
#include "tuner/report/evaluation_tables.h"
#include "tuner/report/highlight.h"
#include "tuner/report/run_text.h"
#include "tuner/report/terminal_rows.h"

namespace hone {
namespace {

constexpr size_t kMostDiffBytes = 1'200'000, kMostTableBytes = 800'000;

bool Right(const RunNode& n) { return n.evaluation && n.evaluation->verdict == Verdict::kOk; }

// Returns at most `most` bytes of the text, cut between characters, with "…" at the end if it is cut.
std::string ClipToBytes(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + "…";
}

// Returns a name such as wrong_output as HTML that may break only after underscores.
std::string BreakableName(const std::string& name) {
  std::string out;
  for (const char c : EscapeMarkup(name)) out += c == '_' ? "_<wbr>" : std::string(1, c);
  return out;
}

// Returns why a correct node was kept or not; empty for other nodes.
std::string WhyKeptOrNot(const RunView& view, const RunNode& n) {
  if (!n.gain || n.id == 0) return "";
  const std::string gain = fmt::format("{} over node {}, the best then", SpeedupText(*n.gain, view.info.modelled),
                                       std::max<int64_t>(n.incumbent, 0));
  const std::string rule = fmt::format("at least {:g} % faster{}", 100 * view.options.keep_above,
                                       view.info.modelled ? "" : ", beyond its 95 % interval");
  if (n.rejected) return "Rejected: " + gain + ", and the final check found it wrong.";
  if (n.kept) return "Kept: " + gain + ".";
  if (n.id == view.best) return "The best since faster versions failed their final checks: " + gain + ".";
  // Another node became the best after this one was opened and before it settled.
  if (const int64_t best = view.node(n.id - 1).best_after; n.settled && best != std::max<int64_t>(n.incumbent, 0)) {
    return fmt::format(
        "Not kept: {}. Node {} had become the best before it was this node's turn, at about {:.3f}x of {}{}.", gain,
        best, view.node(best).speedup.value_or(1), StartName(view), view.info.modelled ? ", modelled" : "");
  }
  return fmt::format("Not kept: {}; a step has to be {}.", gain, rule);
}

// Shows everything about one node, folded.
std::string NodeBlock(const RunView& view, const RunNode& n, const std::string& links, const std::string& tables,
                      const std::string& diff) {
  const bool ok = Right(n);
  const std::string verdict = n.state == NodeState::kUnusable ? n.problem
                              : n.evaluation                  ? std::string(VerdictName(n.evaluation->verdict))
                                                              : "waiting";
  std::string out = fmt::format(
      "<details class=node id=node-{0}><summary><span class=id>{0}</span><span class=idea>{1}</span><span "
      "class='verdict {2}'>{3}</span>"
      "<span class='gain number'>{4}</span><span class='over number'>{5}</span><span "
      "class=fate>{6}</span></summary><div class=inside>\n",
      n.id, EscapeMarkup(ClippedLine(n.idea, 160)),
      ok                                                         ? "good"
      : n.evaluation || (!n.problem.empty() && !FoundNothing(n)) ? "bad"
                                                                 : "soft",
      BreakableName(verdict), n.gain ? fmt::format("{:.3f}×", n.gain->median) : "",
      n.speedup ? fmt::format("{:.3f}×", *n.speedup) : "",
      n.rejected ? "rejected"
      : n.kept   ? "kept"
                 : "");
  return out + links + NodeFacts(view, n) + tables + diff + "</div></details>\n";
}

// Returns a sentence with the command that shows what the page leaves out.
std::string MoreElsewhere(const RunView& view, const RunNode& n, const char* what) {
  return fmt::format("<p class=soft>{}: <code>hone show {} {}</code></p>\n", what, EscapeMarkup(view.info.id), n.id);
}

struct Swept {
  int64_t node = -1, incumbent = -1;
  std::vector<const SweepPoint*> points;
};

// Returns the block about one sweep: its points, the fastest first.
std::string SweepBlock(const RunView& view, Swept sweep) {
  std::stable_sort(sweep.points.begin(), sweep.points.end(),
                   [](const SweepPoint* a, const SweepPoint* b) { return SweptSpeed(*a) > SweptSpeed(*b); });
  const std::string incumbent_text = sweep.incumbent < 0 ? "the best then" : fmt::format("node {}", sweep.incumbent);
  const char* modelled_note = view.info.modelled ? ", modelled" : "";
  const auto failed =
      std::count_if(sweep.points.begin(), sweep.points.end(), [](const SweepPoint* p) { return SweptSpeed(*p) < 0; });
  std::string rows;
  for (const SweepPoint* p : sweep.points) {
    const bool ok = SweptSpeed(*p) >= 0, best = ok && p == sweep.points.front();
    rows += fmt::format(
        "<tr{}><td data-name=binding>{}{}</td><td class=number data-name='over {}'>{}</td><td "
        "data-name=verdict>{}</td><td data-name=why>{}</td></tr>\n",
        best ? " class=best" : "", EscapeMarkup(p->binding.empty() ? "(as it stands)" : BindingKey(p->binding)),
        best ? " <small>best</small>" : "", EscapeMarkup(incumbent_text),
        p->evaluation.geomean_speedup && ok ? fmt::format("{:.3f}×", *p->evaluation.geomean_speedup) : "",
        BreakableName(std::string(VerdictName(p->evaluation.verdict))),
        ok ? "" : EscapeMarkup(ClippedLine(p->evaluation.detail.substr(0, p->evaluation.detail.find('\n')), 160)));
  }
  const SweepPoint& first = *sweep.points.front();
  const std::string best = SweptSpeed(first) < 0
                               ? "none right"
                               : fmt::format("the best: {} at {:.3f}× over {}{}", BindingKey(first.binding),
                                             SweptSpeed(first), incumbent_text, modelled_note);
  return fmt::format(
      "<details><summary>Node {}: {} binding{}{}; {}</summary><div class=scroll><table "
      "class=stack><tr><th>binding</th><th class=number>over "
      "{}{}</th><th>verdict</th><th>why</th></tr>\n{}</table></div></details>\n",
      sweep.node, sweep.points.size(), sweep.points.size() == 1 ? "" : "s",
      failed > 0 ? fmt::format(", {} failed", failed) : "", EscapeMarkup(best), EscapeMarkup(incumbent_text),
      modelled_note, rows);
}

}  // namespace

std::string NodeFacts(const RunView& view, const RunNode& n) {
  const bool ok = Right(n);
  std::string out;
  if (n.parent >= 0) {
    std::string roles;
    for (const Turn& t : n.turns) roles += (roles.empty() ? "" : ", ") + t.role;
    out += fmt::format("<p class=soft>{} from <a href='#node-{}'>node {}</a>{}</p>\n",
                       EscapeMarkup(n.purpose.empty() ? n.origin : n.purpose), n.parent, n.parent,
                       roles.empty()       ? ""
                       : AsksNoModel(view) ? "; a mechanical rewrite, no model was asked"
                                           : "; asked: " + EscapeMarkup(roles));
  }
  if (n.hint) out += "<p class=soft>" + EscapeMarkup(HintText(*n.hint)) + "</p>\n";
  if (const std::string reason = WhyKeptOrNot(view, n); !reason.empty()) out += "<p>" + EscapeMarkup(reason) + "</p>\n";
  if (!n.detail.empty() && (!n.evaluation || n.evaluation->detail.find(n.detail) == std::string::npos))
    out += "<p>" + EscapeMarkup(ClipToBytes(n.detail, 600)) + "</p>\n";
  if (n.evaluation && !ok) {
    if (!n.evaluation->detail.empty())
      out += "<pre class=text>" + EscapeMarkup(ClipToBytes(n.evaluation->detail, 900)) + "</pre>\n";
    if (n.evaluation->mismatch && !TellsMismatch(*n.evaluation))
      out += "<p>First wrong: " + EscapeMarkup(MismatchText(*n.evaluation->mismatch)) + "</p>\n";
  }
  bool planned = false;  // the plan's memo is also the node's reasoning, which is then not repeated
  for (const Memo& memo : view.memos) {
    if (memo.node != n.id || n.id == 0 || memo.kind == "problem") continue;
    planned = planned || memo.text == n.reasoning;
    out += fmt::format("<p class=soft>{}</p><pre class=text>{}</pre>\n", EscapeMarkup(memo.kind),
                       EscapeMarkup(ClipToBytes(memo.text.empty() ? memo.idea : memo.text, 1200)));
  }
  if (!n.reasoning.empty() && !planned)
    out += "<pre class=text>" + EscapeMarkup(ClipToBytes(n.reasoning, 1200)) + "</pre>\n";
  if (ok && !n.evaluation->resources.empty())
    out += "<p class=soft>" + EscapeMarkup(ResourcesText(*n.evaluation)) + "</p>\n";
  return out;
}

std::string NodeSection(RunStore& store, const RunView& view, const NodeLinks& links) {
  // Kept nodes use the budget before all others, although the page's order is another.
  std::vector<std::string> diffs(view.nodes.size()), tables(view.nodes.size());
  size_t diff_bytes = 0, table_bytes = 0;
  for (const bool kept : {true, false}) {
    for (const RunNode& n : view.nodes) {
      if (n.kept != kept) continue;
      const auto id = static_cast<size_t>(n.id);
      if (n.evaluation && n.id != 0) {
        if (table_bytes < kMostTableBytes) {
          tables[id] =
              (Right(n) ? ShapeTable(*n.evaluation, fmt::format("node {}", std::max<int64_t>(n.incumbent, 0))) : "") +
              FindingsAndProfile(*n.evaluation);
          table_bytes += tables[id].size();
        } else if (Right(n)) {
          tables[id] = MoreElsewhere(view, n, "Its shapes, findings and profile");
        }
      } else if (n.evaluation) {
        tables[id] = ShapeTable(*n.evaluation, StartName(view)) + FindingsAndProfile(*n.evaluation);
      }
      if (n.parent < 0 || n.source_hash.empty() || view.node(n.parent).source_hash.empty()) continue;
      if (diff_bytes >= kMostDiffBytes) {
        diffs[id] = MoreElsewhere(view, n, "Its difference to its parent");
        continue;
      }
      const Result<std::string> before = store.Source(view.node(n.parent).source_hash),
                                after = store.Source(n.source_hash);
      if (!before.ok() || !after.ok()) continue;
      diffs[id] = *before == *after ? fmt::format("<p class=soft>The source is that of node {}.</p>\n", n.parent)
                                    : fmt::format("<p class=soft>This is the difference to node {}:</p>\n", n.parent) +
                                          HighlightedDiff(*before, *after, 3);
      diff_bytes += diffs[id].size();
    }
  }
  std::string body = fmt::format(
      "<div class=head aria-hidden=true><span>node</span><span>idea</span><span>verdict</span><span class=number>over "
      "the best "
      "then{0}</span><span class=number>over {1}{0}</span><span></span></div>\n",
      view.info.modelled ? ", modelled" : "", EscapeMarkup(StartName(view)));
  for (const RunNode& n : view.nodes) {
    const auto id = static_cast<size_t>(n.id);
    body += NodeBlock(view, n, links ? links(n) : "", tables[id], diffs[id]);
  }
  return body +
         fmt::format(
             "<p class=soft>\"Over the best then\" is the speedup as it was timed, in pairs with the version that was "
             "the "
             "best when the node was begun. \"Over {}\" multiplies these gains along the chain of kept steps, and is "
             "an estimate.</p>\n",
             EscapeMarkup(StartName(view)));
}

std::string SweepSection(const RunView& view) {
  std::vector<Swept> sweeps;
  for (const SweepPoint& p : view.sweep) {
    auto found = std::find_if(sweeps.begin(), sweeps.end(),
                              [&](const Swept& s) { return s.node == p.node && s.incumbent == p.incumbent; });
    if (found == sweeps.end()) {
      sweeps.push_back({p.node, p.incumbent, {}});
      found = std::prev(sweeps.end());
    }
    found->points.push_back(&p);
  }
  if (sweeps.empty()) return "";
  std::string body = "<h2 id=sweeps>Sweeps of tunables</h2>\n";
  for (const Swept& sweep : sweeps) body += SweepBlock(view, sweep);
  return body;
}

}  // namespace hone
