// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Spans: the lines of a source that a plan marks and to which its coder is bound (STARK's grounded instruction).
//
// A planner quotes lines, the quotes are resolved to spans, the coder's copy shows each span between two marks, and the
// coder's result is compared with the source outside of the spans. Lines are counted in the source as prompts show it.
// Blank lines and white space at line ends do not count, because models do not see them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/run_view.h"

namespace hone {

// Sorts spans and joins overlapping ones. A span inside a whole region's is dropped.
std::vector<PlanSpan> JoinSpans(std::vector<PlanSpan> spans);

// Returns the span of a whole region, or nullopt if `source` has no region of that name. With `add_prelude`, a missing
// `prelude` is the empty span behind the plan, whose `last` is one less than its `first`: lines may be added there.
std::optional<PlanSpan> RegionSpan(std::string_view source, std::string_view region, bool add_prelude = true);

// Returns the source with a line "// [span 1 begins]" before each span and "// [span 1 ends]" after it.
std::string MarkSpans(std::string_view source, const std::vector<PlanSpan>& spans);
// Removes such lines: a model that copies from a marked source may copy them too.
std::string WithoutMarks(std::string_view text);
// Formats "span 1 is the region `plan`, span 2 lies in `rms_norm`".
std::string SpanList(const std::vector<PlanSpan>& spans);

// Returns an empty string if every line of `before` outside of the spans occurs in `after`, and nothing else does
// outside of them; else a sentence that names the line and its region.
std::string OutsideSpans(std::string_view before, const std::vector<PlanSpan>& spans, std::string_view after);

}  // namespace hone
