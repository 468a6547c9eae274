// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These gates judge what machine code shows without a launch, whichever compiler made it: resources, device globals,
// and faults (use of the device heap, managed variables, unresolved functions, names that are no kernels).
#pragma once

#include <string>
#include <vector>

#include "tuner/core/program/compiled_program.h"
#include "tuner/evaluate/compile/cubin_reader.h"

namespace hone {

// Turns `module` into a verdict on the candidate and clears everything else in it.
void RejectModule(CompiledModule& module, Verdict verdict, std::string digest);

// Moves the facts that `cubin` holds into `module`, whose `lowered` names are known, and judges them. `kernels` are the
// kernels that the launch plan names.
void TakeMachineCode(CubinInfo cubin, const std::vector<std::string>& kernels, CompiledModule& module);

}  // namespace hone
