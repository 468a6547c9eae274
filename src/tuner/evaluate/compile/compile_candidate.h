// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// From a parsed candidate to a program a device can load.
#pragma once

#include "hone/base/status.h"
#include "tuner/core/compiled_program.h"
#include "tuner/device/compiler.h"

namespace hone {

// Compiles every module `candidate` needs, in parallel on up to `jobs` threads; a failing module's verdict is
// found in the program. `is_oracle` types `ref:NAME` arguments as double pointers.
Result<CompiledProgram> CompileCandidate(Compiler& compiler, const Candidate& candidate, const Task& task,
                                         const Binding& binding, bool is_oracle, int jobs);

}  // namespace hone
