// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prepares CUDA source text for the host's C++ compiler: what headers cannot do.
#pragma once

#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Every inline assembly statement of `source` becomes a C++ statement that does the same through ptx_ops.h;
// `#pragma unroll` becomes the host compiler's (unroll_pragmas.h); shared variables get an empty initialiser
// (shared_declarations.h). Line counts stay, so that messages and findings name the
// candidate's lines. Comments and literals are left alone.
//
// kInvalidArgument, "line N: inline PTX '<opcode>' is not emulated by the simulated GPU" or what else is wrong, for
// PTX outside the set that ptx_instruction.cc emulates: the caller's verdict is `unsupported`.
// Thread-safe; a pure function of its argument.
Result<std::string> RewriteInlinePtx(std::string_view source);

}  // namespace hone
