// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge is the part of an evaluation that needs the device: load, check, time. For a GPU it runs in a worker
// process; for the simulated GPU it runs in the evaluator's own process, and launches happen in a child. Tests run it
// over a fake device. evaluator.cc does the work before it: parsing the plan and compiling.
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
#include "tuner/core/program/compiled_program.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

// The floors (least times, in us) that were measured on this device so far. A floor depends on the bytes to move, not
// on the candidate. Key: bytes read, bytes written, buffer sets, CacheState.
using FloorCache = std::map<std::tuple<double, double, int, int>, double>;

// A GateSwitch is true where the judge does what its comment says. Tests turn gates off to show what each of them
// catches. No text, option or job can set a switch: only the code that calls Judge in this process can.
struct GateSwitches {
  bool special_values = true;     // stress inputs include Distribution::kSpecial: tiny, equal and masked rows, NaN, …
  bool stress_when_timed = true;  // stress values are tried at timed shapes too
  bool block_shares = true;       // some of the sampled blocks must write their full share of the outputs
  bool parts_when_modelled = true;  // long slices are compared in many small parts, not one or a few as a whole
  bool both_alignments = true;    // check cases alternate between the promised and the timed alignment; else promised
  bool timed_rms = true;          // outputs of timed launches must meet c_rms too
  bool rough_times = true;        // the outputs of the first timed launches are checked
  bool watch_ends = true;         // outputs must not change after the end of some timed intervals
  bool bases_of_their_own = true;  // each buffer set has inputs of its own, so that no two share a slice
  bool changing_fills =
      true;  // memory holds changing contents before a launch; else the fixed poison, and 0xa5 in workspaces
  bool apart = true;              // each tensor of each set lies alone in memory, with nothing mapped beside it
  bool read_only_inputs = true;   // inputs are mapped without the right to write
  bool mapped_neighbors = false;  // pages are mapped beside each tensor, to find out what a crashing access was
};

struct JudgeRequest {
  const Task* task = nullptr;
  const CompiledProgram* candidate = nullptr;
  const CompiledProgram* oracle = nullptr;  // null: `reference` computes expected outputs
  HostReference* reference = nullptr;       // null: `oracle` computes expected outputs
  const CompiledProgram* incumbent = nullptr;  // null: the candidate is timed alone
  bool incumbent_is_library = false;           // the incumbent is Hone's own call of a library (SampleRequest::trusted)
  const CompiledProgram* fallback = nullptr;   // the task's seed, for shapes that the plan leaves out; null: none
  EvaluationRequest options;                   // seed must be set; sources are not read here
  double launch_limit_seconds = 10;
  // Called once, behind the checks and before anything is timed. It may wait until the device is free of other work.
  std::function<void()> before_timing;
  double timing_budget_seconds = 2;          // for each timed case: timing stops at the first look after this time
  FloorCache* floors = nullptr;              // keeps measured floors between judgements; null: measured anew
  bool vast_alone = false;                   // runs CheckVastWhole and nothing else
  int64_t vast_elements = int64_t{1} << 31;  // CheckVastWhole's largest tensor has more elements; tests set fewer
  GateSwitches gates;
};

// JudgeProgress is called before anything that may hang, so that a watchdog knows how long to wait for the next call.
// It is called at the begin of each phase with the phase's limit, before each launch with the launch's limit, and after
// the launch with the phase's limit again; calls for launches repeat the phase's text.
using JudgeProgress = std::function<void(const std::string& phase, const std::string& detail, double limit_seconds)>;

// Judges the candidate. The evaluation lacks only what the evaluator adds: the stages before loading, `candidate`,
// `source_hash` and wall time. A Status means that the device or the session failed; a broken task gives the verdict
// invalid_task.
Result<Evaluation> Judge(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress);

}  // namespace hone
