// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mechanical rewrites: named changes to a candidate that keep its results, or change them only by rounding that the
// task's tolerance must allow. Each rewrite applies, or says why not.
//
// A rewrite gives a plausible candidate, not necessarily a correct one: the evaluator judges it like any other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/builtin/source_view.h"

namespace hone {

struct RewriteOutcome {
  std::string source;  // the new candidate; empty: not applicable
  std::string note;    // what was changed, or why nothing was

  bool applied() const { return !source.empty(); }
};

struct Rewrite {
  std::string_view name;     // "keep-values-between-passes": also the ledger's key
  std::string_view summary;  // one line: what it changes, and the hoped-for effect
  RewriteOutcome (*apply)(const SourceView& view);
};

// All rewrites in the order in which they are tried: those with the most to gain first.
const std::vector<Rewrite>& AllRewrites();

// One function per rewrite; the file name says which family.
// rewrite_loads.cc
RewriteOutcome UseReadOnlyLoads(const SourceView& view);
RewriteOutcome UseStreamingLoads(const SourceView& view);
RewriteOutcome UseStreamingStores(const SourceView& view);
// These rewrites are in rewrite_math.cc.
RewriteOutcome UseFastIntrinsics(const SourceView& view);
RewriteOutcome UseFastDivision(const SourceView& view);
RewriteOutcome UseFastMathOption(const SourceView& view);
// These rewrites are in rewrite_loops.cc.
RewriteOutcome UnrollConstantLoops(const SourceView& view);
RewriteOutcome UnrollStridedLoops(const SourceView& view);
RewriteOutcome UseGridStride(const SourceView& view);
RewriteOutcome LaunchOneResidentWave(const SourceView& view);
// This rewrite is in rewrite_keep.cc.
RewriteOutcome KeepValuesBetweenPasses(const SourceView& view);
// These rewrites are in rewrite_launch.cc.
RewriteOutcome AddRestrict(const SourceView& view);
RewriteOutcome AddLaunchBounds(const SourceView& view);
RewriteOutcome BoundRegistersForFullOccupancy(const SourceView& view);
RewriteOutcome MakeBlockTunable(const SourceView& view);

// --- shared by the families ---

// Adds NAME = [choices] to the plan's [tune] table, which is made if missing.
TextEdit AddTunable(const SourceView& view, std::string_view name, const std::vector<int64_t>& choices);
bool HasTunable(const SourceView& view, std::string_view name);
// Returns the start of the line that holds `at`, if only blanks precede it: the place for a directive.
std::optional<size_t> BlankLineStart(std::string_view text, size_t at);
// Applies the edits.
RewriteOutcome ApplyEdits(const SourceView& view, std::vector<TextEdit> edits, std::string note);
inline RewriteOutcome NotApplicable(std::string why) { return {{}, std::move(why)}; }

}  // namespace hone
