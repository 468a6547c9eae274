// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Translates one inline assembly statement of PTX to one C++ statement that uses ptx_ops.h.
#pragma once

#include <string>

#include "hone/base/status.h"
#include "tuner/device/sim/cuda/asm_statement.h"

namespace hone {

// Returns a `do { … } while (0)` on one line, without the final semicolon. Operands are evaluated once, in order,
// before the first instruction; outputs are written after the last. kInvalidArgument (with the statement's line) for
// PTX that is malformed or not emulated; a label, a branch or a declaration other than .reg is not emulated.
Result<std::string> TranslatePtx(const AsmStatement& statement);

}  // namespace hone
