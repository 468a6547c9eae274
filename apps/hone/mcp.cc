// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone mcp serves the judge to coding agents, which start it and talk to it over standard input and output.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/files/file.h"
#include "common/build_facts.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/mcp/server.h"
#include "tuner/mcp/tools.h"

namespace hone {
namespace {

struct McpFlags {
  DeviceFlags device;
  std::string root = ".", store, agent;
};

Status Run(CommandContext& context, const McpFlags& flags) {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(flags.root, error);
  if (error || !std::filesystem::is_directory(root, error)) {
    return Status::InvalidArgument(fmt::format(
        "--root {}: this is no folder; name the one that the server may read from and write to", flags.root));
  }
  HONE_RETURN_IF_ERROR(MakeCacheFolder(context));
  mcp::ToolboxOptions options;
  options.root = root.string();
  options.task_roots = TaskRoots(context);
  options.task_roots[0] = root / "tasks";
  options.evaluator = MakeEvaluatorOptions(context, flags.device);
  options.search_path = context.search_path;
  options.state_directory = context.state_directory;
  options.store = flags.store.empty() ? context.state_directory + "/runs.sqlite"
                                      : std::filesystem::absolute(flags.store, error).string();
  options.tuning_database = TuningDatabasePath(context);
  options.build = SweepBuild();
  for (char** entry = environ; *entry != nullptr; ++entry) options.run_environment.emplace_back(*entry);
  const auto toolbox = std::make_shared<mcp::Toolbox>(std::move(options));
  // Calls may outlast the client and so this function. The resources that they use are therefore never destroyed.
  mcp::Resources* const resources = mcp::MakeResources(toolbox).release();
  const BuildFacts build = ThisBuild();
  const bool for_agent = !flags.agent.empty();
  const mcp::ServerEnd end =
      mcp::Serve({.name = "hone",
                  .title = "Hone, a judge and tuner of CUDA kernels",
                  .version = build.version,
                  .instructions = for_agent ? mcp::AgentInstructions() : mcp::Instructions(),
                  .tools = for_agent ? mcp::AgentTools(toolbox, flags.agent) : mcp::AllTools(toolbox),
                  .resources = for_agent ? nullptr : resources},
                 STDIN_FILENO, STDOUT_FILENO);
  // Threads of abandoned calls use evaluators, which therefore cannot be destroyed. Ending by a signal removes their
  // temporary folders.
  if (end.abandoned_calls > 0) EndBySignalWithoutTemporaries(SIGPIPE);
  return Status::Ok();
}

}  // namespace

void RegisterMcpCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<McpFlags>();
  CLI::App* command = app.add_subcommand(
      "mcp", "serve the judge to a coding agent, over the Model Context Protocol (MCP) on standard input and output");
  command
      ->add_option("--root", flags->root,
                   "requests may read and write files in this folder alone; tasks are also read from Hone's own folder")
      ->capture_default_str();
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_option("--agent", flags->agent,
                      "not to be typed: `hone optimize --model agent:COMMAND` passes it, so that the server serves the "
                      "agent of that run alone; the run listens at this socket");
  AddServerDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
