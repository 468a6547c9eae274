// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs a claim, "this kernel is right and that much faster", into one file, and compares the file with the verdict of
// another machine.
//
// The file is a JSON text with the task, the kernel, the kernel it was timed against, the verdict with its figures and,
// if the kernel comes from a run, the run's log; docs/claims.md describes it. A checksum over all of it shows damage,
// not fraud: a reader who doubts a claim verifies it. These functions read no files and judge nothing.
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
// Share by which a speedup may lie outside the claimed interval and still confirm it. An interval describes the scatter
// of one timing's samples; timings made at different times differ by a per cent or two more.
inline constexpr double kClaimMargin = 0.02;

struct Claim {
  Task task;
  EvaluationRequest request;  // the kernel, its binding, and the kernel it was timed against
  Evaluation evaluation;      // the published verdict
  std::string run;            // the run's log, as ExportRun writes it; empty: the kernel does not come from a run
  std::string version;        // version of the program that packed the claim
};

// Makes a claim from a run's winner, which must have passed its final pairing with the seed. Returns kInvalidArgument
// with what the run lacks.
Result<Claim> ClaimOfRun(RunStore& store, const RunView& view);
// Makes a claim from a candidate's file and the output of `hone eval --json` or `hone compare --json` for it. Returns
// kInvalidArgument if the evaluation is of another task or of another source.
Result<Claim> ClaimOfFile(const Task& task, std::string_view source, const std::string& name,
                          std::string_view evaluation_json);

// Convert a claim to the file's text and back. DecodeClaim returns kInvalidArgument, with the name `file`, for a text
// that is no claim, is damaged, or has a later version.
std::string EncodeClaim(const Claim& claim);
Result<Claim> DecodeClaim(std::string_view text, const std::string& file);

// Returns the kind of a device, without its number: "NVIDIA H200" of "cuda:0 NVIDIA H200".
std::string DeviceKind(const std::string& device);

struct ClaimedCase {
  Dims dims;
  Interval claimed;
  std::optional<Interval> measured;  // the speedup here; nullopt: not timed here
  std::string outcome;               // inside | slower | faster | not_timed
};

struct ClaimReport {
  std::string outcome;          // confirmed | refuted | not_comparable (this machine can neither confirm nor refute it)
  std::string reason;           // one sentence
  bool same_verdict = false;
  bool comparable = false;  // the times are of the same kind of device
  std::vector<ClaimedCase> cases;
  Evaluation evaluation;  // this machine's evaluation
};

// Compares a claim with this machine's evaluation of the same request. `margin`: see kClaimMargin.
ClaimReport HoldAgainst(const Claim& claim, Evaluation evaluation, double margin = kClaimMargin);

// Return the report as text for a terminal, which ends in a newline, and as the fields of `hone verify --json`.
std::string ClaimText(const Claim& claim, const ClaimReport& report);
nlohmann::json ClaimJson(const Claim& claim, const ClaimReport& report);

}  // namespace hone
