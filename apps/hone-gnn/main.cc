// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone-gnn`: trains and serves graph networks on sampled mini-batches. Each subcommand lives in its own file.
#include <cstdio>
#include <new>

#include "common/build_facts.h"
#include "common/command_line.h"
#include "common/shell_commands.h"
#include "common/standard_output.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/guide.h"

namespace hone::gnn {

int ReportStatus(const Status& status) {
  if (status.ok()) return 0;
  PrintError("hone-gnn: {}\n", status.message());
  switch (status.code()) {
    case StatusCode::kOk: return 0;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound: return 2;
    default: return 3;
  }
}

}  // namespace hone::gnn

int main(int argc, char** argv) {
  hone::MakeFileLimitAnError();
  hone::gnn::CommandResult result;
  CLI::App app{"Trains and serves graph neural networks on sampled mini-batches."};
  app.name("hone-gnn");
  hone::AddVersionOption(app);
  app.require_subcommand(1);
  app.failure_message(hone::UsageMessage);
  hone::gnn::RegisterConvertCommand(app, result);
  hone::gnn::RegisterGenerateCommand(app, result);
  hone::gnn::RegisterInfoCommand(app, result);
  hone::gnn::RegisterModelsCommand(app, result);
  hone::gnn::RegisterTrainCommand(app, result);
  hone::gnn::RegisterInferCommand(app, result);
  hone::gnn::RegisterServeCommand(app, result);
  hone::gnn::RegisterTuneModelCommand(app, result);
  hone::gnn::RegisterDoctorCommand(app, result);
  hone::gnn::RegisterBenchCommand(app, result);
  hone::gnn::RegisterEpochBenchCommand(app, result);
  const hone::Guide guide = hone::gnn::MakeGuide();
  hone::RegisterShellCommands(app, guide, result.exit_status);
  hone::RefuseWrongValues(app);
  hone::ApplyGuide(app, guide);
  if (std::optional<int> status = hone::RunShellCommand(app, guide, argc, argv)) return *status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? hone::FlushOutput("hone-gnn", 0) : 2;
  } catch (const std::bad_alloc&) {
    hone::WriteAsIs(stderr, "hone-gnn: not enough memory; a smaller --batch or fewer --threads may fit\n");
    return 3;
  } catch (const std::exception& error) {  // fmt throws where standard output cannot be written
    hone::PrintError("hone-gnn: {}\n", hone::VisibleLine(error.what()));
    return 3;
  }
  return hone::FlushOutput("hone-gnn", result.exit_status);
}
