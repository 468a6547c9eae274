// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device globals as runs of memory, so that a thousand variables of a header are restored by one copy.
//
// The driver tells each variable's address and size, and nothing of what lies between. Variables of one section lie close
// together, with nothing but padding between them; what is close is taken to be one run. Should the driver refuse to copy
// a run, because its memory is not of one piece after all, its variables are copied one by one (cuda_program.cc).
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

struct GlobalRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct GlobalRun {
  GlobalRange whole;
  std::vector<GlobalRange> variables;  // ascending; they may overlap or repeat
};

// Padding is shorter than the alignment of the variable behind it, and hardly any asks for more than 128 bytes. Where one
// does, there are two runs, which does no harm.
inline constexpr uint64_t kLargestPadding = 127;

std::vector<GlobalRun> GlobalRuns(std::vector<GlobalRange> variables);

}  // namespace hone
