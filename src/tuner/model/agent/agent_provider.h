// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes agent:COMMAND a model: each run has its own agent (agent_session.h), which answers for the role `agent`.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"
#include "tuner/model/agent/agent_session.h"

namespace hone {

// `options.folder`: the folder that contains one folder per run's agent, named by the run.
std::unique_ptr<ModelProvider> MakeAgentProvider(AgentOptions options);

}  // namespace hone
