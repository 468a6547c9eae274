// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lays out the bytes of a resolved kernel argument by C's rules for size, alignment and padding, so that every launcher
// packs the same struct that the compiler sees.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone {

struct ArgumentLayout {
  int64_t size = 0;
  int64_t align = 1;
  std::vector<int64_t> field_offsets;  // only for kStruct
};

// Returns a resolved argument with the kinds and sizes that LayoutOf needs, and zeros as values. A layout does not
// depend on values, so a struct's layout is known before a plan is resolved for a case.
ResolvedArgument SizesOf(const Argument& argument);

// Returns the layout. Pointers are 8 bytes; tensor maps are 128 bytes, aligned to 64.
ArgumentLayout LayoutOf(const ResolvedArgument& argument);

// Returns the bytes of an argument as they are passed to the kernel; padding is zero. `address` must return the device
// address of a kTensor, kReference or kWorkspace argument by its kind and name, without its byte_offset, which
// PackArgument adds. The argument must not be a kTensorMap.
std::vector<uint8_t> PackArgument(const ResolvedArgument& argument,
                                  const std::function<uint64_t(const ResolvedArgument&)>& address);

}  // namespace hone
