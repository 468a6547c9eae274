// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads an image's shared memory and writable globals from its bytes, for the session and the compiler, before any of
// it runs. Defines the names that the compiler adds to every image.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "tuner/core/program/compiled_program.h"

namespace hone::sim {

inline constexpr std::string_view kEntryPrefix = "hone_entry_";             // + the kernel's number
inline constexpr std::string_view kDynamicShared = "hone_dynamic_shared";   // location of all extern __shared__ arrays
inline constexpr std::string_view kSharedAnchor = "hone_shared_anchor";     // prevents an empty segment
inline constexpr uint32_t kDynamicSharedAlign = 1024;

struct ImageSymbols {
  uint32_t static_shared = 0;   // bytes, from the start of the segment
  uint32_t dynamic_offset = 0;  // offset of dynamic shared memory; without any, the end of static, rounded up
  bool has_dynamic = false;
  // Locations, as (begin, end), of the compiler's "already constructed" flags of shared arrays of class type. They are
  // not the candidate's data, and g++ makes them even if construction does nothing.
  std::vector<std::pair<uint32_t, uint32_t>> guards;
  std::vector<DeviceGlobal> globals;
  // Locations of __constant__ variables, as (begin, end) from the image's start.
  std::vector<std::pair<uint64_t, uint64_t>> constants;
};

// Returns whether `name` belongs to one of the flags of ImageSymbols::guards.
bool IsGuardSymbol(std::string_view name);

// Reads the symbols. kInvalidArgument when the bytes are not an image.
Result<ImageSymbols> ReadImageSymbols(std::string_view image);

}  // namespace hone::sim
