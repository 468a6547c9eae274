// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements agent, which leaves the strategy to a coding agent (docs/models.md, agent:COMMAND): each version that the
// agent hands in is judged as an attempt of the run.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeAgentStrategy();

}  // namespace hone
