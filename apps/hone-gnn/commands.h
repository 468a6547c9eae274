// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file declares the subcommands of `hone-gnn`, one source file each, and their exit statuses.
#pragma once

#include <CLI/CLI.hpp>

#include "hone/base/status.h"

namespace hone::gnn {

// A subcommand's callback leaves its exit status here: 0 done, 1 the goal was not reached, 2 wrong usage or bad
// input, 3 the environment failed.
struct CommandResult {
  int exit_status = 0;
};

// Writes the status to standard error and returns the exit status it stands for.
int ReportStatus(const Status& status);

void RegisterConvertCommand(CLI::App& app, CommandResult& result);
void RegisterBenchCommand(CLI::App& app, CommandResult& result);
void RegisterDoctorCommand(CLI::App& app, CommandResult& result);
void RegisterGenerateCommand(CLI::App& app, CommandResult& result);
void RegisterInfoCommand(CLI::App& app, CommandResult& result);
void RegisterModelsCommand(CLI::App& app, CommandResult& result);
void RegisterTrainCommand(CLI::App& app, CommandResult& result);
void RegisterInferCommand(CLI::App& app, CommandResult& result);
void RegisterServeCommand(CLI::App& app, CommandResult& result);
void RegisterTuneModelCommand(CLI::App& app, CommandResult& result);
// Adds `epoch` to the command `bench`, which must be there if any other bench is.
void RegisterEpochBenchCommand(CLI::App& app, CommandResult& result);

}  // namespace hone::gnn
