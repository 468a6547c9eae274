// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a resolved argument lie when it is passed to a kernel: the rules of C for size, alignment
// and padding, so that every launcher packs the same struct the compiler sees.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone {

struct ArgumentLayout {
  int64_t size = 0;
  int64_t align = 1;
  std::vector<int64_t> field_offsets;  // kStruct
};

// What LayoutOf needs of an argument: kinds, and zeros of the right size. Neither depends on values, so a struct's
// layout is known before any case is.
ResolvedArgument SizesOf(const Argument& argument);

// Pointers are 8 bytes, tensor maps 128 bytes at 64.
ArgumentLayout LayoutOf(const ResolvedArgument& argument);

// The bytes as passed; padding is zero. `address` gives the device address of a kTensor, kReference or
// kWorkspace argument by its kind and name (byte_offset is added here). Not for kTensorMap.
std::vector<uint8_t> PackArgument(const ResolvedArgument& argument,
                                  const std::function<uint64_t(const ResolvedArgument&)>& address);

}  // namespace hone
