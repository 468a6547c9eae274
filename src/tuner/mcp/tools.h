// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the tools that a coding agent calls and the resources that it reads. docs/mcp.md describes them for users.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/mcp/tool.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

// Returns all tools, in the order of listing. They share the toolbox.
std::vector<Tool> AllTools(const std::shared_ptr<Toolbox>& toolbox);

// The parts of AllTools.
std::vector<Tool> TaskTools(const std::shared_ptr<Toolbox>& toolbox);     // tasks, task
std::vector<Tool> NewTaskTools(const std::shared_ptr<Toolbox>& toolbox);  // new_task
std::vector<Tool> JudgeTools(const std::shared_ptr<Toolbox>& toolbox);    // eval, compare, profile
std::vector<Tool> TuneTools(const std::shared_ptr<Toolbox>& toolbox);     // tune
std::vector<Tool> RunTools(
    const std::shared_ptr<Toolbox>& toolbox);  // run_start, run_status, run_stop, run_best, apply

// Returns the tools of `hone mcp --agent SOCKET`, for the agent of one run: task, eval, verdict. They only reach the
// run through its socket (src/tuner/model/agent/agent_channel.h); `eval` reads files below the toolbox's root.
std::vector<Tool> AgentTools(const std::shared_ptr<Toolbox>& toolbox, const std::string& socket);

std::unique_ptr<Resources> MakeResources(const std::shared_ptr<Toolbox>& toolbox);

// Explains the server's purpose to a model, once.
std::string Instructions();
std::string AgentInstructions();
// Explains to a model how to write a candidate: the launch plan and what is judged.
std::string CandidateGuide(bool modelled);

}  // namespace hone::mcp
