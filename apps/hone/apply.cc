// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone apply RUN and hone apply TASK FILE.cu write the winner of a run, or a candidate's file, as a C++/CUDA header and
// as a PyTorch extension.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/kernel_package.h"
#include "tuner/interop/write/launcher_note.h"
#include "tuner/interop/write/served_shapes.h"
#include "tuner/run/log/open_run.h"
#include "tuner/workbench/write_package.h"

namespace hone {
namespace {

struct ApplyFlags {
  std::string store, run, file, out;  // if `file` is given, `run` names a task
  int64_t node = -1;
  bool json = false;
  std::string as = "extension";
};

// Returns the kernel to be written, with its facts: a run's winner, or a candidate's file.
Result<KernelPackage> PackageToWrite(const CommandContext& context, const ApplyFlags& flags) {
  if (!flags.file.empty()) {
    if (flags.node >= 0 || !flags.store.empty()) {
      return Status::InvalidArgument("--node and --store choose from a run; a file is taken as it is");
    }
    HONE_ASSIGN_OR_RETURN(const Task task, FindTask(context, flags.run));
    HONE_ASSIGN_OR_RETURN(const std::string source, ReadCandidateOfTask(task, flags.file));
    return MakeFilePackage(task, source, flags.file);
  }
  if (flags.run.ends_with(".cu")) {
    return Status::InvalidArgument(
        fmt::format("{} is a candidate's file: name its task first, hone apply TASK {}", flags.run, flags.run));
  }
  HONE_ASSIGN_OR_RETURN(const std::string path, StoreToRead(context, flags.store));
  Result<OpenedRun> opened = OpenRun(path, flags.run);
  if (opened.status().code() == StatusCode::kNotFound && FindTask(context, flags.run).ok()) {
    return Status::NotFound(
        fmt::format("'{}' is a task and no run: `hone apply {} FILE.cu` takes a file for it, `hone runs` lists runs",
                    flags.run, flags.run));
  }
  HONE_ASSIGN_OR_RETURN(OpenedRun run, std::move(opened));
  return MakeKernelPackage(*run.store, run.view, flags.node);
}

// Writes the files of the package that the flags choose, and lists them.
Status Run(const CommandContext& context, const ApplyFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const KernelPackage package, PackageToWrite(context, flags));
  const std::string out = flags.out.empty() ? "hone_" + package.task.name : flags.out;
  HONE_ASSIGN_OR_RETURN(const std::vector<GeneratedFile> files,
                        WritePackage(package, out,
                                     flags.as == "torch"           ? PackageForm::kTorch
                                     : flags.as == "kernelbench"   ? PackageForm::kKernelBench
                                     : flags.as == "flashinfer"    ? PackageForm::kFlashInfer
                                     : flags.as == "sol-execbench" ? PackageForm::kSolExecBench
                                     : flags.as == "gpumode"       ? PackageForm::kGpuMode
                                     : flags.as == "sgl-kernel"    ? PackageForm::kSglKernel
                                                                   : PackageForm::kExtension));
  if (flags.json) {
    Print("{}\n", DumpJson(PackageJson(package, files, out), 2));
    return Status::Ok();
  }
  int wins = 0;
  for (const PackagedShape& s : package.shapes) wins += s.wins;
  if (package.run.empty()) {
    Print("{} as it stands: NOT JUDGED by this command. `hone eval {} {}` judges it.\n", package.file, flags.run,
          flags.file);
  } else {
    Print("Node {} of run {}: faster than {} in {} of {} timed shapes{}.\n", package.node, package.run, package.start, wins,
          package.shapes.size(), package.modelled ? " (modelled times, not measured)" : "");
    for (const std::string& when : package.seed_shapes) Print("The seed runs where {}\n", when);
    if (!package.paired) Print("Winner and {} were not paired: their times come from different sittings.\n", package.start);
  }
  const std::string launcher = LauncherNoted(package.task.seed_source);
  if (const std::string served = DescribeServedShapes(package); !served.empty()) Print("Shapes: {}.\n", served);
  Print("{}{}\n", launcher.empty() ? "Function: " : "Function:          ", FunctionDeclaration(package));
  if (!launcher.empty()) Print("The task's origin: {}\n", launcher);
  const std::vector<std::string> options = PackageOptions(package);
  if (!options.empty()) Print("Compile with {}\n", fmt::join(options, " "));
  size_t width = 0;
  for (const GeneratedFile& file : files) width = std::max(width, file.name.size());
  for (const GeneratedFile& file : files) Print("  {}/{:<{}}  {}\n", out, file.name, width, file.what);
  return Status::Ok();
}

}  // namespace

void RegisterApplyCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* command = app.add_subcommand(
      "apply", "write a run's winner, or a candidate's file, as a C++ header and a PyTorch extension");
  command
      ->add_option("run", flags->run,
                   "a run: its id or a part of it, 'last', or a file that `hone show --export` wrote. With a kernel's "
                   "file after it: the name of the file's task (hone apply TASK FILE.cu)")
      ->required();
  command->add_option(
      "file", flags->file,
      "a kernel for that task: any FILE.cu, such as one that hone tune wrote, or the .json of its winners");
  command
      ->add_option("--as", flags->as,
                   "what to write: extension (a C++ header and a PyTorch extension), torch (the same with an operator "
                   "of torch.library), kernelbench (one file with a class ModelNew), flashinfer (a Solution of "
                   "FlashInfer-Bench), sol-execbench (a Solution of SOL-ExecBench), gpumode (a submission.py, for a "
                   "task that was made of a GPU MODE problem) or "
                   "sgl-kernel (files that take the place of one operator of the package sgl-kernel)")
      ->check(
          CLI::IsMember({"extension", "torch", "kernelbench", "flashinfer", "sol-execbench", "gpumode", "sgl-kernel"}))
      ->capture_default_str();
  command
      ->add_option("--node", flags->node,
                   "write the kernel of this node, a number that `hone show` lists, instead of the best")
      ->check(kZeroOrMore);
  command->add_option("--out", flags->out, "folder to write to; by default hone_TASK in the current folder");
  command->add_option(
      "--store", flags->store,
      "the file that holds the runs; by default runs.sqlite in Hone's state folder (~/.local/state/hone)");
  command->add_flag("--json", flags->json, "write JSON; apply.md in the documentation has its fields");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
