// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads CUDA code from strings in a Python file, as written for torch.utils.cpp_extension.load_inline.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Returns whether `text`, named `file`, is Python rather than CUDA.
bool LooksLikePython(std::string_view text, std::string_view file);

// Returns the string literals that contain kernels or launches, each at its line of the file and without other text, so
// that line numbers stay. kInvalidArgument, with the line and a remedy, if there is none or if Python would first
// change the text (f-strings, .format, %).
Result<std::string> CudaFromPython(std::string_view text, std::string_view file);

}  // namespace hone
