// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the launch plan that a .cu file already contains, so that `hone new` takes it over and asks no questions about
// it.
//
// This reader extracts only what defines a task: which kernel gets which arguments, over which sizes. ParseCandidate
// checks the whole plan later, once there is a task to check it against.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"

namespace hone {

// A [[launch]] or a [[memset]] of the plan, in which each tunable's name is replaced by its first choice.
struct GivenEntry {
  int line = 0;  // in the file
  int step = 0;  // the number of its step in the plan
  std::string when;                      // empty: always
  std::string kernel;                    // as the plan names it: "norm<float, 4>"; empty: a memset
  std::vector<std::string> grid, block;  // one expression per axis
  std::string shared;                    // bytes of dynamic shared memory, an expression; empty: none
  std::vector<std::string> args;  // "x", "n:i32"
  std::string target, bytes;      // of a memset: the tensor, and an expression
  int value = 0;                  // of a memset: the byte
};

struct GivenPlan {
  size_t begin = 0, end = 0;  // bytes [begin, end) of the file that are the plan's comment
  int line = 0;               // line of the file where the plan begins
  Binding first_choices;            // tunable -> first choice
  std::vector<GivenEntry> entries;  // in the file's order
  std::vector<std::string> sizes;   // names in integer arguments, grids, blocks, memory and conditions; no tunables
};

// Returns nullopt when the file has no plan. kInvalidArgument, with file and line: the plan cannot be read, or has
// something from which no task can be derived (a library's call, a workspace, a tensor map, a struct, an offset,
// machine code).
Result<std::optional<GivenPlan>> ReadGivenPlan(std::string_view source, std::string_view file);

}  // namespace hone
