// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs in words and tables, for a terminal.
#pragma once

#include <string>
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
// One line a node, and the result.
std::string RunText(const RunView& view);

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

// What was found and how sure it is, in a few sentences.
std::string ResultText(const RunView& view);

// One attempt on one line, without a newline: number, idea, verdict, gain, kept or not.
std::string NodeLine(const RunView& view, const RunNode& node);

// "out[3, 17] is 0, expected 1.25; 12 of 4096 elements wrong, …"
std::string MismatchText(const Mismatch& mismatch);
// "silu<8>: 32 registers, occupancy 100 %"
std::string ResourcesText(const Evaluation& evaluation);

// Everything about one node: idea, who was asked, plan and diagnosis, verdict with the first mismatch, timings, the
// difference to its parent; with `prompts`, every request of the node and its reply.
Result<std::string> NodeText(RunStore& store, const RunView& view, int64_t node, bool prompts);
// The same as JSON (docs/interop.md, "Looking at runs as JSON").
Result<std::string> NodeToJson(RunStore& store, const RunView& view, int64_t node, bool prompts, int indent = 2);

// The view as JSON (docs/formats/run-store.md, "hone show --json").
std::string RunToJson(const RunView& view, int indent = 2);

}  // namespace hone
