// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone verify CLAIM.json judges a packed claim's kernel on this machine and says whether the claim holds here.
#include <fmt/format.h>

#include <memory>

#include "base/files/file.h"
#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/workbench/claim.h"

namespace hone {
namespace {

struct VerifyFlags {
  DeviceFlags device;
  std::string claim;
  uint64_t seed = 0;
  double margin = kClaimMargin;
  bool no_time = false;
};

Status Run(CommandContext& context, const VerifyFlags& flags) {
  HONE_RETURN_IF_ERROR(CheckSeed(flags.device, flags.seed));
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.claim));
  HONE_ASSIGN_OR_RETURN(const Claim claim, DecodeClaim(text, flags.claim));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  EvaluationRequest request = claim.request;
  request.seed = flags.seed;
  request.time = !flags.no_time;
  request.simulate = !flags.device.no_sim;
  HONE_ASSIGN_OR_RETURN(Evaluation evaluation, evaluator->Evaluate(claim.task, request));
  const ClaimReport report = HoldAgainst(claim, std::move(evaluation), flags.margin);
  Print("{}", flags.device.json ? DumpJson(ClaimJson(claim, report), 2) + "\n" : ClaimText(claim, report));
  context.exit_status = report.outcome == "refuted" ? 1 : 0;
  return Status::Ok();
}

}  // namespace

void RegisterVerifyCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = app.add_subcommand("verify", "judge a packed claim on this machine, to see if it holds");
  command->add_option("claim", flags->claim, "a file that hone pack wrote")->required();
  command
      ->add_option(
          "--seed", flags->seed,
          "draw the inputs from this seed, to repeat an earlier verdict, whose JSON states it; 0: a new random seed")
      ->capture_default_str();
  command
      ->add_option(
          "--margin", flags->margin,
          "how much of the claimed speedup may be missing here, beyond the noise of both measurements, before the "
          "claim fails: 0.02 is two per cent")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_flag("--no-time", flags->no_time, "check the kernel and do not time it");
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
