// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// `hone-gnn`: trains and serves graph networks on sampled mini-batches. Each subcommand lives in its own file.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include "hone-gnn/commands.h"

namespace hone::gnn {

int ReportStatus(const Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "hone-gnn: %s\n", status.message().c_str());
  switch (status.code()) {
    case StatusCode::kOk: return 0;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound: return 2;
    default: return 3;
  }
}

namespace {

// An empty value is mostly a shell variable that is not set: "--resume $RUN" must not quietly begin a new run.
void RefuseEmptyValues(CLI::App& app) {
  const CLI::Validator not_empty(
      [](std::string& value) { return value.empty() ? std::string("is empty; give a value, or leave it out") : std::string(); }, "");
  for (CLI::Option* option : app.get_options()) option->check(not_empty);
  for (CLI::App* command : app.get_subcommands({})) RefuseEmptyValues(*command);
}

// What a full disk swallowed of standard output must not end as a success.
int FlushOutput(int exit_status) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_status;
  const int error = errno;
  std::fprintf(stderr, "hone-gnn: could not write all of standard output%s%s\n", error != 0 ? ": " : "",
               error != 0 ? std::strerror(error) : "");
  return exit_status == 0 ? 3 : exit_status;
}

}  // namespace
}  // namespace hone::gnn

int main(int argc, char** argv) {
  // A file beyond the limit that `ulimit -f` shows is then an error of the write, reported like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  hone::gnn::CommandResult result;
  CLI::App app{"Trains and serves graph neural networks on sampled mini-batches."};
  app.name("hone-gnn");
  app.set_version_flag("--version", "hone-gnn " HONE_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  hone::gnn::RegisterConvertCommand(app, result);
  hone::gnn::RegisterBenchCommand(app, result);
  hone::gnn::RegisterGenerateCommand(app, result);
  hone::gnn::RegisterInfoCommand(app, result);
  hone::gnn::RegisterTrainCommand(app, result);
  hone::gnn::RegisterInferCommand(app, result);
  hone::gnn::RegisterEpochBenchCommand(app, result);
  hone::gnn::RefuseEmptyValues(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? hone::gnn::FlushOutput(0) : 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "hone-gnn: not enough memory; a smaller --batch or fewer --threads may fit\n");
    return 3;
  } catch (const std::exception& error) {  // standard output that cannot be written: fmt throws
    std::fprintf(stderr, "hone-gnn: %s\n", error.what());
    return 3;
  }
  return hone::gnn::FlushOutput(result.exit_status);
}
