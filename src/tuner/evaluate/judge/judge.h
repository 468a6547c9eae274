// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge is the part of an evaluation that needs the device: load, check, time. It runs inside the worker process
// for a GPU, in the evaluator's own process for the simulator (whose launches happen in a child), and over a fake in
// tests. evaluator.cc does the work before it: plan and compile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/core/compiled_program.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

// The cache holds the floors measured on this device so far: they depend on the bytes alone, not on the candidate.
using FloorCache = std::map<std::tuple<double, double, int, int>, double>;

// These switches turn gates off in tests, to show what each of them catches. No text, option or job can set them: only
// the code that calls Judge in this process can.
struct GateSwitches {
  bool special_values = true;     // rows of special kinds among the stress values
  bool stress_when_timed = true;  // stress values at timed shapes
  bool block_shares = true;         // sampled blocks must write their share of the outputs, some of them at least
  bool parts_when_modelled = true;  // long slices are compared in many small parts, not one or a few as a whole
  bool both_alignments = true;  // check cases use bases aligned as promised and as timed ones in turn; else as promised
  bool timed_rms = true;          // c_rms holds in timed launches too
  bool rough_times = true;        // the outputs of the first timed launches are checked
  bool watch_ends = true;         // outputs are looked at right behind the end of some timed intervals
  bool bases_of_their_own = true; // buffer sets share no slice
  bool changing_fills =
      true;  // memory holds changing contents before a launch; else the fixed poison, and 0xa5 in workspaces
  bool apart = true;              // each tensor of each set in memory of its own, with nothing mapped beside it
  bool read_only_inputs = true;   // inputs are mapped without the right to write
  bool mapped_neighbors = false;  // pages are mapped beside each tensor, to find out what a crashing access was
};

struct JudgeRequest {
  const Task* task = nullptr;
  const CompiledProgram* candidate = nullptr;
  const CompiledProgram* oracle = nullptr;  // null: `reference` computes expected outputs
  HostReference* reference = nullptr;
  const CompiledProgram* incumbent = nullptr;  // null: nothing to compare with
  bool incumbent_is_library = false;           // its host code is Hone's own call of a library: SampleRequest::trusted
  const CompiledProgram* fallback = nullptr;   // the task's seed: runs where no alternative of a step holds; null: none
  EvaluationRequest options;                   // seed must be set; sources are not read here
  double launch_limit_seconds = 10;
  double timing_budget_seconds = 2;  // per timed case: no look at its times begins after that
  FloorCache* floors = nullptr;      // optional
  bool vast_alone = false;           // nothing but CheckVastWhole
  int64_t vast_elements = int64_t{1} << 31;  // what such a shape exceeds; tests set less
  GateSwitches gates;
};

// JudgeProgress is called before anything that may hang, so that a watchdog knows how long to wait for the next call:
// at each phase, and around each launch with that launch's own limit (the phase's text is then the same).
using JudgeProgress = std::function<void(const std::string& phase, const std::string& detail, double limit_seconds)>;

// Fills everything but the stages before loading, `candidate`, `source_hash` and wall time. A Status means
// that the device or the session failed; a broken task comes back as the verdict invalid_task.
Result<Evaluation> Judge(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress);

}  // namespace hone
