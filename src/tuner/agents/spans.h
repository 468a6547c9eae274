// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spans: the lines of a source that a plan marks, and to which its coder is held (STARK's grounded instruction).
//
// A planner quotes lines, the quotes are resolved to spans, the coder's copy shows each span between two marks, and
// what the coder sends back is held against the lines outside of them. Lines are those of the source as prompts
// show it. Blank lines and white space at line ends do not count, for models do not see them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/run_view.h"

namespace hone {

// In order, with those that overlap joined. A span that lies within a whole region's is dropped.
std::vector<PlanSpan> JoinSpans(std::vector<PlanSpan> spans);

// The span of a whole region; nullopt: `source` has no region of that name.
std::optional<PlanSpan> RegionSpan(std::string_view source, std::string_view region);

// The source with a line "// [span 1 begins]" before each span and "// [span 1 ends]" after it.
std::string MarkSpans(std::string_view source, const std::vector<PlanSpan>& spans);
// A text without such lines: a model that copies from a marked source may copy them too.
std::string WithoutMarks(std::string_view text);
// "span 1 is the region `plan`, span 2 lies in `rms_norm`"
std::string SpanList(const std::vector<PlanSpan>& spans);

// Empty: every line of `before` outside of the spans stands in `after`, and nothing else does outside of them. Else a
// sentence that names the line and its region.
std::string OutsideSpans(std::string_view before, const std::vector<PlanSpan>& spans, std::string_view after);

}  // namespace hone
