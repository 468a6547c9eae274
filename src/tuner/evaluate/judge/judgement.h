// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Judgement holds what all gates of one judgement share: the session, the evaluation in the making, the stream of
// secrets, the loaded programs. A gate is a function that answers one question about the candidate (check_gates.h,
// beyond_gate.h, time_gates.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/counted_session.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/values/keyed_hash.h"

namespace hone {

// A Gate is the result of a gate. A Result<Gate> that holds a Status means that the device or the session failed.
enum class Gate {
  kPassed,   // the judgement goes on with the next gate
  kStopped,  // the judgement ends; its verdict is in Judgement::evaluation
};

// HONE_RETURN_UNLESS_PASSED(CheckCase(...)) goes on if the gate is passed. Otherwise the enclosing function, which must
// return Result<Gate>, returns the gate's result.
#define HONE_RETURN_UNLESS_PASSED(expr)                                               \
  do {                                                                                \
    ::hone::Result<::hone::Gate> hone_gate_ = (expr);                                 \
    if (!hone_gate_.ok() || *hone_gate_ == ::hone::Gate::kStopped) return hone_gate_; \
  } while (false)

// The secret numbers of one judgement. The same seed gives the same numbers in the same order, so that a verdict can be
// replayed: what is drawn, and when, is part of the judge's behaviour.
using Secrets = SecretNumbers;

// Programs loaded on the judgement's session; null: the request has no such program. `fallback`, the task's seed, is
// loaded when a case first needs it and is null before.
struct LoadedPrograms {
  std::unique_ptr<LoadedProgram> oracle, candidate, incumbent, fallback;
};

// A Judgement takes one candidate through the gates. It is used by one thread.
class Judgement {
 public:
  // Borrows all three. `progress` may be empty.
  Judgement(DeviceSession& device, const JudgeRequest& given_request, const JudgeProgress& progress);
  Judgement(const Judgement&) = delete;
  Judgement& operator=(const Judgement&) = delete;

  const DeviceFacts& facts() const { return session.facts(); }

  // Sets the verdict and returns kStopped.
  Gate Stop(Verdict verdict, std::string detail);
  // Sets the verdict kWrongOutput and returns kStopped. `checked` has a mismatch.
  Gate StopWrong(const CheckOutcome& checked);
  // Calls JudgeProgress with the phase that begins and the time that it may take. Call this before anything that may
  // hang.
  void Announce(const std::string& phase, const std::string& detail, double limit_seconds);
  // Adds the findings of a launch for `shape` to the evaluation. Findings of one kind and source line become one, which
  // counts its shapes. Its figures come from the first shape, or from the first timed shape if there is one.
  void AddFindings(const std::vector<Finding>& findings, const Dims& shape, CaseRole role);
  // Adds a finding that does not come from a launch.
  void AddFinding(Finding finding) { evaluation.findings.push_back(std::move(finding)); }
  // Adds a finding that casts doubt on the times. It is put before all other findings, once for each kind and shape.
  void AddDoubt(Finding finding);
  // Returns true if the next check case is to have bases aligned exactly as the task promises, and false if they are to
  // be aligned as in timed cases.
  bool NextAlignmentIsExact() { return !request.gates.both_alignments || alignment_turn_++ % 2 == 0; }
  // Returns the turn of the next input set of special values (InputSet::turn): they follow each other from a secret
  // start, so that a tensor of one row meets all kinds of values in one judgement.
  uint64_t NextSpecialTurn() { return special_turn_++; }
  // Makes the memory for one case, with the settings that the request's switches ask for.
  Result<std::unique_ptr<CaseBuffers>> MakeBuffers(const Dims& dims, const std::vector<const ResolvedPlan*>& plans,
                                                   int sets, bool exact_align);
  // Drops advice about source lines that only check cases gave. Call this after all timed cases were launched: at the
  // timed shapes such a line does well, or is not run.
  void DropUntimedAdvice();
  // Makes the checker that compares outputs with the task's oracle, or with the host reference that replaces it. Call
  // this after LoadPrograms.
  OracleChecker MakeChecker();
  // Notes a stage that held the device from `started` (SteadySeconds) until now.
  void EndStage(const char* name, double started);

 private:
  uint64_t alignment_turn_;  // number of check cases so far, counted from a secret start
  uint64_t special_turn_;    // number of input sets of special values so far, counted from a secret start

  // Announces `limit_seconds` to the watchdog before a launch, and the phase's own limit after it (`limit_seconds` 0).
  // So a process that hangs in a launch, in a host-mode function or a driver, costs no more than the launch's limit.
  void AnnounceLaunch(double limit_seconds);

  const JudgeProgress& progress_;
  std::string phase_ = "load", phase_detail_;
  double phase_limit_seconds_;
  std::map<std::pair<std::string, std::string>, std::set<Dims>> shapes_of_finding_;  // keyed by kind and location

 public:
  CountedSession session;
  const JudgeRequest& request;
  const Task& task;
  Secrets secrets;
  // Secrets that come from the system and not from the evaluation's seed, so that knowing the seed does not reveal
  // them: the contents of memory before launches, and the keys under which results are compared. A replay has other
  // ones.
  Secrets unrepeated;
  const uint64_t digest_key;
  Evaluation evaluation;
  LoadedPrograms programs;       // declared after `session`, so that they are unloaded before it ends
  std::set<size_t> tested;       // entries of the candidate's plan that some checked case takes
  std::set<size_t> unreachable;  // entries of the candidate's plan that no shape can take
  std::optional<std::string> independent_dimension;  // cached result of IndependentDimension; nullopt: not called yet
  bool candidate_ran = false;    // false: the seed served every case so far
};

}  // namespace hone
