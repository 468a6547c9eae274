// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// No strategy of ours: a coding agent decides what it tries next (docs/models.md, agent:COMMAND), and each version that
// it hands in is judged as an attempt of the run.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeAgentStrategy();

}  // namespace hone
