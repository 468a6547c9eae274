// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Locates the keys and values in a candidate's launch plan, so that a plan can be changed without touching its
// comments, its order or a byte of the code below.
//
// Only finds places; ParseCandidate decides meaning and validity. Offsets are into the candidate's whole text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"

namespace hone {

struct PlanKey {
  std::string name;
  size_t line_begin = 0;                  // start of the statement's line
  size_t value_begin = 0, value_end = 0;  // the value's bytes, without a trailing comment
  size_t line_end = 0;                    // one past the statement's newline
};

struct PlanSection {
  std::string name;           // "" (top level), "tune", "launch", "memset", …
  bool array = false;         // [[name]]
  size_t begin = 0, end = 0;  // header included, up to the next header or the plan's end
  std::vector<PlanKey> keys;

  const PlanKey* Find(std::string_view key) const;
};

struct PlanOutline {
  size_t begin = 0;                   // first byte after "/*hone"
  size_t end = 0;                     // the "*/"
  std::vector<PlanSection> sections;  // first: top level, possibly without keys

  // Returns the section of plan entry `entry` (launch, memset and call sections in file order); nullptr: none.
  const PlanSection* Entry(size_t entry) const;
  const PlanSection* Find(std::string_view section) const;
};

// Finds the plan. kInvalidArgument: there is no plan comment, or a statement is not understood.
Result<PlanOutline> FindPlan(std::string_view source);

// Formats an integer tunable of a plan as TOML: "BLOCK = [128, 256]".
std::string TunableLine(std::string_view name, const std::vector<int64_t>& choices);
// Formats a TOML basic string; an end of line becomes a blank.
std::string Quote(std::string_view text);
// Returns the expression with every whole identifier or whole decimal number that equals `word` replaced by
// `replacement`.
std::string ReplaceWord(std::string_view expression, std::string_view word, std::string_view replacement);

}  // namespace hone
