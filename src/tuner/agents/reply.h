// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses a model's reply by role: code, a plan, free text (a diagnosis, findings), or cases.
//
// A model may return anything. An unusable reply becomes a problem with a name and a sentence, which the run records
// and shows to the model in a repair turn; it never ends a run.
//
// Code, in one of three forms (the first two mix):
//   REGION: silu_kernel               the region's new text, whole; any number of regions
//   ```cuda … ```
//   <<<<<<< SEARCH                    whole lines that stand in the parent once
//   =======
//   >>>>>>> REPLACE
//   ```cuda /*hone … */ … ```         the whole file, plan comment included
// with a line `IDEA: …` where the role is to choose one, a line `PREDICT: 850, 1200` where it is to say the times that
// it expects, and, of a coder that is bound to a plan's spans, lines `WIDEN: region: why`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/model_provider.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

struct Proposal {
  std::string idea;       // one line, at most 120 bytes
  std::string idea_key;   // IdeaKey(idea)
  std::string reasoning;  // the reply without its code, at most 4000 bytes
  std::string source;     // the new candidate; empty when there is a problem
  std::string form;       // file | regions | edits: the form of the reply; empty when unknown
  std::vector<std::string> widen;  // regions that the coder asks for, in order, without repeats
  std::vector<double> predicted_us;  // the line `PREDICT: …`: the time in microseconds expected for each timed case, in order
  // empty | empty_reply | not_text | too_long | refused | cut_off | no_code | several_files | unclosed_block |
  // search_not_found | search_not_unique | search_empty | edits_overlap | unknown_region | region_twice | no_plan |
  // same_as_parent | outside_plan | too_wide
  std::string problem;
  std::string detail;  // what happened and what to do
};

// Parses a coder's reply; `parent` is the source that it edits. `add_prelude` as for ReplaceRegions; false in logs up to
// version 6.
Proposal ParseReply(const ModelReply& reply, std::string_view parent, bool add_prelude = true);

// Parses what a coding agent handed in: a line `IDEA: …`, an empty line, and then the whole file unchanged.
Proposal ParseAgentReply(const ModelReply& reply);

// Holds a plan. Its text is `IDEA: …`, then for each place `REGION: name` with what to do there, and code blocks that
// quote lines.
//
// The first block after a REGION quotes lines of that region; a later block quotes if its lines occur there, and
// otherwise illustrates. With `bound`, every quote must occur in its region once, and there must be a region: the spans
// are what the coder may change. Without `bound`, only the first quote must occur, and a plan that names no region
// means the whole file. With `add_prelude`, a region `prelude` that the source lacks is where one may be added.
struct PlanReply {
  std::string idea, idea_key;
  std::string text;  // shown to the coder, at most 12000 bytes
  std::vector<std::string> regions;
  std::vector<PlanSpan> spans;  // with `bound`: the quoted lines, and whole regions without quotes
  std::string problem;          // as above | unknown_region | anchor_not_found | anchor_not_unique | no_region
  std::string detail;
};
// Parses a planner's reply about the source `parent`.
PlanReply ParsePlanReply(const ModelReply& reply, std::string_view parent, bool bound, bool add_prelude = true);

// Holds a diagnosis or findings, which may be any text. At most 12000 bytes of it are kept.
struct TextReply {
  std::string text;
  std::string problem, detail;
};
// Parses a reply that may be any text.
TextReply ParseTextReply(const ModelReply& reply);

// Holds proposed cases, which are lines such as `CASE: rows=3, d=5, x=uniform(-80, 80): why`. Every case gives every
// dimension of the task. It may specify the distribution of floating-point inputs: uniform(low, high),
// log_uniform(low, high), normal(mean, deviation), NAME(scale) of another distribution of numbers, or zero().
struct CasesReply {
  std::vector<ProposedCase> cases;  // without repeats, and without cases that the task already has
  std::string text;
  std::string problem, detail;  // as above | no_cases
};
// Parses the tester's reply; at most `most` cases are taken.
CasesReply ParseCasesReply(const ModelReply& reply, const Task& task, size_t most);

// Returns the idea in lower case, words joined by '-': "Use __ldg for x!" -> "use-ldg-for-x".
std::string IdeaKey(std::string_view idea);

// Returns whether `text` is valid UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace hone
