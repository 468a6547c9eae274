// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone report RUN shows the run as one HTML file, or live in a browser. hone report A B … shows runs and strategies
// side by side.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/files/file.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/signal_stop.h"
#include "tuner/report/html.h"
#include "tuner/report/live/page_server.h"
#include "tuner/report/run_summary.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

struct ReportFlags {
  std::string store, out;
  std::vector<std::string> runs;
  bool json = false, compare = false, serve = false;
  int port = 0;
};

// Serves a run's page to a browser on this machine until interrupted.
Status Serve(const ReportFlags& flags, const std::string& path) {
  if (flags.runs.size() != 1 || flags.compare || !flags.out.empty())
    return Status::InvalidArgument("--serve follows one run and writes no file: hone report RUN --serve [--port N]");
  std::unique_ptr<RunStore> store;
  std::string id;
  if (NamesRunFile(flags.runs[0])) {
    HONE_ASSIGN_OR_RETURN(OpenedRun run, OpenRun(path, flags.runs[0]));
    id = run.view.info.id;
    store = std::move(run.store);
  } else {
    // A live report also shows a run that has only just begun and has no events yet.
    HONE_ASSIGN_OR_RETURN(store, OpenStoreToRead(path));
    HONE_ASSIGN_OR_RETURN(const RunInfo info, store->FindRun(flags.runs[0]));
    id = info.id;
  }
  LivePages pages(std::move(store), id);
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<PageServer> server,
      PageServer::Listen(static_cast<uint16_t>(flags.port),
                         [&pages](const std::string& page, const auto& query) { return pages.Get(page, query); }));
  if (flags.json) {
    Print("{{\"run\": \"{}\", \"url\": \"{}\", \"port\": {}}}\n", id, server->url(), server->port());
  } else {
    Print(
        "Run {} is at {}\nThe page follows the run; whoever has the address can read it. Ctrl-C ends the server, not "
        "the run.\n",
        id, server->url());
  }
  std::fflush(stdout);
  const SignalStop stop;
  return server->Serve(stop.token());
}

// Writes a report, or prints a comparison of runs.
Status Run(const CommandContext& context, const ReportFlags& flags) {
  HONE_RETURN_IF_ERROR(CheckOutput(flags.out));
  HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
  if (flags.serve) return Serve(flags, path);
  if (flags.runs.size() == 1 && !flags.compare && !flags.json) {
    HONE_ASSIGN_OR_RETURN(OpenedRun run, OpenRun(path, flags.runs[0]));
    HONE_ASSIGN_OR_RETURN(std::string html, HtmlReport(*run.store, run.view));
    const std::string out =
        flags.out.empty() ? fmt::format("{}/reports/{}.html", context.state_directory, run.view.info.id) : flags.out;
    HONE_RETURN_IF_ERROR(WriteFileAtomically(out, html));
    Print("Report: {}\n", out);
    return Status::Ok();
  }
  std::vector<RunSummary> runs;
  for (const std::string& name : flags.runs) {
    HONE_ASSIGN_OR_RETURN(OpenedRun run, OpenRun(path, name));
    for (const RunSummary& summary : runs) {
      if (summary.info.id == run.view.info.id) {
        return Status::InvalidArgument(fmt::format("run {} is named twice ('{}')", summary.info.id, name));
      }
    }
    runs.push_back(Summarize(run.view));
  }
  const RunComparison comparison = CompareRuns(std::move(runs));
  if (!flags.out.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomically(flags.out, ComparisonHtml(comparison)));
  Print("{}{}", flags.json ? ComparisonToJson(comparison) : ComparisonText(comparison), flags.json ? "\n" : "");
  if (!flags.out.empty() && !flags.json) Print("Report: {}\n", flags.out);
  return Status::Ok();
}

}  // namespace

void RegisterReportCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand(
      "report", "write a run's report as one HTML file, follow a run in a browser, or compare several runs");
  command
      ->add_option(
          "runs", flags->runs,
          "a run: its id or a part of it, 'last', or a file that `hone show --export` wrote; several runs are compared")
      ->required();
  command->add_option(
      "--out", flags->out,
      "write the HTML file here; by default to reports/RUN.html in Hone's state folder. A comparison of "
      "several runs is only printed, unless this names a file");
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_flag("--json", flags->json, "write the figures as JSON (docs/apply.md)");
  command->add_flag("--compare", flags->compare, "print the table of a comparison even for one run");
  CLI::Option* serve = command->add_flag(
      "--serve", flags->serve,
      "serve the report to a browser on this machine, where it follows a run in progress; Ctrl-C ends it");
  command->add_option("--port", flags->port, "the port of 127.0.0.1 that --serve listens on; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->needs(serve);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
