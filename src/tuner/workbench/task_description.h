// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a task: what it computes, on which shapes, with which tolerance, and the least time that a kernel can take.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns one entry of `hone tasks --json` (docs/evaluation-json.md).
nlohmann::json TaskJson(const Task& task);
// Returns the object of `hone tasks show --json`. Least times follow from the bandwidth of `gpu`.
nlohmann::json TaskDetailsJson(const Task& task, const DeviceFacts& gpu);
// Returns the same as text for a terminal, with the command that judges the task's seed at the end.
std::string TaskText(const Task& task, const DeviceFacts& gpu);

}  // namespace hone
