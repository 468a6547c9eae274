// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of signatures and launches: promises to the compiler, and sizes that become tunables.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "tuner/model/builtin/rewrite.h"

namespace hone {
namespace {

// Returns the number of threads per block as C++ text, if it is a constant expression of literals and tunables.
std::optional<std::string> BlockThreads(const SourceView& view, const PlanEntry& entry) {
  std::string text;
  for (const Expression& extent : entry.block) {
    std::string factor = extent.text();
    for (const std::string& name : extent.Names()) {
      if (!HasTunable(view, name)) return std::nullopt;
      const auto bound = entry.with.find(name);
      factor =
          ReplaceWord(factor, name, bound == entry.with.end() ? "HONE_TUNE_" + name : std::to_string(bound->second));
    }
    // Functions of the expression language are not C++.
    for (const std::string_view function :
         {"min", "max", "ceil_div", "round_up", "log2", "occupancy", "align", "stride"}) {
      if (factor.find(std::string(function) + "(") != std::string::npos) return std::nullopt;
    }
    if (factor == "1" && !text.empty()) continue;
    const bool simple = factor.find_first_of(" +-*/%?") == std::string::npos;
    text += (text.empty() ? "" : " * ") + (simple ? factor : "(" + factor + ")");
  }
  return text;
}

// Adds __launch_bounds__ to every launched kernel whose block size is constant. `full_occupancy`: also with the number
// of blocks that fills an SM.
RewriteOutcome BoundLaunches(const SourceView& view, bool full_occupancy) {
  std::vector<TextEdit> edits;
  std::string reason = "no kernel is launched by the plan";
  for (const KernelText& kernel : view.kernels()) {
    const std::vector<size_t> entries = view.EntriesOf(kernel);
    if (entries.empty()) continue;
    std::set<std::string> sizes;
    bool constant = true;
    for (const size_t entry : entries) {
      const std::optional<std::string> threads = BlockThreads(view, view.candidate().plan.entries[entry]);
      if (threads)
        sizes.insert(*threads);
      else
        constant = false;
    }
    if (!constant || sizes.size() != 1) {
      reason = fmt::format("the block size of {} is no single constant", kernel.name);
      continue;
    }
    const std::string& threads = *sizes.begin();
    // At most 2048 threads are resident on a multiprocessor; the bound asks for as many blocks as fit.
    const std::string bounds =
        full_occupancy ? fmt::format("__launch_bounds__({0}, 2048 / ({0}) > 32 ? 32 : 2048 / ({0}))", threads)
                       : fmt::format("__launch_bounds__({})", threads);
    if (kernel.launch_bounds >= 0) {
      const Token& open = view.token(kernel.launch_bounds + 1);
      bool has_minimum = false;
      int depth = 0;
      for (int i = kernel.launch_bounds + 1; i <= open.match; ++i) {
        depth += Is(view.token(i), "(") ? 1 : Is(view.token(i), ")") ? -1 : 0;
        has_minimum = has_minimum || (depth == 1 && Is(view.token(i), ","));
      }
      if (!full_occupancy || has_minimum) {
        reason = fmt::format("{} has its __launch_bounds__ already", kernel.name);
        continue;
      }
      edits.push_back({view.token(kernel.launch_bounds).begin, view.token(open.match).end, bounds});
      continue;
    }
    const size_t at = view.token(kernel.name_token).begin;
    edits.push_back({at, at, bounds + " "});
  }
  if (edits.empty()) return NotApplicable(reason);
  return ApplyEdits(view, edits, fmt::format("{} kernel(s) bounded", edits.size()));
}

}  // namespace

RewriteOutcome AddLaunchBounds(const SourceView& view) { return BoundLaunches(view, false); }

RewriteOutcome BoundRegistersForFullOccupancy(const SourceView& view) { return BoundLaunches(view, true); }

RewriteOutcome AddRestrict(const SourceView& view) {
  std::vector<TextEdit> edits;
  std::string reason = "every pointer parameter carries __restrict__ already";
  for (const KernelText& kernel : view.kernels()) {
    if (view.EntriesOf(kernel).empty()) continue;
    if (!view.ParametersAreDistinct(kernel)) {
      reason = fmt::format("{} is given the same storage twice", kernel.name);
      continue;
    }
    for (const KernelParameter& p : kernel.parameters) {
      if (!p.pointer || p.restricted || p.name < 0) continue;
      const size_t at = view.token(p.name).begin;
      edits.push_back({at, at, view.text()[at - 1] == ' ' ? "__restrict__ " : " __restrict__ "});
    }
  }
  if (edits.empty()) return NotApplicable(reason);
  return ApplyEdits(view, edits, fmt::format("{} parameter(s) marked", edits.size()));
}

namespace {

// Normalizes a name: "kBlockSize", "BLOCK_SIZE" and "block_size" are equal.
std::string NormalizeName(std::string_view name) {
  std::string normalized;
  if (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1])) != 0)
    name.remove_prefix(1);
  for (const char c : name) {
    if (c != '_') normalized += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return normalized;
}

// Returns whether `name`, a constant or a template parameter equal to the block's size, means the block's size and not
// another number, such as 256 bins: by its name, as the step of a loop that begins at a thread's index, or as the
// factor of a block's index.
bool StandsForTheBlock(const SourceView& view, std::string_view name) {
  static const std::set<std::string> kNames = {
      "block",           "threads",         "blocksize",       "blockdim", "blockthreads", "blockx",
      "blockdimx",       "threadsperblock", "numthreads",      "nthreads", "tpb",          "threadcount",
      "threadblocksize", "blocksizex",      "numthreadsblock", "ctasize"};
  if (kNames.count(NormalizeName(name)) != 0) return true;
  const auto count = static_cast<int>(view.tokens().size());
  const auto token_is = [&](int i, std::string_view text) { return i >= 0 && i < count && Is(view.token(i), text); };
  for (int i = 0; i < count; ++i) {
    if (!token_is(i, name)) continue;
    // blockIdx.x * NAME, NAME * blockIdx.x
    if (token_is(i - 1, "*") && token_is(i - 2, "x") && token_is(i - 3, ".") && token_is(i - 4, "blockIdx"))
      return true;
    if (token_is(i + 1, "*") && token_is(i + 2, "blockIdx") && token_is(i + 4, "x")) return true;
    // for (int i = threadIdx.x; i < n; i += NAME)
    if (!token_is(i - 1, "+=") || !token_is(i + 1, ")")) continue;
    const int open = view.token(i + 1).match;
    for (int k = open; k >= 0 && k < i && !token_is(k, ";"); ++k) {
      if (token_is(k, "threadIdx")) return true;
    }
  }
  return false;
}

// Returns the names of a kernel template's parameters, in order; empty: no template.
std::vector<std::string> TemplateParameters(const SourceView& view, const KernelText& kernel) {
  int open = kernel.global;
  while (open > 0 && !Is(view.token(open), "template") && !Is(view.token(open), "}") && !Is(view.token(open), ";"))
    --open;
  std::vector<std::string> names;
  if (!Is(view.token(open), "template")) return names;
  int depth = 0;
  std::string last;
  bool defaulted = false;
  for (int i = open + 1; i < kernel.global; ++i) {
    const Token& t = view.token(i);
    if (Is(t, "<")) ++depth;
    const bool end = Is(t, ">") && --depth == 0;
    if (end || (Is(t, ",") && depth == 1)) {
      if (!last.empty()) names.push_back(last);
      last.clear();
      defaulted = false;
    }
    if (end) break;
    if (Is(t, "=")) defaulted = true;
    if (t.kind == TokenKind::kIdentifier && !defaulted) last = std::string(t.text);
  }
  return names;
}

// Returns why a template argument `literal` of entry's kernel may not be the block's size; empty: it is.
std::string UnclearArgument(const SourceView& view, size_t entry, const std::string& literal) {
  const std::string& name = view.candidate().plan.entries[entry].kernel;
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (const Token& t : LexCuda(name)) {
    if (Is(t, "<") || Is(t, "(")) ++depth;
    if (Is(t, ">") || Is(t, ")")) --depth;
    if (depth == 0 || (depth == 1 && Is(t, "<"))) continue;
    if (depth == 1 && Is(t, ","))
      arguments.emplace_back();
    else
      arguments.back() += t.text;
  }
  for (const KernelText& kernel : view.kernels()) {
    if (kernel.name != BaseName(name)) continue;
    const std::vector<std::string> parameters = TemplateParameters(view, kernel);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (ReplaceWord(arguments[i], literal, "") == arguments[i]) continue;
      if (arguments[i] == literal && i < parameters.size() && StandsForTheBlock(view, parameters[i])) continue;
      return fmt::format("{} has the template argument {}: whether it is the block size is not clear", name,
                         arguments[i]);
    }
    return "";
  }
  return fmt::format("the kernel {} is not found in the code", name);
}

}  // namespace

RewriteOutcome MakeBlockTunable(const SourceView& view) {
  const LaunchPlan& plan = view.candidate().plan;
  if (HasTunable(view, "BLOCK")) return NotApplicable("there is a tunable BLOCK already");
  // One literal size for all launches, in the first dimension.
  std::set<std::string> literals;
  for (const PlanEntry& entry : plan.entries) {
    if (!entry.is_launch()) continue;
    if (entry.block.size() > 1 &&
        (entry.block[1].text() != "1" || (entry.block.size() > 2 && entry.block[2].text() != "1"))) {
      return NotApplicable("blocks have more than one dimension");
    }
    literals.insert(entry.block[0].text());
  }
  if (literals.size() != 1) return NotApplicable("launches differ in their block sizes");
  const std::string literal = *literals.begin();
  int64_t size = 0;
  if (literal.empty() || literal.find_first_not_of("0123456789") != std::string::npos) {
    return NotApplicable(fmt::format("the block size '{}' is no literal", literal));
  }
  size = std::stoll(literal);
  if (size < 64 || size > 1024 || size % 32 != 0)
    return NotApplicable(fmt::format("a block of {} threads is a choice of its own", size));

  std::vector<TextEdit> edits;
  // In the code, only a named constant may stand for the block size; a bare literal could mean anything.
  for (int i = 0; i < static_cast<int>(view.tokens().size()); ++i) {
    const Token& t = view.token(i);
    if (t.kind == TokenKind::kDirective) {
      if (t.text.starts_with("#define") && t.text.find(literal) != std::string_view::npos) {
        return NotApplicable(fmt::format("a macro mentions {}: whether it is the block size is not clear", literal));
      }
      continue;
    }
    if (t.kind != TokenKind::kNumber || t.text != literal) continue;
    bool constant = false;
    if (i >= 3 && Is(view.token(i - 1), "=") && i + 1 < static_cast<int>(view.tokens().size()) &&
        Is(view.token(i + 1), ";")) {
      for (int j = std::max(0, i - 6); j < i; ++j) constant = constant || Is(view.token(j), "constexpr");
    }
    if (constant && !StandsForTheBlock(view, view.token(i - 2).text)) {
      return NotApplicable(fmt::format("the code has {} = {}: whether it is the block size is not clear",
                                       view.token(i - 2).text, literal));
    }
    const bool bounds = i >= 2 && Is(view.token(i - 2), "__launch_bounds__");
    if (!constant && !bounds) {
      return NotApplicable(fmt::format("the code has a bare {}: whether it is the block size is not clear", literal));
    }
    edits.push_back({t.begin, t.end, "HONE_TUNE_BLOCK"});
  }
  for (size_t entry = 0; entry < plan.entries.size(); ++entry) {
    if (!plan.entries[entry].is_launch()) continue;
    const PlanSection* section = view.plan().Entry(entry);
    if (section == nullptr) return NotApplicable("the plan's text is not understood");
    for (const std::string_view field : {"block", "grid", "shared", "kernel"}) {
      const PlanKey* key = section->Find(field);
      if (key == nullptr) continue;
      const std::string value(view.text().substr(key->value_begin, key->value_end - key->value_begin));
      std::string changed = ReplaceWord(value, literal, "BLOCK");
      if (field == "shared" && changed != value) {
        return NotApplicable(
            fmt::format("the shared memory is {}: whether its {} is the block size is not clear", value, literal));
      }
      if (field == "kernel" && changed != value) {
        // A template argument of the block's size: the kernel must know the size that it is launched with.
        if (const std::string unclear = UnclearArgument(view, entry, literal); !unclear.empty())
          return NotApplicable(unclear);
      }
      if (changed != value) edits.push_back({key->value_begin, key->value_end, changed});
    }
  }
  std::vector<int64_t> choices{size};
  for (const int64_t choice : {128, 256, 512, 1024}) {
    if (choice != size) choices.push_back(choice);
  }
  edits.push_back(AddTunable(view, "BLOCK", choices));
  return ApplyEdits(view, edits, fmt::format("the block size {} became the tunable BLOCK", size));
}

}  // namespace hone
