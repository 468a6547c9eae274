// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites loops and their distribution: unrolling, grid-stride loops, one resident wave of blocks.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tuner/model/builtin/rewrite.h"

namespace hone {
namespace {

bool HasPragmaUnroll(const SourceView& view, const ForLoop& loop) {
  if (loop.token == 0) return false;
  const Token& before = view.token(loop.token - 1);
  return before.kind == TokenKind::kDirective && before.text.find("unroll") != std::string_view::npos;
}

// Returns whether a name is a constant: constexpr variables, template parameters in kernels' style (kName), tunables,
// upper-case macros.
bool IsConstantName(const SourceView& view, std::string_view name) {
  if (name.starts_with("HONE_TUNE_")) return true;
  if (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1])) != 0) return true;
  for (int i = 0; i + 2 < static_cast<int>(view.tokens().size()); ++i) {
    if (!Is(view.token(i), "constexpr")) continue;
    for (int j = i + 1; j < i + 5 && j < static_cast<int>(view.tokens().size()); ++j) {
      if (Is(view.token(j), name) && Is(view.token(j + 1), "=")) return true;
    }
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || std::isdigit(static_cast<unsigned char>(c)) || std::isupper(static_cast<unsigned char>(c));
  });
}

// Returns whether the tokens first to last are an expression of constants.
bool IsConstant(const SourceView& view, int first, int last) {
  for (int i = first; i <= last; ++i) {
    const Token& t = view.token(i);
    if (t.kind == TokenKind::kNumber) continue;
    if (t.kind == TokenKind::kIdentifier && (IsConstantName(view, t.text) || Is(t, "sizeof"))) continue;
    if (t.kind == TokenKind::kPunctuation &&
        (Is(t, "*") || Is(t, "/") || Is(t, "+") || Is(t, "-") || Is(t, "(") || Is(t, ")")))
      continue;
    return false;
  }
  return first <= last;
}

// Returns whether the trip count is constant: for (… = CONSTANT; name < CONSTANT; step by a constant).
bool HasConstantTrip(const SourceView& view, const ForLoop& loop) {
  int equals = -1;
  for (int i = loop.open + 1; i < loop.first_semicolon; ++i) {
    if (Is(view.token(i), "=")) equals = i;
  }
  if (equals < 0 || !IsConstant(view, equals + 1, loop.first_semicolon - 1)) return false;
  const Token& comparison = view.token(loop.first_semicolon + 2);
  if (!Is(comparison, "<") && !Is(comparison, "<=") && !Is(comparison, ">") && !Is(comparison, ">=") &&
      !Is(comparison, "!="))
    return false;
  if (!IsConstant(view, loop.first_semicolon + 3, loop.second_semicolon - 1)) return false;
  for (int i = loop.second_semicolon + 1; i < loop.close; ++i) {
    const Token& t = view.token(i);
    if (t.kind == TokenKind::kIdentifier && !Is(t, view.token(loop.first_semicolon + 1).text) &&
        !IsConstantName(view, t.text))
      return false;
  }
  return true;
}

// Finds function bodies: every outermost brace that follows a parenthesis.
std::vector<std::pair<int, int>> FunctionBodies(const SourceView& view) {
  std::vector<std::pair<int, int>> bodies;
  for (int i = 1; i < static_cast<int>(view.tokens().size()); ++i) {
    const Token& t = view.token(i);
    if (!Is(t, "{") || t.match < 0) continue;
    const Token& before = view.token(i - 1);
    if (Is(before, ")") || Is(before, "const") || Is(before, "noexcept")) {
      bodies.emplace_back(i, t.match);
      i = t.match;
    }
  }
  return bodies;
}

// Puts `pragma` before loops. `constant`: before those whose number of turns is constant, else before the others.
RewriteOutcome Unroll(const SourceView& view, bool constant, std::string_view pragma) {
  std::vector<TextEdit> edits;
  int unrolled_already = 0;
  for (const auto& [open, close] : FunctionBodies(view)) {
    for (const ForLoop& loop : FindForLoops(view.tokens(), open, close)) {
      if (HasConstantTrip(view, loop) != constant) continue;
      if (HasPragmaUnroll(view, loop)) {
        ++unrolled_already;
        continue;
      }
      if (!view.StartsStatement(loop.token)) continue;
      if (!constant) {
        // Only loops that do work of their own: an outer loop over rows is not unrolled, nor one with barriers.
        bool barrier = false;
        for (int i = loop.body_first; i <= loop.body_last; ++i) {
          barrier = barrier || view.token(i).text.starts_with("__sync") || Is(view.token(i), "return");
        }
        bool inner_runtime_loop = false;
        for (const ForLoop& inner : FindForLoops(view.tokens(), loop.body_first, loop.body_last)) {
          inner_runtime_loop = inner_runtime_loop || !HasConstantTrip(view, inner);
        }
        if (barrier || inner_runtime_loop) continue;
      }
      const size_t at = view.token(loop.token).begin;
      if (const std::optional<size_t> line = BlankLineStart(view.text(), at)) {
        edits.push_back({*line, *line, fmt::format("{}\n", pragma)});
      } else {
        edits.push_back({at, at, fmt::format("\n{}\n", pragma)});
      }
    }
  }
  if (edits.empty()) {
    return NotApplicable(unrolled_already > 0
                             ? fmt::format("the {} such loop(s) carry a pragma already", unrolled_already)
                             : fmt::format("no loop with a {} number of turns", constant ? "constant" : "variable"));
  }
  return ApplyEdits(view, edits, fmt::format("{} loop(s) unrolled", edits.size()));
}

}  // namespace

RewriteOutcome UnrollConstantLoops(const SourceView& view) { return Unroll(view, true, "#pragma unroll"); }

RewriteOutcome UnrollStridedLoops(const SourceView& view) { return Unroll(view, false, "#pragma unroll 4"); }

RewriteOutcome UseGridStride(const SourceView& view) {
  std::vector<TextEdit> edits;
  std::string reason = "no kernel of the form: index = blockIdx.x * blockDim.x + threadIdx.x; if (index < n) …";
  for (const KernelText& kernel : view.kernels()) {
    const std::vector<size_t> entries = view.EntriesOf(kernel);
    if (entries.empty()) continue;
    // Another use of the block's number would not follow the loop.
    int block_index_uses = 0;
    bool barrier = false;
    for (int i = kernel.body_open; i < kernel.body_close; ++i) {
      block_index_uses += Is(view.token(i), "blockIdx");
      barrier = barrier || view.token(i).text.starts_with("__sync") || view.token(i).text.starts_with("__shfl") ||
                Is(view.token(i), "__shared__");
    }
    if (block_index_uses != 1) continue;
    // [const] TYPE NAME = … blockIdx.x … ;
    int declaration = kernel.body_open + 1;
    std::optional<int> end = StatementEnd(view.tokens(), declaration);
    if (!end) continue;
    int equals = -1;
    bool has_block = false, has_thread = false;
    for (int i = declaration; i < *end; ++i) {
      if (Is(view.token(i), "=") && equals < 0) equals = i;
      has_block = has_block || Is(view.token(i), "blockIdx");
      has_thread = has_thread || Is(view.token(i), "threadIdx");
    }
    if (equals < declaration + 2 || !has_block || !has_thread) continue;
    if (barrier) {
      reason = fmt::format("{} synchronises its threads, which must then all take the same turns", kernel.name);
      continue;
    }
    const std::string name(view.token(equals - 1).text);
    std::string type;
    for (int i = declaration; i < equals - 1; ++i) {
      if (Is(view.token(i), "const")) continue;
      type += (type.empty() ? "" : " ") + std::string(view.token(i).text);
    }
    const std::string first(Span(view.text(), view.tokens(), equals + 1, *end - 1));
    // The rest is `if (NAME < BOUND) STATEMENT` or `if (NAME >= BOUND) return; …`
    const int guard = *end + 1;
    if (!Is(view.token(guard), "if") || !Is(view.token(guard + 2), name)) continue;
    const int condition_close = view.token(guard + 1).match;
    const std::string bound(Span(view.text(), view.tokens(), guard + 4, condition_close - 1));
    bool simple = true;
    for (int i = guard + 4; i < condition_close; ++i)
      simple = simple && !Is(view.token(i), "&&") && !Is(view.token(i), "||");
    std::optional<int> guarded_end = StatementEnd(view.tokens(), condition_close + 1);
    if (!simple || !guarded_end) continue;
    int body_first = 0, body_last = 0;
    if (Is(view.token(guard + 3), "<") && *guarded_end + 1 == kernel.body_close) {
      body_first = condition_close + 1;
      body_last = *guarded_end;
    } else if (Is(view.token(guard + 3), ">=") && Is(view.token(condition_close + 1), "return")) {
      body_first = *guarded_end + 1;
      body_last = kernel.body_close - 1;
    } else {
      continue;
    }
    bool leaves = body_first > body_last;
    for (int i = body_first; i <= body_last; ++i) leaves = leaves || Is(view.token(i), "return");
    if (leaves) {
      reason = fmt::format("{} leaves early", kernel.name);
      continue;
    }
    bool grids = true;
    std::vector<TextEdit> plan_edits;
    for (const size_t entry : entries) {
      const PlanEntry& e = view.candidate().plan.entries[entry];
      const PlanSection* section = view.plan().Entry(entry);
      const PlanKey* grid = section == nullptr ? nullptr : section->Find("grid");
      if (grid == nullptr || e.grid.size() != 1) {
        grids = false;
        continue;
      }
      plan_edits.push_back(
          {grid->value_begin, grid->value_end,
           fmt::format("[{}]", Quote(fmt::format("min({}, sm_count * BLOCKS_PER_SM)", e.grid[0].text())))});
    }
    if (!grids) {
      reason = fmt::format("{} has a grid of more than one dimension", kernel.name);
      continue;
    }
    const std::string body(Span(view.text(), view.tokens(), body_first, body_last));
    edits.insert(edits.end(), plan_edits.begin(), plan_edits.end());
    edits.push_back({view.token(declaration).begin, view.token(body_last).end,
                     fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += static_cast<{0}>(gridDim.x) * blockDim.x) {{\n"
                                 "    {4}\n  }}",
                                 type, name, first, bound, body)});
  }
  if (edits.empty()) return NotApplicable(reason);
  if (HasTunable(view, "BLOCKS_PER_SM")) return NotApplicable("there is a tunable BLOCKS_PER_SM already");
  edits.push_back(AddTunable(view, "BLOCKS_PER_SM", {16, 4, 8, 32}));
  return ApplyEdits(view, edits, "elements are taken in a grid-stride loop");
}

RewriteOutcome LaunchOneResidentWave(const SourceView& view) {
  std::vector<TextEdit> edits;
  std::string reason = "no kernel steps through its work by gridDim.x";
  for (const KernelText& kernel : view.kernels()) {
    // blockIdx.x may occur only in the first clause of one outermost loop, which steps by gridDim.x.
    int uses = 0;
    for (int i = kernel.body_open; i < kernel.body_close; ++i) uses += Is(view.token(i), "blockIdx");
    if (uses != 1) continue;
    bool strided = false;
    for (const ForLoop& loop : FindForLoops(view.tokens(), kernel.body_open, kernel.body_close)) {
      bool starts = false, steps = false;
      for (int i = loop.open; i < loop.first_semicolon; ++i) starts = starts || Is(view.token(i), "blockIdx");
      for (int i = loop.second_semicolon; i < loop.close; ++i) steps = steps || Is(view.token(i), "gridDim");
      strided = strided || (loop.depth == 0 && starts && steps);
    }
    if (!strided) continue;
    for (const size_t entry : view.EntriesOf(kernel)) {
      const PlanEntry& e = view.candidate().plan.entries[entry];
      const PlanSection* section = view.plan().Entry(entry);
      const PlanKey* grid = section == nullptr ? nullptr : section->Find("grid");
      if (grid == nullptr || e.grid.size() != 1) continue;
      if (e.grid[0].text().find("sm_count") != std::string::npos) {
        reason = "the grid follows the number of multiprocessors already";
        continue;
      }
      edits.push_back({grid->value_begin, grid->value_end,
                       fmt::format("[{}]", Quote(fmt::format("min({}, sm_count * max(1, occupancy({})))",
                                                             e.grid[0].text(), e.kernel)))});
    }
  }
  if (edits.empty()) return NotApplicable(reason);
  return ApplyEdits(view, edits, "the grid holds as many blocks as run at once");
}

}  // namespace hone
