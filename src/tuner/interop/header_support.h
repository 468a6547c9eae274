// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the text that all generated headers share: checked integers, device facts, one launch.
#pragma once

#include <string_view>

namespace hone {

// Returns C++17 text for the inside of an unnamed namespace, after <cuda_runtime.h>, <stdint.h> and <string.h>.
std::string_view HeaderSupport();
// Returns more such text for plans with tensor maps; it needs <cuda.h>.
std::string_view TensorMapSupport();

}  // namespace hone
