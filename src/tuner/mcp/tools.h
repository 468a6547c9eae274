// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file makes the tools that a coding agent calls and the resources that it reads. docs/mcp.md describes them for
// users.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/mcp/tool.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

// Returns all tools, in the order in which they are listed. They share the toolbox.
std::vector<Tool> AllTools(const std::shared_ptr<Toolbox>& toolbox);

// The parts of AllTools.
std::vector<Tool> TaskTools(const std::shared_ptr<Toolbox>& toolbox);     // tasks, task
std::vector<Tool> NewTaskTools(const std::shared_ptr<Toolbox>& toolbox);  // new_task
std::vector<Tool> JudgeTools(const std::shared_ptr<Toolbox>& toolbox);    // eval, compare, profile
std::vector<Tool> TuneTools(const std::shared_ptr<Toolbox>& toolbox);     // tune
std::vector<Tool> RunTools(
    const std::shared_ptr<Toolbox>& toolbox);  // run_start, run_status, run_stop, run_best, apply

// Returns the tools of `hone mcp --agent SOCKET`, for the coding agent of one run: task, eval, verdict. They work
// through the run's socket (src/tuner/model/agent/agent_channel.h) and reach nothing else, except that `eval` reads
// files below the toolbox's root.
std::vector<Tool> AgentTools(const std::shared_ptr<Toolbox>& toolbox, const std::string& socket);

std::unique_ptr<Resources> MakeResources(const std::shared_ptr<Toolbox>& toolbox);

// Return the text that explains the server's purpose to a model: of AllTools, and of AgentTools.
std::string Instructions();
std::string AgentInstructions();
// Returns a text that explains to a model how to write a candidate: the launch plan and what is judged. `modelled`: for
// the simulated GPU.
std::string CandidateGuide(bool modelled);

}  // namespace hone::mcp
