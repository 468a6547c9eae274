// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone`: judges, tunes and optimises GPU kernels. Each subcommand lives in its own file.
#include <cstdio>
#include <exception>
#include <new>

#include "common/build_facts.h"
#include "common/command_line.h"
#include "common/shell_commands.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/hidden_commands.h"
#include "hone/guide.h"
#include "hone/signal_stop.h"

int main(int argc, char** argv) {
  // Compilers, workers and the simulator are child processes that run this same executable with a hidden command.
  if (std::optional<int> status = hone::RunHiddenCommand(argc, argv)) return *status;

  hone::MakeFileLimitAnError();
  hone::RemoveTemporariesOnSignals();
  hone::CommandContext context = hone::MakeCommandContext();
  CLI::App app{"Hone makes GPU kernels fast, and proves that they are right."};
  app.name("hone");
  hone::AddVersionOption(app);
  app.require_subcommand(1);
  // Arguments may be names of files that come from elsewhere.
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return hone::VisibleText(hone::UsageMessage(command, error));
  });
  hone::RegisterDevicesCommand(app, context);
  hone::RegisterDoctorCommand(app, context);
  hone::RegisterTasksCommand(app, context);
  hone::RegisterEvalCommand(app, context);
  hone::RegisterCompareCommand(app, context);
  hone::RegisterWorkerCommand(app, context);
  hone::RegisterWorkersCommand(app, context);
  hone::RegisterCleanCommand(app, context);
  hone::RegisterRightsCommand(app, context);
  hone::RegisterTuneCommand(app, context);
  hone::RegisterDbCommand(app, context);
  hone::RegisterOptimizeCommand(app, context);
  hone::RegisterBenchCommand(app, context);
  hone::RegisterRunsCommand(app, context);
  hone::RegisterShowCommand(app, context);
  hone::RegisterReportCommand(app, context);
  hone::RegisterApplyCommand(app, context);
  hone::RegisterPackCommand(app, context);
  hone::RegisterVerifyCommand(app, context);
  hone::RegisterNewCommand(app, context);
  hone::RegisterGateCommand(app, context);
  hone::RegisterMcpCommand(app, context);
  const hone::Guide guide = hone::MakeGuide(context);
  hone::RegisterShellCommands(app, guide, context.exit_status);
  hone::RefuseWrongValues(app);
  hone::ApplyGuide(app, guide);
  if (std::optional<int> status = hone::RunShellCommand(app, guide, argc, argv)) return *status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? hone::FlushOutput("hone", 0) : 2;
  } catch (const std::bad_alloc&) {
    hone::WriteAsIs(stderr, "hone: not enough memory\n");
    return 3;
  } catch (const std::exception& error) {  // fmt throws where standard output cannot be written
    hone::PrintError("hone: {}\n", hone::VisibleLine(error.what()));
    return 3;
  }
  return hone::FlushOutput("hone", context.exit_status);
}
