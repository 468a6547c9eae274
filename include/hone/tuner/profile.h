// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a candidate's time goes: what was counted while its kernels ran once on a timed case, and what follows from
// it. Counted by a GPU's performance counters, or by the simulator, whose times are modelled; the same fields, the
// same rules (src/tuner/evaluate/profiling/).
//
// Plain values. The JSON form is the field `profile` of an evaluation (docs/evaluation-json.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/task.h"

namespace hone {

// One counted figure: the name used in KernelProfile::values, what NVIDIA's tools call it, its unit, what it means.
struct ProfileField {
  std::string_view name;
  std::string_view metric;  // as `ncu --metrics` and CUPTI spell it; empty: only the simulator or Hone itself knows it
  std::string_view unit;    // "%", "bytes", "us", "warps", "" for counts
  std::string_view meaning;
};
// Every field there is, in the order in which people are shown them. Stall reasons are fields that begin with
// "stall_": warps of a scheduler that wait for this reason, on average, each time an instruction is issued.
std::span<const ProfileField> ProfileFields();

// What one memory instruction of the source cost. Only where accesses are seen one by one (the simulator).
struct MemorySite {
  std::string location;        // "candidate.cu:41", or empty
  std::string space;           // global | shared
  std::string operation;       // load | store | atomic
  int bytes = 0;               // that one thread moves at a time
  double requests = 0;         // warp-wide instructions
  // Global: 32-byte sectors a request. Shared: passes over the banks a request.
  double transfers_per_request = 0;
  double ideal_transfers = 0;  // with the lanes' bytes side by side; without bank conflicts
  double share = 0;            // of the kernel's sectors, or of its passes: 0 to 1
};

// One kernel of the plan, launched once.
struct KernelProfile {
  std::string kernel;
  double duration_us = 0;
  int64_t blocks = 0;
  int64_t threads_per_block = 0;
  int64_t shared_bytes = 0;              // of a block, static and dynamic
  std::map<std::string, double> values;  // by ProfileField::name; what could not be counted is left out
  std::vector<MemorySite> sites;         // dearest first

  // The value, or `otherwise` when it was not counted.
  double Value(std::string_view field, double otherwise = 0) const;
  bool Has(std::string_view field) const;
};

struct CaseProfile {
  Dims dims;
  std::vector<KernelProfile> kernels;    // in the order of their launches
};

// What a rule says about the counts: the fault and the remedy in plain words, the figures it rests on, and what it
// may be worth.
struct ProfileFinding {
  std::string kind;          // uncoalesced, bank_conflict, low_occupancy, …
  std::string message;
  std::string evidence;
  std::string kernel;
  std::string location;      // "candidate.cu:41", or empty
  Dims dims;                 // the timed case where it weighs most
  double gain = 0;           // estimated share of the time of one launch that could go, 0 to 1; 0: for information
};

// Machine code beside the source: the instructions that the compiler made of one line.
struct SassLine {
  std::string kernel;
  std::string location;                      // "candidate.cu:41"; empty: instructions of no line
  std::string source;                        // that line, where it is one of the candidate's
  int64_t instructions = 0;                  // static: as they stand in the machine code
  std::map<std::string, int64_t> opcodes;    // "LDG.E.128" -> 2
};

struct Profile {
  std::string source;        // simulator | cupti | ncu; empty: nothing was counted
  bool modelled = false;     // the times are
  std::string note;          // one sentence: what could not be counted, why, and the remedy; empty: nothing to say
  std::vector<CaseProfile> cases;
  std::vector<ProfileFinding> findings;  // most valuable first
  std::vector<SassLine> sass;            // by kernel, then by line; empty: not asked for
};

// For people and for the analyst role: figures by case and kernel, then findings with their evidence. Lines begin with
// `indent`; empty when there is nothing to tell.
std::string DescribeProfile(const Profile& profile, std::string_view indent);

}  // namespace hone
