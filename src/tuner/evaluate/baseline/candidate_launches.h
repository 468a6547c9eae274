// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A candidate's launches for one case as the PyTorch child takes them, so that it can time the candidate and an expression in
// interleaved quads: both in one process, on the same inputs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/core/compiled_program.h"

namespace hone {

// {key: cubin in hexadecimal digits}, of all of the program's modules.
nlohmann::json ModulesJson(const CompiledProgram& program);

// {"outputs": {tensor: {shape, dtype}}, "workspaces": {name: bytes}, "steps": [launch or memset]}. Not for every plan: one with
// tensor maps, structs, launches that depend on each other's progress, questions of occupancy, strided or aliased tensors, or in
// host mode, is kUnavailable with the reason.
Result<nlohmann::json> LaunchesJson(const CompiledProgram& program, const Task& task, const Dims& dims, const DeviceFacts& facts);

}  // namespace hone
