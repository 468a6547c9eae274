// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a task in words: what it computes, on which shapes, how exactly, and what no kernel can beat.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone {

// Returns one entry of `hone tasks --json` (docs/evaluation-json.md).
nlohmann::json TaskJson(const Task& task);
// `hone tasks show --json`. The least times are by the datasheet of `gpu`.
nlohmann::json TaskDetailsJson(const Task& task, const DeviceFacts& gpu);
// The same for people, with how to judge its seed at the end.
std::string TaskText(const Task& task, const DeviceFacts& gpu);

}  // namespace hone
