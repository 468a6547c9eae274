// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of loads and stores: the same access, with a word about how the caches should treat it.
#include <fmt/format.h>

#include "tuner/model/builtin/rewrite.h"

namespace hone {
namespace {

std::string CountText(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Puts loads of `in` tensors into a call of `function` (__ldg, __ldcs).
RewriteOutcome HintLoads(const SourceView& view, std::string_view function) {
  std::vector<TextEdit> edits;
  size_t written_tensors = 0, other_types = 0;
  for (const KernelText& kernel : view.kernels()) {
    for (const GlobalAccess& access : view.Accesses(kernel)) {
      if (access.store) continue;
      // __ldg requires that nothing writes there while the kernel runs: true only of `in` tensors.
      const TensorSpec* tensor = view.TensorOf(kernel, access.parameter);
      if (tensor == nullptr || tensor->role != TensorRole::kIn) {
        ++written_tensors;
        continue;
      }
      if (!view.HasCacheHints(access.type)) {
        ++other_types;
        continue;
      }
      if (access.dereference) {
        edits.push_back(
            {view.token(access.first).begin, view.token(access.first + 1).begin, fmt::format("{}(", function)});
      } else {
        const size_t at = view.token(access.first).begin;
        edits.push_back({at, at, fmt::format("{}(&", function)});
      }
      const size_t end = view.token(access.last).end;
      edits.push_back({end, end, ")"});
    }
  }
  if (!edits.empty()) return ApplyEdits(view, edits, CountText(edits.size() / 2, "load") + " changed");
  if (written_tensors + other_types > 0) {
    return NotApplicable(fmt::format("{} of tensors that are written too, {} of types without such a load",
                                     CountText(written_tensors, "load"), other_types));
  }
  return NotApplicable("no plain load of an input was found in the kernels' own bodies");
}

}  // namespace

RewriteOutcome UseReadOnlyLoads(const SourceView& view) { return HintLoads(view, "__ldg"); }

RewriteOutcome UseStreamingLoads(const SourceView& view) { return HintLoads(view, "__ldcs"); }

RewriteOutcome UseStreamingStores(const SourceView& view) {
  std::vector<TextEdit> edits;
  size_t read_again = 0, other = 0;
  for (const KernelText& kernel : view.kernels()) {
    const std::vector<GlobalAccess> accesses = view.Accesses(kernel);
    for (const GlobalAccess& access : accesses) {
      if (!access.store) continue;
      // Data that the kernel itself reads back should stay in the cache.
      bool loads_again = false;
      for (const GlobalAccess& later : accesses) {
        loads_again =
            loads_again || (!later.store && later.first > access.first && later.parameter == access.parameter);
      }
      if (loads_again) {
        ++read_again;
        continue;
      }
      const TensorSpec* tensor = view.TensorOf(kernel, access.parameter);
      if (tensor == nullptr || !view.HasCacheHints(access.type)) {
        ++other;
        continue;
      }
      // Replaces `TARGET = VALUE;` by `__stcs(&TARGET, VALUE);`.
      const size_t at = view.token(access.first).begin;
      if (access.dereference)
        edits.push_back({at, view.token(access.first + 1).begin, "__stcs("});
      else
        edits.push_back({at, at, "__stcs(&"});
      edits.push_back({view.token(access.last).end, view.token(access.value_first).begin, ", "});
      const size_t end = view.token(access.value_last).end;
      edits.push_back({end, end, ")"});
    }
  }
  if (!edits.empty()) {
    return ApplyEdits(view, edits,
                      fmt::format("{} changed{}", CountText(edits.size() / 3, "store"),
                                  read_again == 0 ? ""
                                                  : fmt::format(", {} left alone because the kernel "
                                                                "reads them again",
                                                                read_again)));
  }
  if (read_again + other > 0) {
    return NotApplicable(
        fmt::format("{} that the kernel reads again, {} to workspaces or of types without such a store",
                    CountText(read_again, "store"), other));
  }
  return NotApplicable("no plain store to a tensor was found in the kernels' own bodies");
}

}  // namespace hone
