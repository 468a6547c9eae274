// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone pack RUN and hone pack TASK FILE.cu --evaluation VERDICT.json write a claim that `hone verify` can check
// elsewhere.
#include <fmt/format.h>

#include <memory>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/build_facts.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/run/log/open_run.h"
#include "tuner/workbench/claim.h"

namespace hone {
namespace {

struct PackFlags {
  std::string store, run, file, evaluation, out;  // with `file`, `run` is a task
  bool json = false;
};

// Makes the claim of a run's best version, or of a file and a verdict.
Result<Claim> MakeClaim(const CommandContext& context, const PackFlags& flags) {
  if (!flags.file.empty()) {
    if (!flags.store.empty()) return Status::InvalidArgument("--store chooses among runs; a file is taken as it is");
    if (flags.evaluation.empty()) {
      return Status::InvalidArgument(fmt::format(
          "a claim needs a verdict: hone eval {0} {1} --json > verdict.json, then --evaluation verdict.json", flags.run,
          flags.file));
    }
    HONE_ASSIGN_OR_RETURN(const Task task, FindTask(context, flags.run));
    HONE_ASSIGN_OR_RETURN(const std::string source, ReadCandidateOfTask(task, flags.file));
    HONE_ASSIGN_OR_RETURN(const std::string evaluation, ReadFile(flags.evaluation));
    return ClaimOfFile(task, source, flags.file, evaluation);
  }
  if (!flags.evaluation.empty()) {
    return Status::InvalidArgument("--evaluation is the verdict of a file; a run brings its own");
  }
  if (flags.run.ends_with(".cu")) {
    return Status::InvalidArgument(fmt::format(
        "{0} is a candidate's file: name its task first, hone pack TASK {0} --evaluation VERDICT.json", flags.run));
  }
  HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
  HONE_ASSIGN_OR_RETURN(OpenedRun run, OpenRun(path, flags.run));
  return ClaimOfRun(*run.store, run.view);
}

// Writes the claim, and says what verifies it.
Status Run(const CommandContext& context, const PackFlags& flags) {
  HONE_ASSIGN_OR_RETURN(Claim claim, MakeClaim(context, flags));
  claim.version = ThisBuild().version;
  const std::string out = flags.out.empty() ? claim.task.name + ".claim.json" : flags.out;
  HONE_RETURN_IF_ERROR(CheckOutput(out));
  HONE_RETURN_IF_ERROR(WriteFileAtomically(out, EncodeClaim(claim)));
  const Evaluation& e = claim.evaluation;
  if (flags.json) {
    nlohmann::json json = {{"file", out},
                           {"task", claim.task.name},
                           {"kernel", claim.request.name},
                           {"verdict", VerdictName(e.verdict)},
                           {"device", e.device}};
    if (e.geomean_speedup) json["geomean_speedup"] = *e.geomean_speedup;
    Print("{}\n", DumpJson(json, 2));
    return Status::Ok();
  }
  Print("{} on {}: {}{}, packed in {}\n", claim.request.name, e.device, VerdictName(e.verdict),
        e.geomean_speedup
            ? fmt::format(", {:.3f} times as fast as the seed{}", *e.geomean_speedup, e.modelled ? " (modelled)" : "")
            : "",
        out);
  return Status::Ok();
}

}  // namespace

void RegisterPackCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<PackFlags>();
  CLI::App* command = app.add_subcommand(
      "pack", "pack a kernel with its task, its verdict and the log of its run, for others to verify");
  command
      ->add_option("run", flags->run,
                   "a run: its id or a part of it, 'last', or a file that `hone show --export` wrote. With a kernel's "
                   "file after it: the name of the file's task (hone pack TASK FILE.cu --evaluation FILE.json)")
      ->required();
  command->add_option("file", flags->file, "a kernel for that task");
  command->add_option("--evaluation", flags->evaluation,
                      "required with FILE.cu: the verdict on it, the saved output of `hone eval TASK FILE.cu --json`");
  command->add_option("--out", flags->out, "file to write; by default TASK.claim.json");
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_flag("--json", flags->json, "write JSON; claims.md in the documentation has its fields");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
