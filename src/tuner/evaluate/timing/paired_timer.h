// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times a candidate against an incumbent on one case, checking every timed launch.
//
// The unit is a quad: candidate and incumbent in the order ABBA or BAAB by a secret coin, on the same buffers
// holding the same fresh inputs. Before a quad, every slice of the verified base input is put in a secret
// place and a secret 1/64 of the slices is drawn anew. After each sample, the per-slice digests of the output
// must be the candidate's own verified digests in that order, and the new slices are judged by the oracle.
// A kernel whose digests differ (atomics, position-dependent rounding) is judged by tolerance on a secret
// share of the slices that differ. docs/measurement.md argues the method.
//
// Pure protocol: what a sample is, the DeviceSession says; when to stop, SequentialTest says.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"

namespace hone {

// One side of the comparison. `base_digests`: per output tensor (by name), the digests per slice of the
// verified output for the base input set, under `digest_key`.
struct TimedSide {
  LoadedProgram* program = nullptr;
  const ResolvedPlan* plan = nullptr;
  std::map<std::string, std::vector<uint64_t>> base_digests;
  bool trusted = false;  // see SampleRequest
};

struct PairedTimerOptions {
  uint64_t seed = 0;              // secret: coins, permutations, redrawn slices
  uint64_t digest_key = 0;
  InputSet base;                  // the verified base input set
  int max_quads = 50;
  int looks = 5;
  double budget_seconds = 2.0;    // no new look is started after this
  double launch_limit_seconds = 10;
  CacheState cache = CacheState::kCold;
  bool audits = true;             // graphs that stop early: later sets must be untouched
};

// How a timing ended. `verdict` is kOk when times are valid; otherwise what the candidate did.
struct PairedTiming {
  Verdict verdict = Verdict::kOk;
  std::string detail;
  std::optional<Mismatch> mismatch;
  bool nondeterministic = false;
  Interval candidate_us;
  double incumbent_us = 0;
  Interval speedup;
  TimingDetail timing;
  double max_scaled_error = 0;
};

// `incumbent` null: the candidate alone is timed (samples instead of quads, no decision).
// A Status means that the device failed, or (kInvalidArgument) that the incumbent or the oracle did.
Result<PairedTiming> TimePaired(DeviceSession& session, const Task& task, CaseBuffers& buffers, OracleChecker& checker,
                                const TimedSide& candidate, const TimedSide* incumbent,
                                const PairedTimerOptions& options);

// Digests of every output of set `index` under `digest_key`, by tensor name.
Result<std::map<std::string, std::vector<uint64_t>>> OutputDigests(DeviceSession& session, const Task& task,
                                                                   CaseBuffers& buffers, int index, uint64_t digest_key);

}  // namespace hone
