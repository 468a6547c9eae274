// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shows where a candidate's time goes: counts from one run of its kernels on a timed case, and conclusions from them.
// Counts come from a GPU's performance counters, or from the simulator, whose times are modelled; both fill the same
// fields, and the same rules apply (src/tuner/evaluate/profiling/).
//
// All types are plain values. The JSON form is the field `profile` of an evaluation (docs/evaluation-json.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

// A figure that is counted for a kernel: its name in KernelProfile::values and in NVIDIA's tools, unit and meaning.
struct ProfileField {
  std::string_view name;
  std::string_view metric;  // as spelled by `ncu --metrics` and CUPTI; empty: counted only by the simulator or by Hone
                            // itself
  std::string_view unit;    // "%", "bytes", "us", "warps", "" for counts
  std::string_view meaning;
};
// Returns every field, in the order in which they are shown. Stall reasons are fields that begin with "stall_": warps
// of a scheduler that wait for this reason, on average, each time an instruction is issued.
std::span<const ProfileField> ProfileFields();

// The cost of one memory instruction of the source. Only the simulator, which sees accesses one by one, reports this.
struct MemorySite {
  std::string location;        // "candidate.cu:41", or empty
  std::string space;           // global | shared
  std::string operation;       // load | store | atomic
  int bytes = 0;               // bytes that one thread moves at a time
  double requests = 0;         // warp-wide instructions
  // Global: 32-byte sectors per request. Shared: passes over the banks per request.
  double transfers_per_request = 0;
  // The value that transfers_per_request would have with adjacent lanes' bytes side by side, or without bank conflicts.
  double ideal_transfers = 0;
  double share = 0;            // this instruction's part of all sectors (global) or passes (shared) of the kernel: 0 to 1
};

// Counts of one kernel of the plan, launched once.
struct KernelProfile {
  std::string kernel;
  double duration_us = 0;
  int64_t blocks = 0;
  int64_t threads_per_block = 0;
  int64_t shared_bytes = 0;              // per block, static and dynamic
  std::map<std::string, double> values;  // keyed by ProfileField::name; figures that could not be counted are absent
  std::vector<MemorySite> sites;         // most expensive first

  // Returns the value, or `otherwise` when it was not counted.
  double Value(std::string_view field, double otherwise = 0) const;
  bool Has(std::string_view field) const;
};

// The counts of all kernels that a plan launches for one timed case.
struct CaseProfile {
  Dims dims;
  std::vector<KernelProfile> kernels;    // in the order of their launches
};

// A conclusion that a rule draws from the counts: the fault and its remedy in plain words, the figures that show it,
// and an estimate of the time to be saved.
struct ProfileFinding {
  std::string kind;          // uncoalesced, bank_conflict, low_occupancy, …
  std::string message;
  std::string evidence;
  std::string kernel;
  std::string location;      // "candidate.cu:41", or empty
  Dims dims;                 // the timed case where the fault costs most
  double gain = 0;  // estimated share of one launch's time that could be saved, 0 to 1; 0: for information only
};

// Machine code beside the source: the instructions compiled from one line.
struct SassLine {
  std::string kernel;
  std::string location;                      // "candidate.cu:41"; empty: instructions that belong to no line
  std::string source;                        // text of the line, if it is in the candidate
  int64_t instructions = 0;                  // static count in the machine code
  std::map<std::string, int64_t> opcodes;    // "LDG.E.128" -> 2
};

// What profiling one candidate gave: counts for each case, conclusions, and machine code.
struct Profile {
  std::string source;        // simulator | cupti | ncu; empty: nothing was counted
  bool modelled = false;     // true: times are modelled, not measured
  std::string note;  // one sentence: what could not be counted, why, and the remedy; empty: everything was counted
  std::vector<CaseProfile> cases;
  std::vector<ProfileFinding> findings;  // most valuable first
  std::vector<SassLine> sass;            // sorted by kernel, then by line; empty: not requested
};

// Describes the profile for people and for the analyst role: figures by case and kernel, then findings with their
// evidence. Lines begin with `indent`. Empty when there is nothing to report.
std::string DescribeProfile(const Profile& profile, std::string_view indent);

}  // namespace hone
