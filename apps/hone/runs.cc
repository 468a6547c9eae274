// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone runs lists the optimisation runs with their findings and their spending.
#include <fmt/format.h>

#include <memory>

#include "base/files/file.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/report/run_summary.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

struct RunsFlags {
  std::string store;
  bool json = false;
};

Status Run(const CommandContext& context, const RunsFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
  std::vector<RunSummary> runs;
  if (FileExists(path)) {  // a missing store means no runs: listing does not make one
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunStore> store, OpenStoreToRead(path));
    HONE_ASSIGN_OR_RETURN(runs, SummarizeRuns(*store));
  }
  Print("{}{}", flags.json ? RunSummaryToJson(runs) : RunsTable(runs, context.columns), flags.json ? "\n" : "");
  return Status::Ok();
}

}  // namespace

void RegisterRunsCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<RunsFlags>();
  CLI::App* command = app.add_subcommand("runs", "list the optimisation runs, with their state, best speedup and cost");
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_flag("--json", flags->json, "write JSON");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
