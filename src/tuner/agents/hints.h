// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the hint of each attempt that starts from a version together with others: an entry of the class's menu. The
// findings of the version's profile decide which entries come first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/run_view.h"

namespace hone {

// An entry of a menu (src/tuner/prompts/class_*.md), such as
// "- **Read once.** <!-- answers: rereads --> Keep the row in registers".
struct MenuEntry {
  std::string name;                  // "Read once"
  std::string text;                  // the entry without "- " and without the comment
  std::vector<std::string> answers;  // kinds of findings (ProfileFinding::kind) that the entry is a remedy for
};

// Returns the menu's entries in their order.
std::vector<MenuEntry> MenuEntries(std::string_view menu);

// Returns the menu as prompts show it: without the comments that name the findings.
std::string ShownMenu(std::string_view menu);

// Returns the findings of a profile that promise a gain, one of each kind, the most valuable first. Empty if `judged`
// is null or holds no profile.
std::vector<ProfileFinding> DistinctFindings(const Evaluation* judged);

// A hint with its reason.
struct Hint {
  GivenHint given;  // what the run's record says
  std::string why;  // the finding in words, for the prompt; empty: the hint answers no finding
};

// Returns all hints for attempts from one version, in the order in which they are given out. First each finding gets
// the first entry that answers it, then each its second one, and so on; a finding that no entry answers is a hint
// itself. The entries that answer no finding follow, shuffled by `shuffle`.
std::vector<Hint> OrderedHints(const Evaluation* judged, std::string_view menu, uint64_t shuffle);

// Returns the hint of the attempt `node`, `judged` is its parent's evaluation, whose profile the turn may see if `profile`. Attempts
// of one parent take the hints in turn. Nullopt: attempts do not overlap, this one repairs, or the menu is empty. Pure:
// the same log gives the same hint.
std::optional<Hint> HintOfAttempt(const RunView& view, const RunNode& node, const Evaluation* judged, bool profile,
                            std::string_view menu);

}  // namespace hone
