// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What machine code shows by itself, whoever compiled it: resources, device globals, and the gates that need no launch
// (a device heap, managed variables, functions from nowhere, names that are no kernels).
#pragma once

#include <string>
#include <vector>

#include "tuner/core/compiled_program.h"
#include "tuner/evaluate/compile/cubin_reader.h"

namespace hone {

// Makes `module` a verdict on the candidate with nothing else to show.
void RejectModule(CompiledModule& module, Verdict verdict, std::string digest);

// Moves into `module`, whose `lowered` names are known, what `cubin` says of its image, and judges it. `kernels`: what
// the launch plan names.
void TakeMachineCode(CubinInfo cubin, const std::vector<std::string>& kernels, CompiledModule& module);

}  // namespace hone
