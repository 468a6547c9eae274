// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the session and the compiler read off an image's bytes before anything of it runs: its shared memory and its
// writable globals. Names that the compiler plants in every image are agreed here.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/core/compiled_program.h"

namespace hone::sim {

inline constexpr std::string_view kEntryPrefix = "hone_entry_";             // + the kernel's number
inline constexpr std::string_view kDynamicShared = "hone_dynamic_shared";   // where all extern __shared__ arrays lie
inline constexpr std::string_view kSharedAnchor = "hone_shared_anchor";     // keeps the segment from being empty
inline constexpr uint32_t kDynamicSharedAlign = 1024;

struct ImageSymbols {
  uint32_t static_shared = 0;   // bytes, from the start of the segment
  uint32_t dynamic_offset = 0;  // of dynamic shared memory; when there is none, the end of static, rounded up
  bool has_dynamic = false;
  // Where the compiler keeps "already constructed" marks of shared arrays of class type, as (begin, end): they are not
  // the candidate's data, and g++ makes them even where construction does nothing.
  std::vector<std::pair<uint32_t, uint32_t>> guards;
  std::vector<DeviceGlobal> globals;
  // Where __constant__ variables lie, as (begin, end) from the image's start.
  std::vector<std::pair<uint64_t, uint64_t>> constants;
};

// Is `name` such a mark?
bool IsGuardSymbol(std::string_view name);

// kInvalidArgument when the bytes are no image.
Result<ImageSymbols> ReadImageSymbols(std::string_view image);

}  // namespace hone::sim
