// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides the C++ text that all generated headers share: checked integers, queries of the device, one launch.
#pragma once

#include <string_view>

namespace hone {

// Returns C++17 text for the inside of an unnamed namespace, after <cuda_runtime.h>, <stdint.h> and <string.h>.
std::string_view HeaderSupport();
// Returns more such text for plans with tensor maps; it needs <cuda.h>.
std::string_view TensorMapSupport();
// Returns text for plans that call libraries: the calls' parameters, and declarations of two functions that the program
// which includes the header must define. TorchCallFunctions returns their definitions by PyTorch, for the binding. Both
// texts go into a named namespace, because nvcc keeps the unnamed namespaces of two files apart.
std::string_view LibraryCallSupport();
std::string_view TorchCallFunctions();

}  // namespace hone
