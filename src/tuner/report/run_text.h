// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs in words and tables, for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/core/dims_text.h"

namespace hone {

std::string DurationText(double seconds);                         // "1:05", "2:03:04"
std::string TokensText(int64_t tokens);                           // "950", "13.8k", "2.1M"
std::string SpeedupText(const Interval& speedup, bool modelled);  // "1.31x [1.29, 1.33]", "1.31x modelled"

// The device that judged: for a run through a spool what its first evaluation names, else as the run was told.
std::string JudgedOn(const RunView& view);
// One row a node, and the result. Here and below, `columns` is the width of the terminal, 0 for none (terminal_rows.h).
std::string RunText(const RunView& view, int columns = 0);

// Why a run ended, in words: "every attempt was used" for attempts_spent. A reason that is not known, as it stands.
std::string ReasonText(const RunView& view);

// Tokens, requests and cost in a sentence that never takes an unknown cost for none; empty when nothing was spent.
std::string SpentText(const RunView& view);
// The notes of a run (attempts at an endpoint that failed), one a line, at most `most`.
std::string RemarksText(const RunView& view, size_t most);

// What node 0 is called: "the seed", or "the oracle's kernel" for a task without a seed.
std::string StartName(const RunView& view);
// For a task without a seed, what speedups are over, and what the best is over the first right version; empty else.
std::string BaselineText(const RunView& view);

// A node that ended without a candidate and without a fault: the model had no idea left, or a sweep found nothing
// better.
inline bool FoundNothing(const RunNode& node) {
  return node.problem == "no_more_ideas" || node.problem == "nothing_better";
}

// What became of a run's attempts and of its sweeps, which are counted apart.
struct RunTally {
  int64_t right = 0, kept = 0;  // attempts
  int64_t swept_bindings = 0, kept_of_sweeps = 0;
};
RunTally Tally(const RunView& view);
// "37 bindings swept, 1 kept"; empty without sweeps.
std::string SweepsText(const RunTally& tally);

// Replies that were lost to their form, a sentence and a line end; empty where none was.
std::string FormText(const RunView& view);
// "geometric mean of 4 shapes; 1.050x to 2.300x"
std::string ShapesText(const Evaluation& evaluation);
// How sure the result is, or why there is none: sentences, a line each, without the counts and the speedup.
std::string OutcomeText(const RunView& view);

// What was found, what it took and how sure it is, in a few sentences and a table of the shapes.
std::string ResultText(const RunView& view, int columns = 0);

// One node without a line end: number, idea, verdict, gain, kept or not. One line; on a narrow terminal up to three.
// The header of such rows, and the row of a binding in a sweep.
std::string NodeLine(const RunView& view, const RunNode& node, int columns = 0);
std::string NodeHeader(int columns = 0);
std::string SweepLine(const SweepPoint& point, int columns = 0);
// What bindings are sorted by: the geometric mean, below 0 for one that is not right.
double SweptSpeed(const SweepPoint& point);

// Verdicts "ok" of the run that an earlier version of the gates gave (kGatesVersion), and what to do about them in a
// sentence; empty: there is none.
int64_t VerdictsOfOlderGates(const RunView& view);
std::string GatesText(const RunView& view);

// "out[3, 17] is 0, expected 1.25; 12 of 4096 elements wrong, …"
std::string MismatchText(const Mismatch& mismatch);
// Whether the evaluation's detail says already what MismatchText would.
bool TellsMismatch(const Evaluation& evaluation);
// "silu<8>: 32 registers, occupancy 100 %"
std::string ResourcesText(const Evaluation& evaluation);

// Everything about one node: idea, who was asked, plan and diagnosis, verdict with the first mismatch, timings, the
// difference to its parent; with `prompts`, every request of the node and its reply.
Result<std::string> NodeText(RunStore& store, const RunView& view, int64_t node, bool prompts, int columns = 0);
// The same as JSON (docs/interop.md, "Looking at runs as JSON").
Result<std::string> NodeToJson(RunStore& store, const RunView& view, int64_t node, bool prompts, int indent = 2);

// The view as JSON (docs/formats/run-store.md, "hone show --json").
std::string RunToJson(const RunView& view, int indent = 2);

}  // namespace hone
