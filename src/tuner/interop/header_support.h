// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of every generated header that is the same for all: checked integers, device facts, one launch.
#pragma once

#include <string_view>

namespace hone {

// C++17 text for the inside of an unnamed namespace, after <cuda_runtime.h>, <stdint.h> and <string.h>.
std::string_view HeaderSupport();
// The same for plans with tensor maps; needs <cuda.h>.
std::string_view TensorMapSupport();

}  // namespace hone
