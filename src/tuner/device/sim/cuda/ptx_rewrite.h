// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites CUDA source text for the host's C++ compiler, where headers are not enough.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Rewrites `source`. Every inline assembly statement becomes an equivalent C++ statement that uses ptx_ops.h; `#pragma
// unroll` becomes the host compiler's (unroll_pragmas.h); shared variables get an empty initialiser
// (shared_declarations.h). Line numbers do not change, so messages and findings name the candidate's lines. Comments
// and literals stay as they are.
//
// kInvalidArgument, "line N: inline PTX '<opcode>' is not emulated by the simulated GPU" or another error, for PTX
// outside the set that ptx_instruction.cc emulates: the caller's verdict is `unsupported`. Thread-safe; a pure function
// of its argument.
Result<std::string> RewriteInlinePtx(std::string_view source);

}  // namespace hone
