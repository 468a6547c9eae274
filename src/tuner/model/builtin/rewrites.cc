// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The list of rewrites, and what the families share.
#include <fmt/format.h>

#include "tuner/model/builtin/rewrite.h"

namespace hone {

const std::vector<Rewrite>& AllRewrites() {
  // Memory first: most kernels that reach a tuner are bound by it.
  static const std::vector<Rewrite> rewrites{
      {"keep-values-between-passes", "hold in registers what a second loop over the same elements would read again",
       KeepValuesBetweenPasses},
      {"streaming-stores", "mark results as not to be read again soon (__stcs), so that they leave the cache first",
       UseStreamingStores},
      {"fast-intrinsics", "use the hardware's approximations of exp, log, sin, cos, pow and tanh", UseFastIntrinsics},
      {"make-block-tunable", "turn the literal block size into a tunable", MakeBlockTunable},
      {"grid-stride", "let each thread handle several elements in a grid-stride loop, with a bounded grid",
       UseGridStride},
      {"one-resident-wave", "launch just as many blocks as run at once, each taking several rows",
       LaunchOneResidentWave},
      {"fast-division", "divide with __fdividef and take reciprocal square roots with rsqrtf", UseFastDivision},
      {"read-only-loads", "read inputs through the read-only path (__ldg)", UseReadOnlyLoads},
      {"launch-bounds", "tell the compiler the block size (__launch_bounds__)", AddLaunchBounds},
      {"unroll-strided-loops", "unroll the strided inner loops by four, for more loads in flight", UnrollStridedLoops},
      {"unroll-constant-loops", "unroll loops with a constant number of turns", UnrollConstantLoops},
      {"restrict", "promise that the tensors do not overlap (__restrict__)", AddRestrict},
      {"full-occupancy", "bound the registers so that the multiprocessor can be full", BoundRegistersForFullOccupancy},
      {"streaming-loads", "mark inputs as read once (__ldcs), so that they leave the cache first", UseStreamingLoads},
      {"use-fast-math", "compile with --use_fast_math", UseFastMathOption},
  };
  return rewrites;
}

bool HasTunable(const SourceView& view, std::string_view name) {
  for (const auto& [tunable, choices] : view.candidate().plan.tunables) {
    if (tunable == name) return true;
  }
  return false;
}

TextEdit AddTunable(const SourceView& view, std::string_view name, const std::vector<int64_t>& choices) {
  const std::string line = TunableLine(name, choices) + "\n";
  if (const PlanSection* tune = view.plan().Find("tune")) {
    size_t at = tune->keys.empty() ? tune->end : tune->keys.back().line_end;
    return {at, at, line};
  }
  // Before the first table, for a key below a table's header would belong to that table.
  const auto& sections = view.plan().sections;
  const size_t at = sections.size() > 1 ? sections[1].begin : view.plan().end;
  return {at, at, "[tune]\n" + line + "\n"};
}

std::optional<size_t> BlankLineStart(std::string_view text, size_t at) {
  size_t begin = at;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  if (begin > 0 && text[begin - 1] != '\n') return std::nullopt;
  return begin;
}

RewriteOutcome ApplyEdits(const SourceView& view, std::vector<TextEdit> edits, std::string note) {
  return {ApplyEdits(view.text(), std::move(edits)), std::move(note)};
}

}  // namespace hone
