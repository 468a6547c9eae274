// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workbench/claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers/hash.h"
#include "base/text/json_text.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/interop/write/kernel_package.h"

namespace hone {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "hone-claim";

// Returns the checksum of everything in the claim except the checksum itself.
std::string ChecksumOf(Json json) {
  json.erase("checksum");
  return Sha256Hex(DumpJson(json));
}

std::string TextField(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

Json IntervalJson(const Interval& i) { return {{"median", i.median}, {"low", i.low}, {"high", i.high}}; }

std::string IntervalText(const Interval& i) { return fmt::format("{:.3f} [{:.3f}, {:.3f}]", i.median, i.low, i.high); }

const CaseResult* FindCase(const Evaluation& evaluation, const Dims& dims) {
  const auto found = std::find_if(evaluation.cases.begin(), evaluation.cases.end(),
                                  [&](const CaseResult& c) { return c.dims == dims && c.speedup; });
  return found == evaluation.cases.end() ? nullptr : &*found;
}

}  // namespace

Result<Claim> ClaimOfRun(RunStore& store, const RunView& view) {
  HONE_ASSIGN_OR_RETURN(const KernelPackage package, MakeKernelPackage(store, view));
  Claim claim;
  claim.task = package.task;
  claim.request.source = package.winner.source;
  claim.request.name = package.winner.name;
  claim.request.binding = package.winner_binding;
  // final_result has a value, because MakeKernelPackage refuses a run without a final pairing.
  claim.evaluation = view.final_result->evaluation;
  HONE_ASSIGN_OR_RETURN(claim.run, ExportRun(store, view.info.id));
  return claim;
}

Result<Claim> ClaimOfFile(const Task& task, std::string_view source, const std::string& name,
                          std::string_view evaluation_json) {
  Claim claim;
  HONE_ASSIGN_OR_RETURN(claim.evaluation, EvaluationFromJson(evaluation_json));
  if (claim.evaluation.task != task.name) {
    return Status::InvalidArgument(
        fmt::format("the evaluation is of the task '{}', and the claim of '{}'", claim.evaluation.task, task.name));
  }
  if (claim.evaluation.source_hash != Sha256Hex(source)) {
    return Status::InvalidArgument(
        fmt::format("the evaluation is of another source than {}: judge the file again with `hone eval --json`", name));
  }
  // The judge names the task's seed "TASK/seed.cu"; the shorter names are those of recorded runs.
  const std::string& baseline = claim.evaluation.baseline;
  if (!baseline.empty() && baseline != "seed" && baseline != "seed.cu" && baseline != task.name + "/seed.cu") {
    return Status::InvalidArgument(
        fmt::format("the evaluation is timed against {}, which the claim would have to bring: judge the file against "
                    "the task's seed",
                    baseline));
  }
  claim.task = task;
  claim.request.source = std::string(source);
  claim.request.name = name.substr(name.rfind('/') + 1);
  claim.request.binding = claim.evaluation.binding;
  return claim;
}

std::string EncodeClaim(const Claim& claim) {
  Json json = {{"format", kFormat},
               {"version", kClaimVersion},
               {"packed_by", claim.version},
               {"bundle", ReadJsonText(EncodeBundle(claim.task, claim.request))},
               {"evaluation", ReadJsonText(EvaluationToJson(claim.evaluation))}};
  if (!claim.run.empty()) json["run"] = claim.run;
  json["checksum"] = ChecksumOf(json);
  return DumpJson(json, 1) + "\n";
}

Result<Claim> DecodeClaim(std::string_view text, const std::string& file) {
  const Json json = ReadJsonText(text);
  if (TextField(json, "format") != kFormat) {
    return Status::InvalidArgument(fmt::format("{} is no packed claim: `hone pack` writes them", file));
  }
  if (!json.contains("version") || !json["version"].is_number_integer() || json["version"] > kClaimVersion) {
    return Status::InvalidArgument(
        fmt::format("{} is of a later version than this program reads ({}): take a newer one", file, kClaimVersion));
  }
  if (TextField(json, "checksum") != ChecksumOf(json) || !json.contains("bundle") || !json.contains("evaluation")) {
    return Status::InvalidArgument(
        fmt::format("{} is damaged, or was changed after it was packed: get it again, or pack the claim anew", file));
  }
  Claim claim;
  HONE_ASSIGN_OR_RETURN(SpoolBundle bundle, DecodeBundle(DumpJson(json["bundle"]), file));
  claim.task = std::move(bundle.task);
  claim.request = std::move(bundle.request);
  HONE_ASSIGN_OR_RETURN(claim.evaluation, EvaluationFromJson(DumpJson(json["evaluation"])));
  claim.run = TextField(json, "run");
  claim.version = TextField(json, "packed_by");
  if (claim.evaluation.source_hash != Sha256Hex(claim.request.source)) {
    return Status::InvalidArgument(fmt::format("{}: the verdict is of another kernel than the file holds", file));
  }
  return claim;
}

std::string DeviceKind(const std::string& device) {
  const size_t space = device.find(' ');
  return space == std::string::npos ? device : device.substr(space + 1);
}

ClaimReport HoldAgainst(const Claim& claim, Evaluation evaluation, double margin) {
  ClaimReport report;
  report.evaluation = std::move(evaluation);
  const Evaluation &claimed = claim.evaluation, &here = report.evaluation;
  report.same_verdict = claimed.verdict == here.verdict;
  if (!report.same_verdict) {
    report.outcome = "refuted";
    report.reason = fmt::format("the claim says {}, and this machine {}{}{}", VerdictName(claimed.verdict),
                                VerdictName(here.verdict), here.detail.empty() ? "" : ": ", here.detail);
    // If this device or machine could not judge the kernel, the verdict is not about the kernel.
    if (here.verdict == Verdict::kUnsupported || here.verdict == Verdict::kDeviceLost)
      report.outcome = "not_comparable";
    return report;
  }
  report.comparable = DeviceKind(claimed.device) == DeviceKind(here.device) && claimed.modelled == here.modelled;
  int timed = 0, slower = 0, faster = 0;
  for (const CaseResult& c : claimed.cases) {
    if (!c.speedup) continue;
    ClaimedCase one{c.dims, *c.speedup, std::nullopt, "not_timed"};
    if (const CaseResult* measured = FindCase(here, c.dims); measured != nullptr) {
      one.measured = measured->speedup;
      const bool below = one.measured->high < one.claimed.low * (1 - margin);
      const bool above = one.measured->low > one.claimed.high * (1 + margin);
      one.outcome = below ? "slower" : above ? "faster" : "inside";
      ++timed;
      slower += below;
      faster += above;
    }
    report.cases.push_back(std::move(one));
  }
  if (!report.comparable || timed == 0) {
    report.outcome = "not_comparable";
    report.reason = report.comparable
                        ? fmt::format("the verdict is the same, {}; no timed shape of the claim was timed here",
                                      VerdictName(here.verdict))
                        : fmt::format("the verdict is the same, {}; the times are of {}, and this is {}",
                                      VerdictName(here.verdict), DeviceKind(claimed.device), DeviceKind(here.device));
    if (claimed.verdict != Verdict::kOk) report.outcome = "confirmed";  // a refusal has no times to compare
    return report;
  }
  report.outcome = slower == 0 ? "confirmed" : "refuted";
  report.reason =
      fmt::format("the verdict is the same, {}; of {} timed shapes {} are as fast as claimed, {} faster, {} slower",
                  VerdictName(here.verdict), timed, timed - slower - faster, faster, slower);
  return report;
}

std::string ClaimText(const Claim& claim, const ClaimReport& report) {
  std::string text =
      fmt::format("{}  {}: {}\n  {}\n", claim.task.name, claim.request.name, report.outcome, report.reason);
  for (const ClaimedCase& c : report.cases) {
    text += fmt::format("  {}: claimed {}{}{}\n", DimsText(c.dims), IntervalText(c.claimed),
                        c.measured ? ", here " + IntervalText(*c.measured) : "",
                        !report.comparable || c.outcome == "not_timed" ? "" : ", " + c.outcome);
  }
  text += fmt::format("  claimed on {}, verified on {}{}\n", claim.evaluation.device, report.evaluation.device,
                      report.evaluation.modelled ? " (modelled times, not measured)" : "");
  return text;
}

// Returns the report as `hone verify --json` prints it.
nlohmann::json ClaimJson(const Claim& claim, const ClaimReport& report) {
  Json cases = Json::array();
  for (const ClaimedCase& c : report.cases) {
    Json one = {{"dims", c.dims}, {"claimed", IntervalJson(c.claimed)}, {"outcome", c.outcome}};
    if (c.measured) one["measured"] = IntervalJson(*c.measured);
    cases.push_back(std::move(one));
  }
  return {{"task", claim.task.name},
          {"kernel", claim.request.name},
          {"outcome", report.outcome},
          {"reason", report.reason},
          {"same_verdict", report.same_verdict},
          {"comparable", report.comparable},
          {"claimed_verdict", VerdictName(claim.evaluation.verdict)},
          {"claimed_device", claim.evaluation.device},
          {"cases", cases},
          {"evaluation", ReadJsonText(EvaluationToJson(report.evaluation))}};
}

}  // namespace hone
