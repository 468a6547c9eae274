// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the places in a task's files that still need an answer: FILL_IN, as written by `hone new`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

inline constexpr char kFillIn[] = "FILL_IN";

struct OpenQuestion {
  std::string where;  // "tasks/x/task.toml:12"
  std::string line;   // text of the line
};

// Returns the open questions of one file's text, in order. `where` names the file as `file`.
std::vector<OpenQuestion> FindOpenQuestions(std::string_view text, const std::string& file);

// Returns OK when task.toml, seed.cu and oracle.cu in `directory`, as far as they exist, have no open questions;
// otherwise kInvalidArgument with every place. Reads the files.
Status CheckNothingOpen(const std::string& directory);

}  // namespace hone
