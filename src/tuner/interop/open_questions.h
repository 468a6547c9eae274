// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The places in a task's files that still wait for an answer: FILL_IN, as `hone new` leaves it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

inline constexpr char kFillIn[] = "FILL_IN";

struct OpenQuestion {
  std::string where;  // "tasks/x/task.toml:12"
  std::string line;   // that line
};

// Those of one file's text, in order. `file` is how `where` names it.
std::vector<OpenQuestion> FindOpenQuestions(std::string_view text, const std::string& file);

// Ok when task.toml, seed.cu and oracle.cu in `directory`, as far as they are there, leave nothing open; otherwise
// kInvalidArgument, with every place. Reads the files.
Status CheckNothingOpen(const std::string& directory);

}  // namespace hone
