// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the launch plan that a file given to `hone new` holds already, so that the plan is taken and not asked for
// again.
//
// Only what tells about a task is read here: which kernel gets what, over which sizes. ParseCandidate judges the plan
// as a whole, once there is a task to judge it against.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"

namespace hone {

// A [[launch]] or a [[memset]], with the first choice of each tunable in place of its name.
struct GivenEntry {
  int line = 0;  // in the file
  int step = 0;
  std::string when;                      // empty: always
  std::string kernel;                    // as the plan names it: "norm<float, 4>"; empty: a memset
  std::vector<std::string> grid, block;  // expressions
  std::string shared;
  std::vector<std::string> args;  // "x", "n:i32"
  std::string target, bytes;      // target and size of a memset
  int value = 0;
};

struct GivenPlan {
  size_t begin = 0, end = 0;  // bytes of the comment in the file
  int line = 0;
  Binding first_choices;            // first choices of the tunables
  std::vector<GivenEntry> entries;  // in the file's order
  std::vector<std::string>
      sizes;  // names in integer arguments, grids, blocks, memory and conditions that are no tunables
};

// Returns nullopt when the file has no plan. kInvalidArgument, with file and line: the plan cannot be read, or holds
// something from which no task can be drawn (a library's call, a workspace, a tensor map, a struct, an offset, machine
// code).
Result<std::optional<GivenPlan>> ReadGivenPlan(std::string_view source, std::string_view file);

}  // namespace hone
