// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mechanical rewrites: named changes to a candidate that keep what it computes, or change it only by roundings
// that the task's tolerance must then allow. Each applies, or says why not.
//
// A rewrite promises a candidate that is plausible, not one that is right: the evaluator judges every one of them
// like anybody else's work.
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
  std::string_view summary;  // one line: what it does and what it hopes for
  RewriteOutcome (*apply)(const SourceView& view);
};

// In the order in which they are tried: those with the most to win first.
const std::vector<Rewrite>& AllRewrites();

// One function a rewrite; the file says which family.
// rewrite_loads.cc
RewriteOutcome UseReadOnlyLoads(const SourceView& view);
RewriteOutcome UseStreamingLoads(const SourceView& view);
RewriteOutcome UseStreamingStores(const SourceView& view);
// rewrite_math.cc
RewriteOutcome UseFastIntrinsics(const SourceView& view);
RewriteOutcome UseFastDivision(const SourceView& view);
RewriteOutcome UseFastMathOption(const SourceView& view);
// rewrite_loops.cc
RewriteOutcome UnrollConstantLoops(const SourceView& view);
RewriteOutcome UnrollStridedLoops(const SourceView& view);
RewriteOutcome UseGridStride(const SourceView& view);
RewriteOutcome LaunchOneResidentWave(const SourceView& view);
// rewrite_keep.cc
RewriteOutcome KeepValuesBetweenPasses(const SourceView& view);
// rewrite_launch.cc
RewriteOutcome AddRestrict(const SourceView& view);
RewriteOutcome AddLaunchBounds(const SourceView& view);
RewriteOutcome BoundRegistersForFullOccupancy(const SourceView& view);
RewriteOutcome MakeBlockTunable(const SourceView& view);

// --- shared by the families ---

// Adds NAME = [choices] to the plan's [tune] table, which is made when it is not there.
TextEdit AddTunable(const SourceView& view, std::string_view name, const std::vector<int64_t>& choices);
bool HasTunable(const SourceView& view, std::string_view name);
// The start of the line that holds `at`, when only blanks stand before it: where a directive may be put.
std::optional<size_t> BlankLineStart(std::string_view text, size_t at);
// Applies the edits.
RewriteOutcome Applied(const SourceView& view, std::vector<TextEdit> edits, std::string note);
inline RewriteOutcome NotApplicable(std::string why) { return {{}, std::move(why)}; }

}  // namespace hone
