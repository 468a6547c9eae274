// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone show RUN [NODE] shows what happened in a run, or in one attempt of it.
#include <fmt/format.h>

#include <memory>

#include "base/files/file.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

struct ShowFlags {
  std::string store, run, export_path;
  int64_t node = -1;
  bool json = false, prompts = false, source = false;
};

// Shows or exports a run, or shows one node of it.
Status Run(const CommandContext& context, const ShowFlags& flags) {
  HONE_RETURN_IF_ERROR(CheckOutput(flags.export_path));
  HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
  HONE_ASSIGN_OR_RETURN(OpenedRun run, OpenRun(path, flags.run));
  if (!flags.export_path.empty()) {
    HONE_ASSIGN_OR_RETURN(std::string text, ExportRun(*run.store, run.view.info.id));
    HONE_RETURN_IF_ERROR(WriteFileAtomically(flags.export_path, text));
    Print("Run {} written to {}\n", run.view.info.id, flags.export_path);
    return Status::Ok();
  }
  if (flags.source) {
    const int64_t node = flags.node < 0 ? run.view.best : flags.node;
    if (node >= static_cast<int64_t>(run.view.nodes.size()) || run.view.node(node).source_hash.empty()) {
      return Status::NotFound(fmt::format("node {} of run {} has no source", node, run.view.info.id));
    }
    HONE_ASSIGN_OR_RETURN(std::string source, run.store->Source(run.view.node(node).source_hash));
    // A file or a program gets the text byte for byte. On a terminal, control characters that a model wrote would take
    // effect.
    if (context.stdout_is_terminal) {
      Print("{}", source);
    } else {
      WriteAsIs(stdout, source);
    }
    return Status::Ok();
  }
  if (flags.prompts && flags.node < 0)
    return Status::InvalidArgument("--prompts belongs to one node: hone show RUN NODE --prompts");
  if (flags.node >= 0) {
    HONE_ASSIGN_OR_RETURN(std::string text,
                          flags.json ? NodeToJson(*run.store, run.view, flags.node, flags.prompts)
                                     : NodeText(*run.store, run.view, flags.node, flags.prompts, context.columns));
    Print("{}{}", text, flags.json ? "\n" : "");
    return Status::Ok();
  }
  Print("{}{}", flags.json ? RunToJson(run.view) : RunText(run.view, context.columns), flags.json ? "\n" : "");
  return Status::Ok();
}

}  // namespace

void RegisterShowCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = app.add_subcommand("show", "show a run, or one node of its tree of kernels");
  command
      ->add_option("run", flags->run,
                   "a run: its id or a part of it, 'last', or a file that `hone show --export` wrote")
      ->required();
  command
      ->add_option("node", flags->node,
                   "show this node: its plan, verdict, times and difference from its parent; 0 is the seed, the others "
                   "are attempts and sweeps of tunables")
      ->check(kZeroOrMore);
  command->add_flag("--prompts,--full", flags->prompts, "show every request that was made for the node, and its reply");
  command->add_flag("--source", flags->source,
                    "print only the source of the node; without a node, that of the best one");
  command->add_option("--export", flags->export_path, "write the run to this file, to be kept or replayed elsewhere");
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_flag("--json", flags->json, "write JSON (docs/formats/run-store.md)");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
