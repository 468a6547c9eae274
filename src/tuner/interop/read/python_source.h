// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads CUDA code from strings in a Python file, as written for torch.utils.cpp_extension.load_inline.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Returns whether `text`, the content of `file`, is Python rather than CUDA.
bool LooksLikePython(std::string_view text, std::string_view file);

// Returns the values of the string literals that contain kernels or launches. Each begins at its line of the file, with
// empty lines in place of the other text, so that line numbers stay. kInvalidArgument, with the line and a remedy, if
// there is no such literal or if the program changes it first (f-strings, .format, %).
Result<std::string> CudaFromPython(std::string_view text, std::string_view file);

}  // namespace hone
