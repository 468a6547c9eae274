// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file writes the command line of NVIDIA's compute-sanitizer and reads its log. Its functions are pure.
//
// The log comes from a stranger: it holds names of kernels that a candidate chose. A candidate can add lines only behind
// the first line of a fault, so it cannot hide one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

enum class SanitizerTool {
  kMemcheck,   // accesses outside of allocations, and misaligned ones
  kInitcheck,  // reads of memory that nothing has written
  kRacecheck,  // races in shared memory
};
inline constexpr SanitizerTool kSanitizerTools[] = {SanitizerTool::kMemcheck, SanitizerTool::kInitcheck, SanitizerTool::kRacecheck};
std::string_view SanitizerToolName(SanitizerTool tool);  // "memcheck", …
// Returns what the tool looks for, for a sentence: "accesses outside of a tensor", …
std::string_view SanitizerToolSubject(SanitizerTool tool);

// Says what a version of compute-sanitizer can do.
struct SanitizerFeatures {
  bool shared_initcheck = false;  // initcheck watches shared memory too (CUDA 13.1 and newer)
};
// Returns the features that the text of `compute-sanitizer --help` shows.
SanitizerFeatures ReadSanitizerFeatures(std::string_view help);

// Returns whether the tool's command depends on the features.
bool DependsOnFeatures(SanitizerTool tool);

// Returns `program` and its arguments, to be put before the command of the process that it watches. The log goes to
// `log_file`, and so does not mix with what the process prints.
std::vector<std::string> SanitizerCommand(const std::string& program, SanitizerTool tool, const SanitizerFeatures& features,
                                          const std::string& log_file);

// One fault that the log reports.
struct SanitizerFault {
  std::string kind;    // kind of the finding: out_of_bounds, misaligned, uninitialised_read, shared_race
  std::string kernel;  // symbol; empty if the log names none
  std::string thread;  // "thread (0,0,0) in block (1,0,0)"; empty if the log names none
  bool shared = false;  // false: global or local memory
  bool writes = false;
  int64_t bytes = 0;                // size of the access
  std::optional<uint64_t> address;  // of global memory, or the offset in shared memory
  bool certain = true;  // false: a race that the tool calls a warning
  std::string words;    // the first line of the fault, in the tool's words
};

struct SanitizerLog {
  std::vector<SanitizerFault> faults;
  bool finished = false;  // the log has its last line, the summary
  int64_t errors = 0;     // number of errors and warnings in the summary; faults beyond the print limit count too
  std::string trouble;    // the first error of compute-sanitizer itself; empty if there is none
};

// Reads a log, or the first part of one. Never fails: what is not understood is left out.
SanitizerLog ReadSanitizerLog(std::string_view text);

}  // namespace hone
