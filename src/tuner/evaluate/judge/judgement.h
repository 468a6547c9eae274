// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Judgement is what all gates of one judgement share: the session, the evaluation in the making, the stream of
// secrets, the loaded programs. A gate is a function that asks one question of the candidate (check_gates.h,
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

// A Gate says how a gate left the candidate. A Status beside it (Result<Gate>) means that the device or the session
// failed.
enum class Gate {
  kPassed,   // the next gate may ask
  kStopped,  // the verdict stands in the evaluation
};

// HONE_PASS_OR_RETURN(CheckCase(...)): goes on when the gate is passed; otherwise the enclosing function, which
// returns Result<Gate> too, ends as the gate did.
#define HONE_PASS_OR_RETURN(expr)                                                     \
  do {                                                                                \
    ::hone::Result<::hone::Gate> hone_gate_ = (expr);                                 \
    if (!hone_gate_.ok() || *hone_gate_ == ::hone::Gate::kStopped) return hone_gate_; \
  } while (false)

// The secret numbers of one judgement. The same seed gives the same numbers in the same order, so that a verdict can be
// replayed: what is drawn, and when, is part of the judge's behaviour.
using Secrets = SecretNumbers;

// A program that the request does not have is null. `fallback`, the task's seed, is loaded when a case first needs it.
struct LoadedPrograms {
  std::unique_ptr<LoadedProgram> oracle, candidate, incumbent, fallback;
};

// A Judgement takes one candidate through the gates. It is used by one thread.
class Judgement {
 public:
  // Borrows all three. `progress` may be empty.
  Judgement(DeviceSession& device, const JudgeRequest& asked, const JudgeProgress& progress);
  Judgement(const Judgement&) = delete;
  Judgement& operator=(const Judgement&) = delete;

  const DeviceFacts& facts() const { return session.facts(); }

  // Sets the verdict.
  Gate Stop(Verdict verdict, std::string detail);
  // Says what comes next and how long it may take, before anything that may hang (JudgeProgress).
  void Announce(const std::string& phase, const std::string& detail, double limit_seconds);
  // Keeps the findings of a launch for `shape`. Many launches report the same line: findings of one kind and line
  // become one finding, which counts its shapes. The figures are those of the first shape; a timed shape goes before a
  // check case.
  void AddFindings(const std::vector<Finding>& findings, const Dims& shape, CaseRole role);
  // Keeps a finding that no launch showed.
  void AddFinding(Finding finding) { evaluation.findings.push_back(std::move(finding)); }
  // Keeps a finding that casts doubt on the times: it comes before all other findings, once for each kind and shape.
  void AddDoubt(Finding finding);
  // Returns whether the next check case has bases aligned as the task promises and no better; else as timed cases have
  // them.
  bool NextAlignmentIsExact() { return !request.gates.both_alignments || alignment_turn_++ % 2 == 0; }
  // Makes the memory for one case, with the settings that the request's switches ask for.
  Result<std::unique_ptr<CaseBuffers>> MakeBuffers(const Dims& dims, const std::vector<const ResolvedPlan*>& plans,
                                                   int sets, bool exact_align);
  // Drops advice that only check cases gave; call this after all timed cases were launched. At the shapes that matter
  // the line does well, or is not run.
  void DropUntimedAdvice();
  // Makes the checker that compares outputs with the task's oracle, or with the reference that replaces it. Call it
  // after LoadPrograms.
  OracleChecker MakeChecker();
  // Notes a stage that held the device from `started` (SteadySeconds) until now.
  void EndStage(const char* name, double started);

 private:
  uint64_t alignment_turn_;  // from a secret start

  // Tells the watchdog the launch's own limit while a launch is under way, and the phase's limit when it is over. A
  // process that hangs in a launch, with a host-mode function or a driver that does not answer, costs that launch's
  // limit.
  void AnnounceLaunch(double limit_seconds);

  const JudgeProgress& progress_;
  std::string phase_ = "load", phase_detail_;
  double phase_limit_seconds_;
  std::map<std::pair<std::string, std::string>, std::set<Dims>> shapes_of_finding_;  // by kind and location

 public:
  CountedSession session;
  const JudgeRequest& request;
  const Task& task;
  Secrets secrets;
  // These secrets come from the system for this judgement alone, so that knowing the evaluation's seed does not reveal
  // them: the contents of memory before launches, and the keys under which results are compared. A replayed verdict has
  // others.
  Secrets unrepeated;
  const uint64_t digest_key;
  Evaluation evaluation;
  LoadedPrograms programs;       // after `session`, so that they are unloaded before it ends
  std::set<size_t> tested;       // entries of the candidate's plan that some checked case takes
  std::set<size_t> unreachable;  // those that no shape can take
  std::optional<std::string> independent_dimension;  // IndependentDimension's answer, when it has been asked
  bool candidate_ran = false;    // false: the seed served every case so far
};

}  // namespace hone
