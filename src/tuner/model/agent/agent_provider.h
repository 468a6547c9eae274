// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// agent:COMMAND as a model: each run has an agent of its own (agent_session.h), which answers for the role `agent`.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"
#include "tuner/model/agent/agent_session.h"

namespace hone {

// `options.folder` is the folder below which each run's agent has one named by the run.
std::unique_ptr<ModelProvider> MakeAgentProvider(AgentOptions options);

}  // namespace hone
