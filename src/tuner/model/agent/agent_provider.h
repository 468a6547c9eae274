// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the model agent:COMMAND: each run has its own agent (agent_session.h), which answers requests of the role
// `agent`.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"
#include "tuner/model/agent/agent_session.h"

namespace hone {

// Makes the provider. `options.folder`: the folder in which each run's agent gets a folder of its own, named by the
// run's id.
std::unique_ptr<ModelProvider> MakeAgentProvider(AgentOptions options);

}  // namespace hone
