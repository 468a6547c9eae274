// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA that stands in a Python file as strings, the way torch.utils.cpp_extension.load_inline takes it.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Whether `text`, named `file`, is Python rather than CUDA.
bool LooksLikePython(std::string_view text, std::string_view file);

// The string literals that hold kernels or launches, each at the line where it stands in the file and nothing else, so
// that lines keep their numbers. kInvalidArgument, with the line and a remedy, where there is none or where Python
// would change the text first (f-strings, .format, %).
Result<std::string> CudaFromPython(std::string_view text, std::string_view file);

}  // namespace hone
