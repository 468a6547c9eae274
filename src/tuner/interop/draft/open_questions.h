// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the places in a task's files that the user must still fill in, where `hone new` wrote FILL_IN.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

inline constexpr char kFillIn[] = "FILL_IN";

struct OpenQuestion {
  std::string where;  // "tasks/x/task.toml:12"
  std::string line;   // the line's text
};

// Returns the open questions in the text of the file `file`, in order.
std::vector<OpenQuestion> FindOpenQuestions(std::string_view text, const std::string& file);

// Reads task.toml, seed.cu and oracle.cu in `directory`, as far as they exist. Returns OK when they have no open
// questions; otherwise kInvalidArgument with every place.
Status CheckNothingOpen(const std::string& directory);

}  // namespace hone
