// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs a published claim, "this kernel is right and that much faster", into one file, and holds the file against what
// another machine judges.
//
// The file is a JSON text with the task, the kernel, what it was timed against, the verdict with its figures and, of a
// run, the run's log; docs/claims.md describes it. A checksum over all of it shows damage, not fraud: a reader who
// doubts a claim verifies it. These functions read no files and judge nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"
#include "hone/tuner/task.h"

namespace hone {

inline constexpr int kClaimVersion = 1;
// The how far a speedup may lie outside the claimed interval, as a share: an interval says how the samples of one sitting scatter,
// and sittings differ by a per cent or two.
inline constexpr double kClaimMargin = 0.02;

struct Claim {
  Task task;
  EvaluationRequest request;  // the kernel, its binding, and what it was timed against
  Evaluation evaluation;      // the published verdict
  std::string run;            // the log as ExportRun writes it; empty: the claim is not of a run
  std::string version;        // version of the program that packed the claim
};

// Makes a claim of a run's winner, which must have passed its final pairing with the seed. kInvalidArgument says what
// the run lacks.
Result<Claim> ClaimOfRun(RunStore& store, const RunView& view);
// Makes a claim of a candidate's file and the output of `hone eval --json` or `hone compare --json` for it.
// kInvalidArgument where the evaluation is of another task or of another source.
Result<Claim> ClaimOfFile(const Task& task, std::string_view source, const std::string& name,
                          std::string_view evaluation_json);

// Returns the file's text. DecodeClaim refuses, by the name `file`, what is no claim, damaged or of a later version.
std::string EncodeClaim(const Claim& claim);
Result<Claim> DecodeClaim(std::string_view text, const std::string& file);

// Returns the kind of a device, without its number: "NVIDIA H200" of "cuda:0 NVIDIA H200".
std::string DeviceKind(const std::string& device);

struct ClaimedCase {
  Dims dims;
  Interval claimed;
  std::optional<Interval> measured;  // absent: not timed here
  std::string outcome;               // inside | slower | faster | not_timed
};

struct ClaimReport {
  std::string outcome;          // confirmed | refuted | not_comparable: the verdict is the same, its figures say nothing
  std::string reason;           // one sentence
  bool same_verdict = false;
  bool comparable = false;      // times were taken on the same kind of device
  std::vector<ClaimedCase> cases;
  Evaluation evaluation;        // this machine's
};

// Holds a claim against this machine's evaluation of the same request. `margin`: see kClaimMargin.
ClaimReport HoldAgainst(const Claim& claim, Evaluation evaluation, double margin = kClaimMargin);

// Returns what a person reads, ending in a newline, and the fields of `hone verify --json`.
std::string ClaimText(const Claim& claim, const ClaimReport& report);
nlohmann::json ClaimJson(const Claim& claim, const ClaimReport& report);

}  // namespace hone
