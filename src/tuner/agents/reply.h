// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model's reply proposes: an idea in one line, and a whole file or search-and-replace blocks.
//
// Anything can come back from a model. Whatever cannot become a candidate is a problem with a name and a sentence,
// which the run keeps as a node and shows to the model; it never ends a run.
//
//   IDEA: one line
//   … reasoning …
//   ```cuda
//   the whole candidate, plan comment included
//   ```
// or, any number of times, inside or outside of a code block:
//   <<<<<<< SEARCH
//   lines of the parent
//   =======
//   lines to put there
//   >>>>>>> REPLACE
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/model_provider.h"

namespace hone {

struct Proposal {
  std::string idea;       // one line, at most 120 bytes
  std::string idea_key;   // IdeaKey(idea)
  std::string reasoning;  // the reply without its code, at most 4000 bytes
  std::string source;     // the new candidate; empty when there is a problem
  // empty | empty_reply | not_text | too_long | refused | cut_off | no_code | several_files | unclosed_block |
  // search_not_found | search_not_unique | search_empty | edits_overlap | no_plan | same_as_parent
  std::string problem;
  std::string detail;  // what happened and what to do about it
};

Proposal ParseReply(const ModelReply& reply, std::string_view parent);

// The idea in lower case, words joined by '-': "Use __ldg for x!" -> "use-ldg-for-x".
std::string IdeaKey(std::string_view idea);

// Whether `text` is valid UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace hone
