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
// Returns text for plans with calls of libraries: what a call is, and the functions that a program that includes the header
// defines. TorchCallFunctions is PyTorch's definition, for the binding. Both stand in a namespace with a name: nvcc takes
// unnamed ones of two files for two.
std::string_view LibraryCallSupport();
std::string_view TorchCallFunctions();

}  // namespace hone
