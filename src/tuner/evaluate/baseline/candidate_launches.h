// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes a candidate's launches for one case in the form that the PyTorch child process (torch_child.py)
// reads. The child can then time the candidate and a PyTorch expression in interleaved quads: both in one process, on
// the same inputs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/core/program/compiled_program.h"

namespace hone {

// Returns {key: cubin in hexadecimal digits} for all modules of the program.
nlohmann::json ModulesJson(const CompiledProgram& program);

// Returns {"outputs": [{name, shape, dtype}] in the task's order, "workspaces": {name: bytes}, "steps": [launch or memset]}.
// kUnavailable, with the reason, for a plan that the child cannot launch: one in host mode, or one with tensor maps,
// structs, launches that depend on each other's progress, occupancy queries, or strided or aliased tensors.
Result<nlohmann::json> LaunchesJson(const CompiledProgram& program, const Task& task, const Dims& dims, const DeviceFacts& facts);

}  // namespace hone
