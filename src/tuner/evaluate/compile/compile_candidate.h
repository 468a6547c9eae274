// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// CompileCandidate turns a parsed candidate into a program that a device can load.
#pragma once

#include "hone/base/status.h"
#include "tuner/core/program/compiled_program.h"
#include "tuner/device/compiler.h"

namespace hone {

// Compiles every module that `candidate` needs, in parallel on up to `jobs` threads. A module that fails to compile
// has its verdict in the returned program.
Result<CompiledProgram> CompileCandidate(Compiler& compiler, const Candidate& candidate, const Task& task,
                                         const Binding& binding, int jobs);

}  // namespace hone
