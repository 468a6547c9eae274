// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats runs as sentences and tables, for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/core/plan/dims_text.h"

namespace hone {

std::string DurationText(double seconds);                         // "1:05", "2:03:04"
std::string TokensText(int64_t tokens);                           // "950", "13.8k", "2.1M"
std::string SpeedupText(const Interval& speedup, bool modelled);  // "1.31x [1.29, 1.33]", "1.31x modelled"

// Returns "hint: Vector access, for the finding uncoalesced at seed.cu:12 (up to 40 % of a launch's time)".
std::string HintText(const GivenHint& hint);

// Returns the name of the device that judged the run: for a run through a spool, that in its first evaluation.
std::string JudgedOn(const RunView& view);
// Formats a row per node, and the result. Here and below, `columns` is the terminal's width; 0: there is no terminal
// (terminal_rows.h).
std::string RunText(const RunView& view, int columns = 0);

// Returns why a run ended, in words: "every attempt was used" for attempts_spent. An unknown reason is returned
// unchanged.
std::string ReasonText(const RunView& view);

// Returns the sentence, without its full stop, about a run whose best version is still its start. A run that may go on has found nothing yet.
std::string FoundNothingText(const RunView& view);

// Formats tokens, requests and cost as a sentence, which never shows an unknown cost as zero; empty: nothing was spent.
std::string SpentText(const RunView& view);
// Returns the run's notes (failed attempts at an endpoint), one per line, at most `most`.
std::string RemarksText(const RunView& view, size_t most);

// For a task without a seed, returns what speedups refer to, and the best version's speedup over the first correct one;
// empty for other tasks.
std::string BaselineText(const RunView& view);

// Returns whether a node ended without a candidate although nothing failed: the model had no more ideas, or a sweep
// found nothing better.
inline bool FoundNothing(const RunNode& node) {
  return node.problem == "no_more_ideas" || node.problem == "nothing_better";
}

// Numbers of outcomes of a run's attempts and, separately, of its sweeps.
struct RunTally {
  int64_t right = 0, kept = 0;  // attempts that were correct; those of them that became the best
  int64_t swept_bindings = 0,
          kept_of_sweeps = 0;  // bindings evaluated in sweeps; results of sweeps that became the best
};
RunTally Tally(const RunView& view);
// Returns "37 bindings swept, 1 kept"; empty without sweeps.
std::string SweepsText(const RunTally& tally);

// Describes in one line the replies that failed by their form; empty: there are none.
std::string FormText(const RunView& view);
// Returns "geometric mean of 4 shapes; 1.050x to 2.300x".
std::string ShapesText(const Evaluation& evaluation);
// Describes how certain the result is, or why there is none: one sentence per line, without counts and speedup.
std::string OutcomeText(const RunView& view);

// Describes what was found, at what cost and how surely, in a few sentences and a table of the shapes.
std::string ResultText(const RunView& view, int columns = 0);

// Formats a node's row: number, idea, verdict, gain, kept or not. It has one line, on a narrow terminal up to three,
// and no newline at its end. NodeHeader returns the header of such rows, and SweepLine the row of a binding of a sweep.
std::string NodeLine(const RunView& view, const RunNode& node, int columns = 0);
std::string NodeHeader(int columns = 0);
std::string SweepLine(const SweepPoint& point, int columns = 0);
// Returns the key by which bindings of a sweep are sorted: the geometric mean of speedups; below 0 for an incorrect
// one.
double SweptSpeed(const SweepPoint& point);

// Returns whether the run's attempts are mechanical rewrites, so that nothing was asked of a model and nothing spent.
bool AsksNoModel(const RunView& view);

// Counts the run's "ok" verdicts from an earlier version of the judge's gates (kGatesVersion). GatesText returns a
// sentence on what to do about them; empty: there are none.
int64_t VerdictsOfOlderGates(const RunView& view);
std::string GatesText(const RunView& view);

// Returns "out[3, 17] is 0, expected 1.25; 12 of 4096 elements wrong, …".
std::string MismatchText(const Mismatch& mismatch);
// Returns whether the evaluation's detail already contains what MismatchText returns.
bool TellsMismatch(const Evaluation& evaluation);
// Returns "silu<8>: 32 registers, occupancy 100 %".
std::string ResourcesText(const Evaluation& evaluation);

// Describes one node: idea, models asked, plan and diagnosis, verdict with the first mismatch, timings, the difference
// to its parent; with `prompts`, every request of the node and its reply.
Result<std::string> NodeText(RunStore& store, const RunView& view, int64_t node, bool prompts, int columns = 0);
// Returns the same as JSON (docs/apply.md, "Looking at runs as JSON").
Result<std::string> NodeToJson(RunStore& store, const RunView& view, int64_t node, bool prompts, int indent = 2);

// Returns the view as JSON (docs/formats/run-store.md, "hone show --json").
std::string RunToJson(const RunView& view, int indent = 2);

}  // namespace hone
