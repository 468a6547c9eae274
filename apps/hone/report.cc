// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone report RUN: the run as one HTML file.
#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "hone/commands.h"
#include "tuner/report/html.h"
#include "tuner/store/open_run.h"

namespace hone {
namespace {

struct ReportFlags {
  std::string store, run, out;
};

Status Run(const CommandContext& context, const ReportFlags& flags) {
  const std::string path = flags.store.empty() ? context.state_directory + "/runs.sqlite" : flags.store;
  HONE_ASSIGN_OR_RETURN(OpenedRun run, OpenRun(path, flags.run));
  HONE_ASSIGN_OR_RETURN(std::string html, HtmlReport(*run.store, run.view));
  const std::string out =
      flags.out.empty() ? fmt::format("{}/reports/{}.html", context.state_directory, run.view.info.id) : flags.out;
  HONE_RETURN_IF_ERROR(WriteFileAtomically(out, html));
  fmt::print("Report: {}\n", out);
  return Status::Ok();
}

}  // namespace

void RegisterReportCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand("report", "write a run's report as one HTML file");
  command->add_option("run", flags->run, "id of a run, a part of one, 'last', or an exported file")->required();
  command->add_option("--out", flags->out, "where to write it; by default reports/RUN.html in Hone's state folder");
  command->add_option("--store", flags->store, "the run store's file; by default runs.sqlite in Hone's state folder");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
