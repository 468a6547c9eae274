// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone gate --base REF --head REF says whether a change breaks a kernel, or surely makes one slower.
#include "tuner/gate/gate.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/compile_only.h"
#include "tuner/gate/report_formats.h"

namespace hone {
namespace {

struct GateFlags {
  DeviceFlags device;
  std::string base, head = "HEAD", repository = ".", slower = "2%", rate = "1%", junit, markdown, compile_only;
  std::vector<std::string> kernels;
  bool no_time = false, exact_base = false;
  int parallel = GateOptions().parallel;
};

// Parses a share: "2%" or "0.02".
Result<double> ParseShare(const char* option, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool percent = std::string_view(end) == "%";
  const double share = percent ? number / 100 : number;
  const bool fully_parsed = end != text.c_str() && (percent || *end == '\0');
  // A share of 1 or more needs a percent sign: "2" would mean 200 %, and its author probably meant 2 %.
  if (fully_parsed && !percent && share >= 1)
    return Status::InvalidArgument(fmt::format("{} {}: that is {:g}%; write a share with a percent sign, such as {}%",
                                               option, text, 100 * share, text));
  if (fully_parsed && share >= least && share <= most) return share;
  return Status::InvalidArgument(fmt::format("{} {}: write a share from {:g}% to {:g}%, such as 2% or 0.02", option,
                                             text, 100 * least, 100 * most));
}

// Checks that the report's folder exists. A mistyped folder is not made: CI would look for the report elsewhere, after
// a gate of many minutes.
Status CheckReportFile(const char* option, const std::string& path) {
  HONE_RETURN_IF_ERROR(CheckOutput(path));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "{} {}: there is no folder {}; correct the path, or make that folder first", option, path, folder.string()));
}

// Writes the reports that the options name. The result has been printed by then, whether or not they can be written.
Status WriteReports(const GateFlags& flags, const std::string& junit, const std::string& markdown) {
  Status write_status;
  const auto write = [&](const char* option, const std::string& path, const std::string& text) {
    if (path.empty()) return;
    Status one = CheckReportFile(option, path);
    if (one.ok()) one = WriteFileAtomically(path, text);
    if (write_status.ok()) write_status = one;
  };
  write("--junit", flags.junit, junit);
  write("--markdown", flags.markdown, markdown);
  return write_status;
}

// Runs the gate. `printed` becomes true when a verdict has been printed.
Status Judge(CommandContext& context, const GateFlags& flags, bool& printed) {
  GateOptions options;
  HONE_ASSIGN_OR_RETURN(options.slower, ParseShare("--slower", flags.slower, 0, 10));
  HONE_ASSIGN_OR_RETURN(options.rate, ParseShare("--rate", flags.rate, kSmallestRate, 0.5));
  options.time = !flags.no_time;
  options.parallel = flags.parallel;
  for (const std::string& kernel : flags.kernels) {
    const size_t equals = kernel.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == kernel.size()) {
      return Status::InvalidArgument(
          fmt::format("--kernel {}: write TASK=FILE.cu, with the file's path from the tree's top", kernel));
    }
    options.kernels.push_back({kernel.substr(0, equals), kernel.substr(equals + 1)});
  }
  for (const auto& [option, path] : {std::pair{"--junit", flags.junit}, {"--markdown", flags.markdown}}) {
    HONE_RETURN_IF_ERROR(CheckReportFile(option, path));
  }
  GitOptions git;
  git.repository = flags.repository;
  git.search_path = SplitSearchPath(context.search_path);
  git.environment = context.environment;
  HONE_ASSIGN_OR_RETURN(const TreePair trees, OpenTrees(git, flags.base, flags.head, flags.exact_base));
  std::unique_ptr<Evaluator> evaluator;
  if (flags.compile_only.empty()) {
    HONE_ASSIGN_OR_RETURN(evaluator, OpenEvaluator(context, flags.device));
  } else {
    options.run = false;
    HONE_RETURN_IF_ERROR(MakeCacheFolder(context));
    HONE_ASSIGN_OR_RETURN(evaluator,
                          MakeCompileOnlyEvaluator(MakeEvaluatorOptions(context, flags.device), flags.compile_only));
  }
  const auto tell = [&](const std::string& line) { PrintError("hone: {}\n", line); };
  HONE_ASSIGN_OR_RETURN(const GateReport report, RunGate(*evaluator, trees, options, tell));
  Print("{}", flags.device.json ? DumpJson(GateJson(report), 2) + "\n" : GateText(report));
  context.exit_status = report.failed() ? 1 : 0;
  printed = true;
  return WriteReports(flags, GateJUnit(report), GateMarkdown(report));
}

// Runs the gate. If it fails before it has printed its report, the reports that a CI server waits for are written with
// the error.
void Run(CommandContext& context, const GateFlags& flags) {
  bool printed = false;
  const Status status = Judge(context, flags, printed);
  if (status.ok()) return;
  context.Fail(status);
  if (printed) return;
  const GateError error{
      .base = flags.base, .head = flags.head, .message = status.message(), .exit_status = context.exit_status};
  if (flags.device.json) Print("{}\n", DumpJson(GateErrorJson(error), 2));
  // If these reports cannot be written either, the message on standard error is enough.
  (void)WriteReports(flags, GateErrorJUnit(error), GateErrorMarkdown(error));
}

}  // namespace

void RegisterGateCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<GateFlags>();
  CLI::App* command = app.add_subcommand(
      "gate", "fail on a change that breaks a kernel, or slows one down by more than measurement noise");
  command->add_option("--base", flags->base, "what the change is compared with: a git revision, or a folder")
      ->required();
  command->add_option("--head", flags->head, "the change: a git revision, or a folder")->capture_default_str();
  command->add_option("--repo", flags->repository, "the git repository of the revisions")->capture_default_str();
  command->add_flag("--exact-base", flags->exact_base,
                    "compare with the base as it is now, not with the commit where head branched off");
  command->add_option(
      "--kernel", flags->kernels,
      "judge also this file, which no task's folder holds: a path from the repository's top folder, "
      "and the task that it is a kernel of; without a launch plan, its own launches are the plan; may be "
      "repeated");
  command
      ->add_option(
          "--slower", flags->slower,
          "fail on a kernel that is slower by more than this share, if measurement noise cannot explain it: 2% or 0.02")
      ->capture_default_str();
  command
      ->add_option("--rate", flags->rate,
                   "how probable it may be, at most, that a change which slows nothing down fails: 1% or 0.01")
      ->capture_default_str();
  command->add_flag("--no-time", flags->no_time, "compile and check kernels, and do not time them");
  command->add_option(
      "--compile-only", flags->compile_only,
      "only compile kernels, for this GPU architecture, such as sm_90a; needs the CUDA toolkit and no GPU");
  command->add_option("--parallel", flags->parallel, "how many kernels are checked at a time; each is timed alone")
      ->check(kAboveZero)
      ->capture_default_str();
  command->add_option("--junit", flags->junit, "write the outcome as JUnit XML to this file");
  command->add_option("--markdown", flags->markdown,
                      "write the outcome as Markdown to this file, for a comment on a pull request");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] { Run(context, *flags); });
}

}  // namespace hone
