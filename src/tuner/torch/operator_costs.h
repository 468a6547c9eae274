// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What each operator of a PyTorch module costs at the file's sizes: bytes and flops, which follow from the shapes, and
// times, if PyTorch was timed (operator_times.py). This file reads both from reports of Python processes and puts them into
// sentences, for people and for prompts, and into a task's profile.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/json_fields.h"
#include "hone/base/status.h"

namespace hone {

inline constexpr const char* kProfileFile = "profile.json";  // in a task's folder; only people and other programs read it

// The median of several times in microseconds, and the ends of its 95 % interval by ranks.
struct MedianTime {
  double median = 0, low = 0, high = 0;
};

// All calls of one operator in one call of forward.
struct OperatorCost {
  std::string name;   // ATen's: "addmm"
  int64_t calls = 0;  // per call of forward
  double bytes = 0;   // that the calls read and write, each by itself
  double flops = 0;   // of products and convolutions; 0 for other operators
  MedianTime time;    // of all calls together; 0 if it was not measured
};

struct OperatorCosts {
  std::vector<OperatorCost> operators;  // in the order in which forward first calls them
  double own_bytes = 0;                 // bytes of the module's inputs, weights and outputs
};

// Costs with measured times, and how they were measured.
struct OperatorProfile {
  OperatorCosts costs;
  std::string device;    // "NVIDIA H200", or "the CPU (2 threads)"
  std::string torch;     // versions of PyTorch and, on a GPU, of its libraries
  bool on_gpu = false;   // times are those of CUDA events; else of the host's clock
  bool training = true;  // the module's mode
  std::vector<std::pair<std::string, int64_t>> sizes;  // the file's sizes, by name
  int64_t warm_calls = 0, calls = 0;                   // calls of forward before the timed ones, and timed ones
  MedianTime all;       // all operators of one call of forward
  MedianTime forward;   // a call of forward as a whole, in which no operator was timed
  double timer_us = 0;  // what the clock says where nothing is timed; it was subtracted from each time
};

// Reads the field `key` of describe.py's report: {"operators": [{"name", "calls", "bytes", "flops"}], "own"}. nullopt: it is
// absent, so that costs are not known. An error is recorded in `fields`.
std::optional<OperatorCosts> ReadOperatorCosts(JsonFields& fields, std::string_view key);

// Reads operator_times.py's report, a JSON text. The module's code ran in the process that wrote it, so it may say anything.
// kUnavailable: the operators were not timed; the message is the report's own sentence. kInternal: it is no such report.
Result<OperatorProfile> ReadOperatorProfile(std::string_view report);

// Returns what a task says of costs that were computed from shapes, a sentence each. `untimed`: why no operator was timed.
std::vector<std::string> ComputedCostNotes(const OperatorCosts& costs, const std::string& untimed);
// Returns what a task says of costs that were measured, a sentence each.
std::vector<std::string> MeasuredCostNotes(const OperatorProfile& profile);

// Returns the contents of a task's profile.json (docs/torch.md lists the fields).
nlohmann::json ProfileJson(const OperatorProfile& profile);

}  // namespace hone
